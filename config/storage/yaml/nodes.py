"""A parsed file as values with their places in the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

SIZE, NODES = 1 << 20, 20_000
SCALAR, MAP, SEQ, ALIAS = "scalar", "map", "seq", "alias"
MERGE = "<<"


class Node:
    """One node with its value and its place. Positions are characters of the text."""

    __slots__ = (
        "end", "flow", "items", "kind", "pairs", "start", "style", "target", "text", "value",
        "weight",
    )  # fmt: skip

    def __init__(
        self, kind: str, start: int, value: Any, end: int = 0, style: str | None = None
    ) -> None:
        self.kind = kind
        self.start = start  # of its properties (anchor, tag), else of itself
        self.value = value
        self.end = end  # scalars, aliases, flow collections; of a block collection: see `last`
        self.style = style
        self.flow = False
        self.weight = 1  # nodes below and including it, aliases written out
        self.text: str | None = None  # of a scalar whose value is no text: how it is written
        self.target: Node | None = None  # of an alias: what it stands for
        self.pairs: Sequence[tuple[Node, Node]] = ()
        self.items: Sequence[Node] = ()

    def last(self) -> Node:
        """The last leaf, where a block collection ends."""
        node = self
        while not node.flow and (node.pairs or node.items):
            node = node.pairs[-1][1] if node.pairs else node.items[-1]
        return node

    def walk(self) -> Iterator[Node]:
        """This node and every one below it, keys left out."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += [*node.items, *(value for _, value in node.pairs)]

    def get(self, key: str) -> tuple[Node, Node] | None:
        return next((pair for pair in self.pairs if pair[0].value == key), None)


@dataclass(frozen=True)
class Document:
    """A parsed file: its value, and where each part of it stands."""

    value: Any
    text: str = field(repr=False)
    root: Node = field(repr=False)
    aliased: bool = False  # whether it holds anchors or aliases

    def within(self, *, limit: int, aliases: bool, nodes: int | None) -> bool:
        """Whether `parse` with these bounds would read it too."""
        small = len(self.text) <= limit // 4 or len(self.text.encode()) <= limit
        return (
            small
            and (aliases or not self.aliased)
            and self.root.weight <= (nodes or most_nodes(limit))
        )

    def texts(self) -> Any:
        """The value with every scalar as its text: 0123, 1:30 and `no` as they are written.

        Quoted text is decoded; what is null is None. For fields that hold shas, names or times.
        Always the same one.
        """
        return self._texts

    @cached_property
    def _texts(self) -> Any:
        return _built(self.root, {}, texts=True)

    def merged(self) -> Any:
        """The value with every merge key (a plain `<<`) applied, as in YAML 1.1: what a mapping
        says itself wins, then the first of those it names. One that names none stays as it is.
        """
        if MERGE not in self.text:
            return self.value
        return _built(self.root, {}, texts=False, merges=True)

    def node(self, *path: str | int) -> Node | None:
        """The node at the path of keys and indexes."""
        found = self.entry(*path)
        return found[1] if found else None

    def line(self, *path: str | int) -> int | None:
        """The line of the entry at the path (of its key, where it has one), from 1."""
        found = self.entry(*path)
        return self.text.count("\n", 0, found[0].start) + 1 if found else None

    def entry(self, *path: str | int) -> tuple[Node, Node] | None:
        """Key and value at the path; of an item of a list the item twice."""
        at = (self.root, self.root)
        for part in path:
            node = at[1]
            if isinstance(part, int):
                if not 0 <= part < len(node.items):
                    return None
                at = (node.items[part], node.items[part])
            else:
                pair = node.get(part)
                if pair is None:
                    return None
                at = pair
        return at


def most_nodes(limit: int) -> int:
    """How many keys and values a file of this size may hold: one for 50 bytes."""
    return max(NODES, limit // 50)


def _built(node: Node, done: dict[int, Any], *, texts: bool, merges: bool = False) -> Any:
    """A new copy of the value of a node; `done` holds the collections an alias may stand for."""
    if node.kind == ALIAS and node.target is not None:
        target = node.target
        if id(target) not in done:
            done[id(target)] = _built(target, done, texts=texts, merges=merges)
        return done[id(target)]
    if node.kind == MAP:
        pairs = ((key, _built(one, done, texts=texts, merges=merges)) for key, one in node.pairs)
        value = {key.value: one for key, one in pairs}
        done[id(node)] = _mixed(node, value) if merges else value
    elif node.kind == SEQ:
        done[id(node)] = [_built(item, done, texts=texts, merges=merges) for item in node.items]
    else:
        return node.text if texts and node.text is not None else node.value
    return done[id(node)]


def _mixed(node: Node, value: dict[str, Any]) -> dict[str, Any]:
    """The mapping with what its merge key names; what that holds is mixed already."""
    merge = node.get(MERGE)
    if merge is None or merge[0].style:  # in quotes it is a key like any other
        return value
    named = value[MERGE] if isinstance(value[MERGE], list) else [value[MERGE]]
    if not all(isinstance(one, dict) for one in named):
        return value
    found: dict[str, Any] = {}
    for one in reversed(named):
        found |= one
    return found | {key: own for key, own in value.items() if key != MERGE}
