"""Anchors are renewed when the file is written anyway, and only where the text was found again:
an outdated thread keeps its last good anchor, so that a later revert brings it back (4.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from review.reviews import document, placement
from review.reviews.document import Tree
from review.reviews.placement import Placed
from review.reviews.schema import Thread, normal_side
from review.reviews.target import Target

FOUND = frozenset({"exact", "moved", "text"})


def renewed(target: Target, threads: Sequence[Thread]) -> list[Thread]:
    """The threads, those that stand safely on the target's commit anchored there."""
    stale = [thread for thread in threads if _stale(target, thread)]
    placed = {
        thread.id: where
        for thread, where in zip(stale, placement.place(target, stale), strict=True)
    }
    return [
        _anchored(target, thread, placed[thread.id])
        if thread.id in placed and placed[thread.id].placement in FOUND
        else thread
        for thread in threads
    ]


def renew(target: Target, threads: Sequence[Thread], tree: Tree) -> None:
    """The same in the tree of the file that holds `threads`."""
    for before, after in zip(threads, renewed(target, threads), strict=True):
        if after is not before:
            wanted, had = document.thread(after), document.thread(before)
            for name in ("path", "side", "line", "start_line", "start_side", "anchor"):
                if wanted.get(name) != had.get(name):
                    document.put(tree["threads"][before.at], name, wanted.get(name))


def _stale(target: Target, thread: Thread) -> bool:
    """Whether its anchor could say more, or something newer."""
    anchor = thread.anchor
    return (
        thread.path is not None
        and thread.line is not None
        and (anchor.commit != target.shown_commit.sha or anchor.blob is None or anchor.text is None)
    )


def _anchored(target: Target, thread: Thread, where: Placed) -> Thread:
    if thread.line is None or where.path is None or where.line is None:
        return thread
    side = thread.side if normal_side(thread.side) == normal_side(where.side) else where.side
    return replace(
        thread,
        path=where.path,
        side=side,
        line=where.line,
        start_line=where.start_line,
        start_side=thread.start_side if where.start_line else None,
        anchor=placement.anchor(
            target, where.path, side, where.line, where.start_line, thread.start_side
        ),
    )
