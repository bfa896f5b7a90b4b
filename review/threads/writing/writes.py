"""One write of a review file: an operation on its content at that moment.

The first one on a carried commit: docs/design/review.md#first-write-on-a-carried-commit.
"""

from __future__ import annotations

from collections.abc import Callable

import orjson

from config.storage.files import etag_of
from review import files
from review.git import keeping
from review.threads import commit_review, document
from review.threads.target import Target
from review.threads.writing import renewal, takeover
from review.threads.writing.page import Page

Operation = Callable[[Page], bool]


def write(target: Target, operation: Operation, *, backup: bool = False) -> bool:
    """Do `operation` on the target's file. Return what it returns: whether it changed anything.

    It may be called several times, each time on what the file has then. A file that does not exist,
    or has not taken over the review that is shown with it, gets that review first. Along the way
    missing ids are written down, anchors are renewed and the commit's fingerprint is added.
    `backup` keeps the previous text. Raises Conflict if the file cannot be read. After a change,
    the commit is kept from git's cleaning.
    """
    changed = False

    def edit(data: bytes | None) -> bytes | None:
        nonlocal changed
        page = _page(target, data)
        _name(page)
        renewal.renew(target, page)
        changed = operation(page)
        if not changed:
            return data
        if data is not None and (backup or page.data != data):
            files.keep(target.parts, data)
        return document.with_fingerprint(page.text(), page.tree, target)

    files.change(target.parts, edit)
    if changed and not target.uncommitted:
        keeping.hold(target.repository, [target.commit.sha])
    return changed


def _page(target: Target, data: bytes | None) -> Page:
    """The file with all that is shown on the commit; with the same bytes if that is all there."""
    page = _read(target, data) if data is not None else None
    found = commit_review.of(target, own=page.review if page else None)
    if page is not None and page.tree and not found.carried_over:
        return page
    wanted = commit_review.as_document(target, found)
    if page is not None and page.tree:
        wanted = takeover.merge_tree(page.review, page.tree, wanted)
    return _read(target, document.text(data, wanted))


def _read(target: Target, data: bytes) -> Page:
    texts, found = files.load("/".join(target.parts), data)
    etag = etag_of(data)
    review = commit_review.parse(target, texts, etag, target.stem)
    return Page(data, review, orjson.loads(orjson.dumps(found.value or {})))


def _name(page: Page) -> None:
    """Write down missing ids."""
    for thread in page.review.threads:
        if not thread.named:
            page.tree_of(thread)["id"] = document.quote(thread.id)
        for comment in thread.comments:
            if not comment.named:
                page.tree_of(thread, comment)["id"] = document.quote(comment.id)
