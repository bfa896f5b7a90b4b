"""Several review files as the one review of a commit. Pure.

Nothing a person wrote is lost: threads and comments are joined by id, the first file's fields win,
and an id that two files gave to different texts counts twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from review.files import times
from review.threads import judged
from review.threads.ids import Namer
from review.threads.schema import Comment, ReviewFile, Thread

T = TypeVar("T", Thread, Comment)


def join(first: ReviewFile, others: Iterable[ReviewFile]) -> ReviewFile:
    """The content of all files; where they differ, the earlier file wins."""
    made = first
    for other in others:
        marks = {mark.path: mark for mark in (*other.viewed, *made.viewed)}
        made = replace(
            made,
            viewed=tuple(marks.values()),
            threads=_merge(made.threads, other.threads, _same_thread, _both),
            verdicts=judged.join(made.verdicts, other.verdicts),
            warnings=(*made.warnings, *other.warnings),
            extra={**other.extra, **made.extra},
        )
    return made


def stood_for(own: ReviewFile, source: ReviewFile, since: str) -> ReviewFile:
    """The review of a commit that was reset back to. `source` took its file over at `since` and
    stands for it, so what was deleted there stays deleted; of the own file only what is younger is
    kept."""
    marks = {mark.path: mark for mark in source.viewed}
    marks |= {mark.path: mark for mark in own.viewed if mark.at and _younger(mark.at, since)}
    younger = _since(own, {thread.id: thread for thread in source.threads}, since)
    return replace(
        source,
        carried_from=own.carried_from,
        viewed=tuple(marks.values()),
        threads=_merge(source.threads, younger, _same_thread, _both),
        verdicts=judged.join(source.verdicts, _verdicts_since(own, since)),
        warnings=(*own.warnings, *source.warnings),
        extra={**own.extra, **source.extra},
    )


def absorb(source: ReviewFile, sha: str) -> ReviewFile:
    """The review of a commit that was squashed into another one: its threads name it as their
    origin. Its verdicts do not count for the other commit."""
    threads = tuple(replace(one, from_sha=one.from_sha or sha) for one in source.threads)
    return replace(source, threads=threads, verdicts=())


Began = Callable[[Thread], bool]


def began_in(source: ReviewFile | None, sha: str, *, but: Iterable[ReviewFile] = ()) -> Began:
    """Return a function that says whether a thread began on commit `sha`, whose own file is
    `source`, and not in one of the older files `but`."""
    said, before = _all_words([source] if source else []), _all_words(but)

    def began(thread: Thread) -> bool:
        words = {_words(one) for one in thread.comments}
        return thread.from_sha == sha or bool(words & said and not words & before)

    return began


def but_for(began: Began, others: Sequence[Began]) -> Began:
    """Return a function that says whether a thread began there, and on none of the others."""
    return lambda thread: began(thread) and not any(one(thread) for one in others)


def _all_words(files: Iterable[ReviewFile]) -> set[tuple[str, str | None, str]]:
    return {_words(one) for file in files for thread in file.threads for one in thread.comments}


def only(review: ReviewFile, began: Began, *, home: str = "") -> ReviewFile:
    """Only the threads that began there. A thread from `home` loses its `from_sha`."""
    threads = (one for one in review.threads if began(one))
    kept = (replace(one, from_sha=None) if one.from_sha == home else one for one in threads)
    return ReviewFile(threads=tuple(kept), warnings=review.warnings)


def without(review: ReviewFile, began: Began) -> ReviewFile:
    threads = tuple(one for one in review.threads if not began(one))
    return review if len(threads) == len(review.threads) else replace(review, threads=threads)


def part_stood_for(review: ReviewFile, began: Began, source: ReviewFile, since: str) -> ReviewFile:
    """As `stood_for`, for those threads that began on one commit."""
    own = replace(review, threads=tuple(one for one in review.threads if began(one)))
    mine = replace(source, extra={}, viewed=review.viewed, verdicts=review.verdicts)
    part = stood_for(own, mine, since)
    rest = without(review, began)
    return replace(rest, threads=(*rest.threads, *part.threads))


def _words(comment: Comment) -> tuple[str, str | None, str]:
    """What identifies a comment. The body counts only without a time, as an edit changes it."""
    return comment.id, comment.author, comment.created_at or comment.body


def _since(own: ReviewFile, known: dict[str, Thread], since: str) -> list[Thread]:
    """The own threads younger than `since`; of known threads, the known and younger comments."""
    kept = []
    for thread in own.threads:
        opened = thread.created_at or (thread.comments[0].created_at if thread.comments else None)
        if thread.id in known:
            there = {one.id for one in known[thread.id].comments}
            comments = [
                c for c in thread.comments if c.id in there or _younger(c.created_at, since)
            ]
            kept.append(replace(thread, comments=tuple(comments)))
        elif _younger(opened, since):
            kept.append(thread)
    return kept


def _verdicts_since(own: ReviewFile, since: str) -> list[judged.Verdict]:
    return [one for one in own.verdicts if _younger(one.at, since)]


def _younger(at: str | None, since: str) -> bool:
    """Whether it was written after `since`. Without a time it may have been, so it is kept."""
    if at is None:
        return True
    if "." in at:
        return times.exact(at) > since
    return (times.seconds(at) or "") >= (times.seconds(since) or "")


def _merge(
    first: Sequence[T],
    second: Sequence[T],
    same: Callable[[T, T], bool],
    both: Callable[[T, T], T],
) -> tuple[T, ...]:
    """`first`, with what only `second` has."""
    found: dict[str, T] = {one.id: one for one in first}
    names = Namer()
    for name in {*found, *(one.id for one in second)}:
        names.claim(name)
    for one in second:
        known = found.get(one.id)
        if known is None:
            found[one.id] = one
        elif same(known, one):
            found[one.id] = both(known, one)
        else:
            renamed = replace(one, id=names.claim(one.id))
            found[renamed.id] = renamed
    return tuple(found.values())


def _both(first: Thread, second: Thread) -> Thread:
    """Both threads as one conversation, ordered by time if every comment has one."""
    comments = _merge(first.comments, second.comments, _same_comment, lambda one, _: one)
    if comments != first.comments and all(one.created_at for one in comments):
        comments = tuple(sorted(comments, key=lambda one: times.exact(one.created_at)))
    # either file may have been asked or proposed in; the latest of each counts
    asked = max(first.asked, second.asked, key=lambda one: times.exact(one.at if one else None))
    proposed = max(
        first.proposed, second.proposed, key=lambda one: times.exact(one.at if one else None)
    )
    return replace(first, comments=comments, asked=asked, proposed=proposed)


def _same_thread(first: Thread, second: Thread) -> bool:
    """Whether both are one thread: a hand-made id such as `1` may be used in several files."""
    if not first.comments or not second.comments:
        return True
    known = {one.id: one for one in first.comments}
    return any(one.id in known and _same_comment(known[one.id], one) for one in second.comments)


def _same_comment(first: Comment, second: Comment) -> bool:
    """Whether both are one comment: an edit changes only the body."""
    return first.body == second.body or (
        (first.author, first.created_at) == (second.author, second.created_at)
    )
