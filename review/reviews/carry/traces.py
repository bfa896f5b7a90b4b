"""What carry-over compares and what it finds, as values (contract 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class CarriedFrom:
    """What a file made by carry-over says of its source; `at` with milliseconds."""

    sha: str
    by: str
    at: str
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Trace:
    """What is known of one commit for matching it; of a pruned one only its file's fingerprint.

    `lines` counts its changed lines by hash (None = unknown). `place` is (stack n, position).
    `branch_target`: where the branch of its PR record points now. `carried`: `carried_from` of
    its own review file, `written` when that file was last written ("" = no file).
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


@dataclass(frozen=True, slots=True)
class Match:
    """A commit of the range stands for the gone commit `sha`, found by rung `by`.

    `also`: further gone commits whose reviews are joined (squashed ones, older versions).
    `before`: gone commits whose reviews were taken over already, by the commit's own file or by
    that of `sha`, newest first; what else they have (PR record, stack place) follows.
    `since`: only with `lineage`, when the commit's own file was taken over.
    """

    sha: str
    by: str
    also: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    since: str = ""

    @property
    def shas(self) -> tuple[str, ...]:
        """Every gone commit the commit stands for, best first."""
        return (self.sha, *self.also, *self.before)


@dataclass(frozen=True, slots=True)
class Matches:
    """The ladder's result: match by sha of the range; sources that match nothing; warnings."""

    by_commit: Mapping[str, Match] = field(default_factory=dict)
    orphans: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def by_source(self) -> dict[str, str]:
        """The commit of the range that stands for each gone one."""
        return {sha: commit for commit, match in self.by_commit.items() for sha in match.shas}
