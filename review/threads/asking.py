"""Marking threads: an agent was asked to work on them, or their resolution was proposed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from review.files import times
from review.threads import document
from review.threads.asked import Asked, Proposed, State, later
from review.threads.placement import placing
from review.threads.schema import Comment, Thread, normal_side
from review.threads.target import Target
from review.threads.writing import writes
from review.threads.writing.page import Page


@dataclass(frozen=True, slots=True)
class Chat:
    """A chat of a workspace project."""

    project: str
    id: str


def state(thread: Thread) -> State:
    """What a thread waits for: an agent to be asked (open) or to answer (asked), or a person to
    look at the answer (answered); else `resolved`."""
    if thread.resolved:
        return "resolved"
    if answer(thread) or _proposed_since(thread):
        return "answered"
    return "asked" if thread.asked else "open"


def answer(thread: Thread) -> Comment | None:
    """The last comment by anyone else since the agent was asked; None without one."""
    asked = thread.asked
    if asked is None:
        return None
    said = (
        one
        for one in reversed(thread.comments)
        if one.author != asked.by and later(one.created_at, asked.at)
    )
    return next(said, None)


def mark_asked(
    target: Target, tids: Sequence[str], chat: Chat, *, by: str, at: str, tip: str | None
) -> None:
    """Note on each thread that this chat was asked at `at`. Deleted threads are left out."""

    def operation(page: Page) -> bool:
        found = [one for one in page.review.conversations if one.id in tids]
        for thread, where in zip(found, placing.place(target, found), strict=True):
            lines = where.line if normal_side(where.side) == "RIGHT" else None
            tree = page.tree_of(thread)
            tree["asked"] = document.asked(
                Asked(
                    at=at,
                    by=by,
                    project=chat.project,
                    chat=chat.id,
                    sha=target.shown_commit.sha,
                    tip=tip,
                    path=where.path,
                    line=lines,
                )
            )
            tree.pop("proposed", None)
        return bool(found)

    writes.write(target, operation)


def propose(target: Target, tid: str, *, by: str) -> bool:
    """Note that `by` thinks the thread is done. False if it is resolved or proposed already."""
    at = times.now_exact()

    def operation(page: Page) -> bool:
        thread = page.review.thread(tid)
        if thread.resolved or _proposed_since(thread):
            return False
        page.tree_of(thread)["proposed"] = document.proposed(Proposed(by, at))
        return True

    return writes.write(target, operation)


def _proposed_since(thread: Thread) -> bool:
    if thread.proposed is None:
        return False
    return thread.asked is None or later(thread.proposed.at, thread.asked.at)
