"""The review state on disk of one repo's commits, by full sha.

An old sha is one that has a review file, a PR file or an entry in a stack list and is not in
the range. Its review, PR record and stack place follow it to the commit that stands for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from config.storage.mirror import Mirrored
from review import files
from review.files import times
from review.stacks.prs import pr_files
from review.stacks.prs.pr_files import PrFile
from review.threads import drafts, reading
from review.threads.carry.carryover import FIRM, CarriedFrom, Match
from review.threads.carry.lineage import age_of
from review.threads.schema import Fingerprint, ReviewFile


@dataclass(frozen=True, slots=True)
class ReviewState:
    """The files of one sha, whose names may be short. `file` is its review file, else its PR file;
    `written` is when the review file was last written, with milliseconds, "" without one.
    """

    sha: str
    review: ReviewFile | None = None
    pr: PrFile | None = None
    pr_name: str | None = None
    file: Path | None = None
    written: str = ""

    @property
    def fingerprint(self) -> Fingerprint | None:
        reviewed = self.review.commit if self.review else None
        return reviewed or (self.pr.commit if self.pr else None)


@dataclass(frozen=True, slots=True)
class Proposal:
    """The PR record of commit `sha`, which may have become this one, but not so certainly that its
    number, branch and title move without a person."""

    sha: str
    by: str
    pr: PrFile


@dataclass(frozen=True, slots=True)
class ReviewStates:
    """All states by sha. `heirs`: by sha, the commits whose PR record was made from its record,
    later than that record itself, and not by mere likeness. `drafts`: the shas of unsent drafts.
    `passed_over`: review files beside one with a longer name of the same commit.
    """

    by_sha: Mapping[str, ReviewState] = field(default_factory=dict)
    heirs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    drafts: frozenset[str] = frozenset()
    passed_over: tuple[ReviewState, ...] = ()

    def get(self, sha: str) -> ReviewState:
        return self.by_sha.get(sha) or ReviewState(sha)

    def drafted_shas(self, sha: str) -> tuple[str, ...]:
        """This sha and those that its review was made from, as far as they have drafts."""
        known = dict.fromkeys([sha])
        todo = [sha]
        while todo:
            review = self.get(todo.pop()).review
            said = review.carried_from if review else None
            new = [one for one in (said.sha, *said.also) if one not in known] if said else []
            known |= dict.fromkeys(new)
            todo += new
        return tuple(one for one in known if one in self.drafts)

    def carried_from(self, sha: str) -> CarriedFrom | None:
        """The source of its review file, else of its PR record, unless that source has a review."""
        state = self.get(sha)
        if state.review and state.review.carried_from:
            return state.review.carried_from
        said = state.pr.carried_from if state.pr else None
        reviewed = said and any(self.get(one).review for one in (said.sha, *said.also))
        return None if reviewed else said

    def record(
        self, sha: str, match: Match | None, listed: Collection[str]
    ) -> tuple[PrFile, str | None]:
        """The PR record shown on a commit, and the sha whose file holds it (for the commit's own
        record, as in the file's name).

        It is the commit's own, unless a commit that is gone again took that over (the user went
        back): then that commit's. If the commit has no record of its own, it is that of the nearest
        gone commit that it stands for, if it certainly is that commit.
        """
        state = self.get(sha)
        left = self._free(self.heirs.get(sha, ()), listed)
        found = left or (None if state.pr else self._free(match.firm if match else (), listed))
        if found is not None:
            return found
        return state.pr or PrFile(), state.pr_name

    def proposal(self, match: Match | None, listed: Collection[str]) -> Proposal | None:
        """The record of a gone commit that may have become this one, without certainty."""
        weak = [sha for sha in match.shas if sha not in match.firm] if match else ()
        found = self._free(weak, listed)
        if match is None or found is None:
            return None
        pr, sha = found
        return Proposal(sha, match.by if sha == match.sha else "similar", pr)

    def _free(self, shas: Iterable[str], listed: Collection[str]) -> tuple[PrFile, str] | None:
        """The first record that belongs to a gone commit and that no other was made from."""
        for sha in shas:
            record = self.get(sha).pr
            if record is not None and sha not in listed and not self.heirs.get(sha):
                return record, sha
        return None


def read(slug: str, repo: str, full: Mapping[str, str]) -> ReviewStates:
    """Every state on disk. `full` maps a file's name to the sha it stands for; any other name
    stands for itself. A file with a full name wins over one with a short name.
    """
    reviews: dict[str, tuple[ReviewFile, Mirrored]] = {}
    passed_over: list[ReviewState] = []
    for sha, found in _files(slug, "reviews", repo, full):
        if sha in reviews:
            shorter, before = reviews[sha]
            passed_over.append(ReviewState(sha, shorter, file=before.path))
        reviews[sha] = (_review(found, sha), found)
    records = {
        sha: (record, found)
        for sha, found in _files(slug, "prs", repo, full)
        if (record := pr_files.read(slug, repo, found.path.stem)) is not None
    }
    by_sha: dict[str, ReviewState] = {}
    for sha in reviews.keys() | records.keys():
        review, reviewed = reviews.get(sha, (None, None))
        record, recorded = records.get(sha, (None, None))
        file = reviewed or recorded
        by_sha[sha] = ReviewState(
            sha,
            review,
            record,
            pr_name=recorded.path.stem if recorded else None,
            file=file.path if file else None,
            written=_time(reviewed) if reviewed else "",
        )
    heirs = _heirs({sha: record for sha, (record, _) in records.items()})
    return ReviewStates(by_sha, heirs, drafts.shas(slug, repo), tuple(passed_over))


def unseen(known: ReviewStates, listed: Collection[str]) -> list[str]:
    """A warning for each review file with comments that only this file has and that no commit
    shows, because another file speaks for its commit. Such comments are written by hand into a file
    with a short name, or into one that a commit of the range has taken over."""
    unread = [*_passed_over(known), *_written_late(known, listed)]
    if not unread:
        return []
    count = Counter(name for state in known.by_sha.values() for name in _comment_ids(state))
    told = []
    for state, other in unread:
        own = 1 if known.get(state.sha) is state else 0
        lost = sum(count[name] == own for name in _comment_ids(state))
        if lost and state.file and other.file:
            what = "1 comment that is" if lost == 1 else f"{lost} comments that are"
            told.append(
                f"{state.file.name} has {what} shown nowhere, because {other.file.name} is read "
                "in its place; write it there"
            )
    return told


def _passed_over(known: ReviewStates) -> Iterator[tuple[ReviewState, ReviewState]]:
    """Yield each file that is passed over, and the one that is read."""
    for state in known.passed_over:
        yield state, known.get(state.sha)


def _written_late(
    known: ReviewStates, listed: Collection[str]
) -> Iterator[tuple[ReviewState, ReviewState]]:
    """Yield each file of a gone commit that was written after another file took it over, and that
    file."""
    for heir in known.by_sha.values():
        said = heir.review.carried_from if heir.review else None
        for state in map(known.get, (said.sha, *said.also) if said else ()):
            before = state.review.carried_from if state.review else None
            if state.sha not in listed and age_of(before) < age_of(said) < state.written:
                yield state, heir


def _comment_ids(state: ReviewState) -> set[str]:
    threads = state.review.conversations if state.review else ()
    return {comment.id for thread in threads for comment in thread.comments}


def stems(slug: str, repo: str) -> set[str]:
    """The names of all files, short ones too."""
    return {*files.names(slug, "reviews", repo), *files.names(slug, "prs", repo)}


def _files(
    slug: str, kind: files.Kind, repo: str, full: Mapping[str, str]
) -> Iterator[tuple[str, Mirrored]]:
    """Yield each file with its sha, short names first, so that a full name replaces them."""
    for found in sorted(files.read_all(slug, kind, repo), key=lambda found: len(found.key)):
        yield full.get(found.path.stem, found.path.stem), found


def _review(found: Mirrored, sha: str) -> ReviewFile:
    return reading.parse_once(found.data, "" if found.error else found.etag, sha)


def _time(found: Mirrored) -> str:
    """When the file was last written: RFC 3339 in UTC with milliseconds."""
    return times.of(datetime.fromtimestamp(int(found.stat.split(":", 1)[0]) / 1e9, UTC))


def _certain(record: PrFile) -> bool:
    """Whether it was made from the record of certainly the same commit, or by hand."""
    return record.carried_from is not None and record.carried_from.by in ("", *FIRM)


def _heirs(records: Mapping[str, PrFile]) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[tuple[str, str]]] = {}
    for heir, record in records.items():
        said = record.carried_from if _certain(record) else None
        for source in (said.sha, *said.also) if said else ():
            own = records[source].carried_from if source in records else None
            if said and source != heir and said.at > (own.at if own else ""):
                found.setdefault(source, []).append((said.at, heir))
    return {
        source: tuple(heir for _, heir in sorted(heirs, reverse=True))
        for source, heirs in found.items()
    }
