"""The review that is shown on a commit: its own file, and those of the commits it stands for.

Reads only. `as_document` returns the document of the first write, with which the commit's file
takes over what is shown; the files it came from are left as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from config.git.command import GitError
from review import files
from review.files import times
from review.git.commits import shown_path
from review.git.log import history
from review.threads import document, joining, reading
from review.threads.carry import lineage
from review.threads.carry.traces import CarriedFrom, Match, Part
from review.threads.document import Tree
from review.threads.schema import ReviewFile
from review.threads.target import Target


@dataclass(frozen=True, slots=True)
class CommitReview:
    """`file` is the file that was read, `target_file` the one that a write changes. `also`: gone
    commits whose reviews are joined in addition to that of `matched_from`; `parts`: files that
    speak for some of the threads. With a `parse_error`, the last good values are shown, and nothing
    may be written."""

    review: ReviewFile
    file: Path | None
    target_file: Path
    matched_from: str | None = None
    matched_by: str | None = None
    carried_over: bool = False
    parse_error: str | None = None
    warnings: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    parts: tuple[Read, ...] = ()


@dataclass(frozen=True, slots=True)
class Read:
    """One existing review file."""

    sha: str
    path: Path
    review: ReviewFile
    error: str | None


def of(target: Target, own: ReviewFile | None = None) -> CommitReview:
    """The whole review of a commit. `own` replaces the content of its own file."""
    mine = _read(target, target.stem)
    said = own if own is not None else (mine.review if mine else None)
    match = target.match
    sources = _sources(target, said, match)
    review, spoken = _apply_shares(target, _join(said, sources, match))
    parts = list(spoken.values())
    # If a commit has no file of its own, another file may have the threads.
    held = [
        sha
        for sha, file in spoken.items()
        if match and sha in (match.sha, *match.also) and sha != file.sha
    ]
    carried = said.carried_from if said else None
    if match and (sources or held):
        matched: tuple[str | None, str | None] = (match.sha, match.by)
    elif parts:
        matched = (parts[0].sha, "lineage")
    elif carried:
        matched = (carried.sha, carried.by)
    else:
        matched = (match.sha, match.by) if match and said is None else (None, None)
    file = mine.path if mine else next((one.path for one in [*sources, *parts]), None)
    target_file = files.path(*target.parts)
    return CommitReview(
        review=review,
        file=file,
        target_file=target_file,
        matched_from=matched[0],
        matched_by=matched[1],
        carried_over=bool(sources or parts) or (file is not None and file != target_file),
        parse_error=_error(mine, [*sources, *parts]),
        warnings=review.warnings,
        also=tuple(
            sha
            for sha in dict.fromkeys((*(one.sha for one in sources), *held))
            if match and sha != match.sha
        ),
        parts=tuple(parts),
    )


def past(target: Target, shown: CommitReview) -> list[str]:
    """The commits that the shown review was written on, the youngest first: this one, those whose
    reviews it shows, and those whose reviews these had taken over."""
    said = shown.review.carried_from
    todo = [shown.matched_from, *shown.also, *((said.sha, *said.also) if said else ())]
    found = {target.commit.sha: None}
    while todo:
        sha = todo.pop(0)
        if sha is None or sha in found:
            continue
        found[sha] = None
        read = _read(target, sha)
        carried = read.review.carried_from if read else None
        todo += (carried.sha, *carried.also) if carried else ()
    return list(found)


def versions(target: Target, shown: CommitReview) -> list[str]:
    """The shas that the commit had while it was reviewed, the youngest first; without commits that
    were folded into it."""
    found = dict.fromkeys((target.shown_commit.sha, target.commit.sha))
    sha = shown.matched_from
    while sha is not None and sha not in found:
        found[sha] = None
        said = file_of(target, sha)
        sha = said.carried_from.sha if said and said.carried_from else None
    firm = target.match.firm if target.match else ()
    return list(found | dict.fromkeys(firm))


def file_of(target: Target, sha: str) -> ReviewFile | None:
    """The content of the file of a commit, this or a gone one; None without a file."""
    found = _read(target, sha)
    return found.review if found else None


def as_document(target: Target, shown: CommitReview) -> Tree:
    """The whole document that takes over what is shown, as plain values in the file's order.

    Raises Conflict if a file it takes over cannot be read as a whole: the rest would be lost.
    """
    for source in _taken_over(target, shown):
        name = f"reviews/{target.repo}/{source.path.name}"
        files.check_whole(name, source.error, source.review.version)
    review = replace(shown.review, carried_from=_next_carried_from(target, shown))
    return document.review(review, document.fingerprint(target))


def _sources(target: Target, own: ReviewFile | None, match: Match | None) -> list[Read]:
    """The files of the gone commits that no file has taken over, the matched one first."""
    read = [_read(target, sha) for sha in (match.sha, *match.also)] if match else []
    return [one for one in read if one is not None and not _is_taken(one, own)]


def _is_taken(source: Read, own: ReviewFile | None) -> bool:
    carried = own.carried_from if own else None
    if carried is None or source.sha not in (carried.sha, *carried.also):
        return False
    return lineage.age_of(carried) > lineage.age_of(source.review.carried_from)


def _join(own: ReviewFile | None, sources: Sequence[Read], match: Match | None) -> ReviewFile:
    if match is None or not sources:
        return own or ReviewFile()
    main = [one.review for one in sources if one.sha == match.sha]
    also = [joining.absorb(one.review, one.sha) for one in sources if one.sha != match.sha]
    if own is not None and main and match.since:
        return joining.join(joining.stood_for(own, main[0], match.since), also)
    first, *others = [*([own] if own is not None else []), *main, *also]
    review = joining.join(first, others)
    return review if own is not None else replace(review, carried_from=None)


def _apply_shares(target: Target, review: ReviewFile) -> tuple[ReviewFile, dict[str, Read]]:
    """The review without threads that are shown elsewhere, and with the current state of those that
    other files speak for. Also these files, by the commit on which the threads began."""
    spoke = {}
    for part in target.shares.parts:
        holder, origin = _read(target, part.file), _read(target, part.origin)
        if holder is None or _spoken(review, holder, part):
            continue
        began = joining.began_in(origin.review if origin else None, part.origin)
        left_out = (one for one in map(partial(_read, target), part.without) if one is not None)
        began = joining.but_for(began, [joining.began_in(one.review, one.sha) for one in left_out])
        theirs = holder.review
        if part.file == part.origin:
            theirs = joining.absorb(theirs, part.origin)
        else:
            home = part.origin if target.commit.sha == part.origin else ""
            theirs = joining.only(theirs, began, home=home)
        review = joining.part_stood_for(review, began, theirs, part.since)
        spoke[part.origin] = holder
    for sha in sorted(target.shares.elsewhere):
        review = _without(target, review, sha)
    return review, spoke


def _without(target: Target, review: ReviewFile, sha: str) -> ReviewFile:
    """The review without the threads that began on `sha`, unless an older file that stands for this
    commit has them too."""
    there = _read(target, sha)
    shas = [target.commit.sha, *(target.match.shas if target.match else ())]
    mine = [one for one in map(partial(_read, target), shas) if one is not None]
    older = [one.review for one in mine if there and _own_age(one) < _own_age(there)]
    began = joining.began_in(there.review if there else None, sha, but=older)
    return joining.without(review, began)


def _spoken(review: ReviewFile, holder: Read, part: Part) -> bool:
    """Whether the file took the holder's threads over later than the holder got them."""
    carried = review.carried_from
    taken = carried is not None and holder.sha in (carried.sha, *carried.also)
    return taken and lineage.age_of(carried) > max(part.since, _own_age(holder))


