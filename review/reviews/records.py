"""What answers show of a review: its threads placed, its marks, its file (contract 8)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from review import markdown, reviewer
from review.files import times
from review.reviews import placement, shown, viewed
from review.reviews.carry.traces import CarriedFrom
from review.reviews.placement import Placed
from review.reviews.schema import Comment, Fingerprint, Thread
from review.reviews.target import Target

Record = dict[str, Any]
Render = Callable[[str], str]


def review(
    target: Target, *, html: bool = False, mount: str = "", unresolved_only: bool = False
) -> Record:
    """The answer of GET `{c}/review`. With `html`, comments carry `body_html`, safe to show on
    pages under `mount`.
    """
    render = partial(markdown.html, mount=mount) if html else None
    found = shown.shown(target)
    threads = [
        thread for thread in found.review.conversations if not (unresolved_only and thread.resolved)
    ]
    placed = placement.place(target, threads)
    marked, stale = viewed.valid(target, found)
    made = {
        "version": found.review.version,
        "commit": _fingerprint(found.review.commit),
        "carried_from": _carried_from(found.review.carried_from),
        "file": str(found.file) if found.file else None,
        "target_file": str(found.target_file),
        "matched_from": found.matched_from,
        "matched_by": found.matched_by,
        "carried_over": found.carried_over,
        "parse_error": found.parse_error,
        "warnings": list(found.warnings),
        "viewed": marked,
        "viewed_stale": stale,
        "threads": [
            _thread(one, where, render) for one, where in zip(threads, placed, strict=True)
        ],
    }
    return dict(found.review.extra) | made


def stranded(threads: Sequence[Thread], *, html: bool = False, mount: str = "") -> list[Record]:
    """The threads of a commit that is gone: where they stood, placed nowhere."""
    render = partial(markdown.html, mount=mount) if html else None
    return [_thread(one, placement.nowhere(one), render) for one in threads]


def thread(target: Target, tid: str) -> Record:
    """One thread as `review` shows it. NotFound when it is not shown."""
    found = shown.shown(target).review.thread(tid)
    (where,) = placement.place(target, [found])
    return _thread(found, where)


def comment(target: Target, tid: str, cid: str) -> Record:
    """One comment of a thread. NotFound when either is not shown."""
    found = shown.shown(target).review.thread(tid).comment(cid)
    return _comment(found, reviewer.me())


def counts(target: Target) -> tuple[int, int, int, int]:
    """Threads, resolved ones, unresolved ones, files viewed. Places nothing."""
    found = shown.shown(target)
    threads = found.review.conversations
    resolved = sum(thread.resolved for thread in threads)
    return len(threads), resolved, len(threads) - resolved, len(viewed.valid(target, found)[0])


def _thread(thread: Thread, where: Placed, render: Render | None = None) -> Record:
    me = reviewer.me()
    made = {
        "id": thread.id,
        "path": where.path,
        "side": where.side,
        "line": where.line,
        "start_line": where.start_line,
        "start_side": where.start_side,
        "outdated": where.outdated,
        "placement": where.placement,
        "original_path": where.original_path,
        "original_line": where.original_line,
        "original_start_line": where.original_start_line,
        "original_commit": thread.anchor.commit,
        "anchor_text": where.text,
        "resolved": thread.resolved,
        "resolved_by": thread.resolved_by,
        "resolved_at": times.seconds(thread.resolved_at),
        "author": thread.opened_by,
        "created_at": times.seconds(thread.created_at),
        "comments": [_comment(one, me, render) for one in thread.comments],
    }
    source = {"from_sha": thread.from_sha} if thread.from_sha else {}
    return dict(thread.extra) | made | source


def _comment(comment: Comment, me: reviewer.Reviewer, render: Render | None = None) -> Record:
    own = comment.author == me.id
    made = {
        "id": comment.id,
        "author": comment.author,
        "author_name": me.name if own else comment.author,
        "body": comment.body,
        "created_at": times.seconds(comment.created_at),
        "updated_at": times.seconds(comment.updated_at),
        "own": own,
    }
    return dict(comment.extra) | made | ({"body_html": render(comment.body)} if render else {})


def _fingerprint(value: Fingerprint | None) -> Record | None:
    return None if value is None else asdict(value)


def _carried_from(value: CarriedFrom | None) -> Record | None:
    return (
        None
        if value is None
        else asdict(value)
        | {
            "also": list(value.also),
            "without": list(value.without),
        }
    )
