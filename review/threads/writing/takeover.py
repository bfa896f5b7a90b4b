"""The first write on a carried commit: its file takes over all that is shown.

What the file already says keeps its exact bytes; only differences are changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from review.threads import document
from review.threads.document import Tree
from review.threads.schema import Comment, ReviewFile, Thread

T = TypeVar("T", Thread, Comment)
HEAD = ("commit", "carried_from")


def merge_tree(own: ReviewFile, tree: Tree, wanted: Tree) -> Tree:
    """The tree of the file `own`, changed to say what the document `wanted` says."""
    added = {key: value for key, value in wanted.items() if key in HEAD or key not in tree}
    threads = _items(
        tree.get("threads") or [], own.threads, wanted.get("threads") or [], _merge_thread
    )
    made = {**tree, **added, "threads": threads}
    viewed = {mark.path: document.mark(mark) for mark in own.viewed}
    if viewed != (wanted.get("viewed") or {}):
        made["viewed"] = wanted.get("viewed") or {}
    given = {one.author: document.verdict(one) for one in own.verdicts}
    if given != (wanted.get("verdicts") or {}):
        made["verdicts"] = wanted.get("verdicts") or {}
    return made


def _items(
    nodes: Sequence[Any],
    own: Sequence[T],
    wanted: Sequence[Tree],
    merge: Callable[[T, Tree, Tree], Tree],
) -> list[Any]:
    """The list of the file with the wanted items: the existing ones first, in their order. Nodes
    that are not items stay where they are."""
    left: dict[str, Tree] = {item["id"]: item for item in wanted}
    by_place = {item.at: item for item in own}
    made: list[Any] = []
    for at, node in enumerate(nodes):
        item = by_place.get(at)
        if item is None:
            made.append(node)
        elif item.id in left:
            made.append(merge(item, node, left.pop(item.id)))
    return [*made, *left.values()]


def _merge_thread(own: Thread, node: Tree, wanted: Tree) -> Tree:
    made = _with_changes(node, document.thread(own), wanted)
    comments = _items(node.get("comments") or [], own.comments, wanted["comments"], _merge_comment)
    return {**made, "comments": comments}


def _merge_comment(own: Comment, node: Tree, wanted: Tree) -> Tree:
    return _with_changes(node, document.comment(own), wanted)


def _with_changes(node: Tree, had: Tree, wanted: Tree) -> Tree:
    """The node with the fields set that differ from what is wanted."""
    made = dict(node)
    for name in [name for name in {**had, **wanted} if name != "comments"]:
        if name not in wanted:
            made.pop(name, None)
        elif had.get(name) != wanted[name]:
            made[name] = wanted[name]
    return made