def _own_age(holder: Read) -> str:
    return lineage.age_of(holder.review.carried_from)


def _next_carried_from(target: Target, shown: CommitReview) -> CarriedFrom | None:
    """The `carried_from` that the target's file gets when it is written."""
    made = _came_from(target, shown)
    if made is None or made is shown.review.carried_from:
        return made
    return replace(made, without=tuple(sorted(target.shares.elsewhere)))


def _came_from(target: Target, shown: CommitReview) -> CarriedFrom | None:
    before = shown.review.carried_from
    match, parts = _taken_match(target, shown), [one.sha for one in shown.parts]
    if match is None and not parts:
        return before
    if match is None:
        first, by, others = parts[0], "lineage", parts
    elif before and match.sha in parts:  # a joined one comes back: the main source stays
        first, by, others = before.sha, before.by, parts
    else:
        first, by, others = match.sha, match.by, [*shown.also]
    older = (before.sha, *before.also) if before else ()
    also = dict.fromkeys(sha for sha in (*others, *older) if sha != first)
    ages = [one.review.carried_from for one in _taken_over(target, shown)]
    return CarriedFrom(first, by, _now_after([*ages, before]), tuple(also))


def _taken_match(target: Target, shown: CommitReview) -> Match | None:
    """The match whose review a write takes over; None without one, or if there is only lineage."""
    match = target.match
    return match if match and shown.carried_over and shown.matched_from == match.sha else None


def _taken_over(target: Target, shown: CommitReview) -> list[Read]:
    """The other commits' files that make up what is shown."""
    match = _taken_match(target, shown)
    read = [_read(target, sha) for sha in (match.sha, *shown.also)] if match else []
    return [*(one for one in read if one is not None), *shown.parts]


def _now_after(carried: Sequence[CarriedFrom | None]) -> str:
    """The time now, or just after the youngest of these if the clock went back, to keep order."""
    youngest = max((times.exact(one.at) for one in carried if one), default="")
    now = times.now_exact()
    if now > youngest:
        return now
    later = datetime.fromisoformat(youngest) + timedelta(milliseconds=1)
    return times.of(later)


def _read(target: Target, sha: str) -> Read | None:
    where = (target.slug, "reviews", target.repo)
    found = files.read(*where, f"{sha}.yaml")
    if found is None and (name := files.name_of(target.slug, "reviews", target.repo, sha)):
        found = files.read(*where, f"{name}.yaml")
    if found is None:
        return None
    review = parse(target, found.data, "" if found.error else found.etag, sha)
    return Read(sha, found.path, review, found.error or None)


def parse(target: Target, texts: Any, etag: str, sha: str) -> ReviewFile:
    """The content of the file of commit `sha`. Missing sides are set by what the commit deletes."""
    review = reading.parse_once(texts, etag, sha, deleted_paths=None)
    if review.lacks_a_side:
        return reading.parse_once(texts, etag, sha, deleted_paths=_deleted_paths(target, sha))
    return review


def _deleted_paths(target: Target, sha: str) -> set[str]:
    """The files that a commit deletes; empty if the commit is gone."""
    try:
        same = sha == target.stem
        commit = target.own if same else history.commit(target.repository, sha)
    except GitError:
        return set()
    return {shown_path(file.path) for file in commit.files if file.new_oid is None}


def _error(own: Read | None, sources: Sequence[Read]) -> str | None:
    """The error of the own file, else that of another file, with its name."""
    if own is not None and own.error:
        return own.error
    return next((f"{one.path.name}: {one.error}" for one in sources if one.error), None)
