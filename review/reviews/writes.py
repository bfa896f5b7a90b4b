"""One write of a review file: an operation on what it holds at that moment (contract 5.5, 6)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import orjson

from review import files
from review.reviews import document, renewal, schema, shown, takeover
from review.reviews.document import Tree
from review.reviews.schema import Comment, ReviewFile, Thread
from review.reviews.target import Target


@dataclass(frozen=True, slots=True)
class Page:
    """A review file in the middle of a write: what it says, and its tree of plain values, which
    the operation changes. Nodes the operation leaves alone stay as they are written.
    """

    review: ReviewFile
    tree: Tree

    @property
    def names(self) -> set[str]:
        """Every id in the file."""
        threads = self.review.threads
        below = {comment.id for thread in threads for comment in thread.comments}
        return below | {thread.id for thread in threads}

    def tree_of(self, thread: Thread, comment: Comment | None = None) -> Tree:
        found: Tree = self.tree["threads"][thread.at]
        return found if comment is None else found["comments"][comment.at]

    def add(self, thread: Thread) -> None:
        self.tree["threads"] = [*(self.tree.get("threads") or []), document.thread(thread)]

    def reply(self, thread: Thread, comment: Comment) -> None:
        self.tree_of(thread)["comments"].append(document.comment(comment))

    def remove(self, thread: Thread, comment: Comment | None = None) -> None:
        if comment is None:
            del self.tree["threads"][thread.at]
        else:
            del self.tree_of(thread)["comments"][comment.at]


Operation = Callable[[Page], bool]


def write(target: Target, operation: Operation, *, backup: bool = False) -> bool:
    """Do `operation` on the target's file; it tells whether it changed anything.

    It may be called several times, each time on what the file holds then. A file that is not
    there yet, or that has not taken over the review it is shown with, holds that first. Missing
    ids are written down and anchors renewed along the way. `backup` keeps the text before.
    Conflict while the file cannot be read.
    """
    changed = False

    def edit(data: bytes | None) -> bytes | None:
        nonlocal changed
        whole = _whole(target, data)
        page = _page(target, whole)
        _name(page)
        renewal.renew(target, page.review.threads, page.tree)
        changed = operation(page)
        if not changed:
            return data
        if data is not None and (backup or whole != data):
            files.keep(target.parts, data)
        return document.text(whole, page.tree)

    files.change(target.parts, edit)
    return changed


def _whole(target: Target, data: bytes | None) -> bytes:
    """The file with all that is shown on the commit; the same bytes where it says that already."""
    page = _page(target, data) if data is not None else None
    found = shown.shown(target, own=page.review if page else None)
    if page is None or not page.tree:
        return document.text(data, shown.written(target, found))
    if not found.carried_over:
        return data or b""
    return document.text(
        data, takeover.merged(page.review, page.tree, shown.written(target, found))
    )


def _page(target: Target, data: bytes) -> Page:
    texts, found = files.load("/".join(target.parts), data)
    deleted = {file.path for file in target.commit.files if file.new_oid is None}
    review = schema.parse(texts, target.commit.sha, deleted_paths=deleted)
    return Page(review, orjson.loads(orjson.dumps(found.value or {})))


def _name(page: Page) -> None:
    """Write down the ids that are missing."""
    for thread in page.review.threads:
        if not thread.named:
            page.tree_of(thread)["id"] = document.quoted(thread.id)
        for comment in thread.comments:
            if not comment.named:
                page.tree_of(thread, comment)["id"] = document.quoted(comment.id)
