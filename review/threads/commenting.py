"""What can be done with threads and comments.

Each function checks its arguments, then does one operation on the file as it is at that moment. A
refused operation does not change the file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from config.errors import Denied, Invalid, NotFound
from review.files import times
from review.threads import commit_review, document, ids
from review.threads.placement import placing
from review.threads.schema import Anchor, Comment, Thread
from review.threads.target import Target
from review.threads.writing import limits, locations, writes
from review.threads.writing.page import Page


def create(
    target: Target,
    *,
    body: Any,
    path: Any = None,
    side: Any = None,
    line: Any = None,
    start_line: Any = None,
    start_side: Any = None,
    author: Any,
) -> str:
    """Add a thread with its first comment; return its id."""
    place = {"path": path, "side": side, "line": line, "start_line": start_line}
    operation = _Create(
        new_thread(target, new_comment(body, author), start_side=start_side, **place)
    )
    writes.write(target, operation)
    return operation.tid


def new_thread(target: Target, comment: Comment, **lines: Any) -> Thread:
    """A thread of this comment about these lines, without an id. Invalid for unknown lines."""
    place = locations.parse(target, **lines)
    anchor = (
        Anchor(target.shown_commit.sha, None, None, None, None)
        if place.path is None
        else placing.anchor(
            target, place.path, place.side, place.line, place.start_line, place.start_side
        )
    )
    return Thread(
        id="",
        path=place.path,
        side=place.side,
        line=place.line,
        start_line=place.start_line,
        start_side=place.start_side,
        resolved=False,
        resolved_by=None,
        resolved_at=None,
        author=None,
        created_at=times.now_exact(),
        anchor=anchor,
        comments=(comment,),
    )


def reply(target: Target, tid: str, *, body: Any, author: Any) -> str:
    """Add a comment to a thread, resolved or not; return its id."""
    _thread(target, tid)
    operation = _Reply(tid, new_comment(body, author))
    writes.write(target, operation)
    return operation.comment.id


def resolve(target: Target, tid: str, resolved: Any, by: str) -> bool:
    """Resolve or reopen a thread. False if it was so already; then nothing is written."""
    _thread(target, tid)
    if not isinstance(resolved, bool):
        raise Invalid('"resolved" must be true or false')
    at = times.now()

    def operation(page: Page) -> bool:
        thread = page.review.thread(tid)
        if thread.resolved == resolved:
            return False
        tree = page.tree_of(thread)
        tree["resolved"] = resolved
        document.put(tree, "resolved_by", by if resolved else None)
        document.put(tree, "resolved_at", at if resolved else None)
        return True

    return writes.write(target, operation)


def edit(target: Target, tid: str, cid: str, body: Any, me: str, *, was: Any = None) -> bool:
    """Change the text of one's own comment; False if it is unchanged. Raises Conflict if the text
    is no longer `was`."""
    before = _thread(target, tid).comment(cid)
    text, at = limits.body(body), times.now()
    _check_own(before, me)

    def operation(page: Page) -> bool:
        thread = page.review.thread(tid)
        comment = thread.comment(cid)
        _check_own(comment, me)
        if comment.body == text:
            return False
        limits.check_unchanged(comment.body, was)
        tree = page.tree_of(thread, comment)
        document.put(tree, "body", text)
        document.put(tree, "updated_at", at)
        return True

    return writes.write(target, operation)


def delete(target: Target, tid: str, cid: str, me: str) -> bool:
    """Delete one's own comment, and with the last one the thread. Whether the thread is deleted."""
    _check_own(_thread(target, tid).comment(cid), me)
    gone = False

    def operation(page: Page) -> bool:
        nonlocal gone
        thread = page.review.thread(tid)
        comment = thread.comment(cid)
        _check_own(comment, me)
        gone = len(thread.comments) == 1
        page.remove(thread, None if gone else comment)
        return True

    writes.write(target, operation, backup=True)
    return gone


def _thread(target: Target, tid: str) -> Thread:
    """The thread. If it is missing and a file cannot be read, the error of that file is raised."""
    found = commit_review.of(target)
    try:
        return found.review.thread(tid)
    except NotFound:
        if found.parse_error:
            writes.write(target, lambda _page: False)
        raise


def new_comment(body: Any, author: Any) -> Comment:
    return Comment("", limits.author(author), limits.body(body), times.now_exact(), None)


def _check_own(comment: Comment, me: str) -> None:
    if comment.author != me:
        raise Denied("Only your own comments can be edited or deleted", code="not_own")


class _Create:
    """Adds the thread once, however often it is called."""

    def __init__(self, thread: Thread) -> None:
        self.thread = thread
        self.tid = ""

    def __call__(self, page: Page) -> bool:
        if self.tid in page.names:
            return False
        limits.room_for_a_thread(len(page.review.threads))
        if not self.tid:
            (comment,) = self.thread.comments
            comment = replace(comment, id=ids.mint("c", page.names))
            self.tid = ids.mint("t", page.names)
            self.thread = replace(self.thread, id=self.tid, comments=(comment,))
        page.add(self.thread)
        return True


class _Reply:
    """Adds the comment once, however often it is called."""

    def __init__(self, tid: str, comment: Comment) -> None:
        self.tid = tid
        self.comment = comment

    def __call__(self, page: Page) -> bool:
        thread = page.review.thread(self.tid)
        if self.comment.id in page.names:
            return False
        if not self.comment.id:
            self.comment = replace(self.comment, id=ids.mint("c", page.names))
        page.reply(thread, self.comment)
        return True
