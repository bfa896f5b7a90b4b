"""Renewal of anchors. It happens when the file is written anyway, and only if the text was found
again: an outdated thread keeps its last good anchor, so that a later revert brings it back."""

from __future__ import annotations

from dataclasses import replace

from review.threads import document
from review.threads.placement import placing
from review.threads.placement.placing import KEPT, Placed
from review.threads.schema import Thread, normal_side
from review.threads.target import Target
from review.threads.writing.page import Page

FIELDS = ("path", "side", "line", "start_line", "start_side", "anchor")


def renew(target: Target, page: Page) -> None:
    """Anchor those threads of the page on the target's commit that are placed safely on it."""
    stale = [thread for thread in page.review.threads if _stale(target, thread)]
    for thread, where in zip(stale, placing.place(target, stale), strict=True):
        if where.placement not in KEPT:
            continue
        wanted, had = (
            document.thread(with_new_anchor(target, thread, where)),
            document.thread(thread),
        )
        for name in FIELDS:
            if wanted.get(name) != had.get(name):
                document.put(page.tree_of(thread), name, wanted.get(name))


def _stale(target: Target, thread: Thread) -> bool:
    """Whether the anchor of its lines could be more complete or newer."""
    anchor = thread.anchor
    current = anchor.commit == target.shown_commit.sha and anchor.blob and anchor.text is not None
    return thread.path is not None and thread.line is not None and not current


def with_new_anchor(target: Target, thread: Thread, where: Placed) -> Thread:
    """The thread as placed on the target's commit, with an anchor of that commit."""
    same_side = normal_side(thread.side) == normal_side(where.side)
    side = thread.side if same_side else where.side
    return replace(
        thread,
        path=where.path,
        side=side,
        line=where.line,
        start_line=where.start_line,
        start_side=where.start_side,
        anchor=placing.anchor(
            target, where.path, side, where.line, where.start_line, where.start_side
        ),
    )
