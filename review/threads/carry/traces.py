"""The values that carry-over compares, and those it finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CarriedFrom:
    """What a file made by carry-over says of its source; `at` with milliseconds. `without`: commits
    whose threads the source had and this file does not, because they were shown elsewhere."""

    sha: str
    by: str
    at: str
    also: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


# The rungs that recognise the change itself: no weaker rung undoes them, they undo all others.
CERTAIN = ("change-id", "patch-id", "patch-id-u0")
PERSON = "person"  # a person said so
# The rungs on which a PR record follows without asking.
FIRM = ("lineage", *CERTAIN, "author-date", PERSON)


@dataclass(frozen=True, slots=True)
class Trace:
    """What is known of one commit to match it; of a pruned one only its file's fingerprint.

    `lines` counts its changed lines by the hashes `<path>:<line>` (None = unknown). `place` is
    (stack n, position). `branch_target`: where the branch of its PR record points now. `carried`:
    `carried_from` of its own review file, `written` when that file was last written ("" = no file).

    `used`: a branch or worktree still leads there, so it is gone from this range only. `known`: it
    is known which commits it stood on; `watched`: and which stood on it. `bystander`: nothing is
    recorded of it, but it stood beside a commit that is gone; it is a source only so that no other
    source takes what it became.
    """

    sha: str
    subject: str = ""
    author: str = ""  # e-mail
    authored: str = ""
    change_id: str | None = None
    patch_id: str | None = None
    patch_id_u0: str | None = None
    lines: Mapping[str, int] | None = None
    place: tuple[int, int] | None = None
    branch_target: str | None = None
    carried: CarriedFrom | None = None
    written: str = ""
    used: bool = False
    known: bool = True
    watched: bool = True
    bystander: bool = False

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(key.partition(":")[0] for key in self.lines or ())


@dataclass(frozen=True, slots=True)
class Match:
    """A commit of the range stands for the gone commit `sha`, found by rung `by`.

    `also`: further gone commits whose reviews are joined (squashed ones, older versions).
    `before`: gone commits whose reviews were taken over already, by the commit's own file or by
    that of `sha`, newest first; what else they have (PR record, stack place) follows.
    `since`: only with `lineage`, when the commit's own file was taken over.
    `firm`: which of all these are certainly the commit itself: their PR record follows; that of the
    others is only proposed.
    """

    sha: str
    by: str
    also: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    since: str = ""
    firm: tuple[str, ...] = ()

    @property
    def shas(self) -> tuple[str, ...]:
        """Every gone commit the commit stands for, best first."""
        return (self.sha, *self.also, *self.before)


@dataclass(frozen=True, slots=True)
class Part:
    """The threads that began on commit `origin`, as the review of commit `file` has them since it
    took them over at `since`; without those of the commits `without`, which it left out because
    they were shown elsewhere then."""

    file: str
    origin: str
    since: str
    without: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shares:
    """What a commit's review gets from other files, and what of it is shown elsewhere.

    `parts`: threads that another file speaks for. `elsewhere`: commits whose threads are shown on
    another commit, so not here, wherever they were copied.
    """

    parts: tuple[Part, ...] = ()
    elsewhere: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A commit that a gone one may have become, and the rung that suggests it."""

    sha: str
    by: str


@dataclass(frozen=True, slots=True)
class Matches:
    """The result of the ladder: match by sha of the range; sources without a match, with what they
    may have become; warnings; what commits of the range share with each other's files."""

    by_commit: Mapping[str, Match] = field(default_factory=dict)
    orphans: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    candidates: Mapping[str, tuple[Candidate, ...]] = field(default_factory=dict)
    shares: Mapping[str, Shares] = field(default_factory=dict)

    @property
    def by_source(self) -> dict[str, str]:
        """The commit of the range that stands for each gone one."""
        return {sha: commit for commit, match in self.by_commit.items() for sha in match.shas}
