"""A parsed file as values with their positions in the text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

SIZE, NODES = 1 << 20, 20_000
SCALAR, MAP, SEQ, ALIAS = "scalar", "map", "seq", "alias"
MERGE = "<<"
Pair = tuple["Node", "Node"]


class Node:
    """One node with its value and its position. Positions count characters of the text."""

    __slots__ = (
        "_by", "_items", "_pairs", "_texts", "end", "flow", "kind", "start", "style", "target",
        "text", "value", "weight",
    )  # fmt: skip

    def __init__(
        self, kind: str, start: int, value: Any, end: int = 0, style: str | None = None
    ) -> None:
        self.kind = kind
        self.start = start  # of its properties (anchor, tag), else of itself
        self.value = value
        self.end = end  # of scalars, aliases, flow collections; for a block collection see `last`
        self.style = style
        self.flow = False
        self.weight = 1  # nodes below and including it, with aliases expanded
        self.text: str | None = None  # of a scalar whose value is not a text: how it is written
        self.target: Node | None = None  # of an alias: the node it refers to
        self._pairs: Sequence[Pair] = ()
        self._items: Sequence[Node] = ()
        self._by = 0  # the offset that the nodes below still have to be moved by
        self._texts: Any = None

    def hold(self, pairs: Sequence[Pair], items: Sequence[Node]) -> None:
        """Set what a collection consists of; both lists may still grow."""
        self._pairs, self._items = pairs, items

    @property
    def pairs(self) -> Sequence[Pair]:
        """Keys and values of a mapping."""
        if by := self._by:
            return [(key.shift(by), value.shift(by)) for key, value in self._pairs]
        return self._pairs

    @property
    def items(self) -> Sequence[Node]:
        """The items of a list."""
        if by := self._by:
            return [item.shift(by) for item in self._items]
        return self._items

    def shift(self, by: int) -> Node:
        """A copy of this node, and of all below it, that many characters further on in the text."""
        made = Node(self.kind, self.start + by, self.value, self.end + by, self.style)
        made.flow, made.weight, made.text, made._texts = (
            self.flow, self.weight, self.text, self._texts,
        )  # fmt: skip
        made._pairs, made._items, made._by = self._pairs, self._items, self._by + by
        return made

    def last(self) -> Node:
        """The last leaf, where a block collection ends."""
        node, by = self, 0
        while not node.flow and (node._pairs or node._items):
            by += node._by
            node = node._pairs[-1][1] if node._pairs else node._items[-1]
        return node.shift(by) if by else node

    def walk(self) -> Iterator[Node]:
        """This node and every node below it, without keys."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting += [*node.items, *(value for _, value in node.pairs)]

    def get(self, key: str) -> Pair | None:
        return next((pair for pair in self.pairs if pair[0].value == key), None)

    def texts(self) -> Any:
        """The value with every scalar as its text, see Document.texts. It is built once for a
        collection; an alias has that of its target."""
        if self.kind == ALIAS and self.target is not None:
            return self.target.texts()
        if self.kind not in {MAP, SEQ}:
            return self.value if self.text is None else self.text
        if self._texts is None:
            if self.kind == MAP:
                self._texts = {key.value: value.texts() for key, value in self._pairs}
            else:
                self._texts = [item.texts() for item in self._items]
        return self._texts


@dataclass(frozen=True)
class Document:
    """A parsed file: its value, and the position of each part."""

    value: Any
    text: str = field(repr=False)
    root: Node = field(repr=False)
    aliased: bool = False  # whether it holds anchors or aliases

    def within(self, *, limit: int, aliases: bool, nodes: int | None) -> bool:
        """Whether `parse` with these bounds would accept it too."""
        small = len(self.text) <= limit // 4 or len(self.text.encode()) <= limit
        return (
            small
            and (aliases or not self.aliased)
            and self.root.weight <= (nodes or most_nodes(limit))
        )

    def texts(self) -> Any:
        """The value with every scalar as its text: 0123, 1:30 and `no` as they are written.

        Quoted text is decoded; null is None. For fields that hold shas, names or times. Every call
        returns the same object.
        """
        return self.root.texts()

    def merged_value(self) -> Any:
        """The value with every merge key (a plain `<<`) applied, as in YAML 1.1: a mapping's own
        keys win, then those of the first mapping it names. A merge key that does not name mappings
        is left in place."""
        if MERGE not in self.text:
            return self.value
        return _merged_value(self.root, {})

    def node(self, *path: str | int) -> Node | None:
        """The node at the path of keys and indexes."""
        found = self.entry(*path)
        return found[1] if found else None

    def line(self, *path: str | int) -> int | None:
        """The line of the entry at the path (of its key, where it has one), from 1."""
        found = self.entry(*path)
        return self.text.count("\n", 0, found[0].start) + 1 if found else None

    def entry(self, *path: str | int) -> Pair | None:
        """Key and value at the path; for an item of a list, the item twice."""
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
    """How many keys and values a file of this size may hold: one for every 50 bytes."""
    return max(NODES, limit // 50)


def _merged_value(node: Node, done: dict[int, Any]) -> Any:
    """A copy of the value of a node; `done` holds the collections that an alias may refer to."""
    if node.kind == ALIAS and node.target is not None:
        target = node.target
        if id(target) not in done:
            done[id(target)] = _merged_value(target, done)
        return done[id(target)]
    if node.kind == MAP:
        value = {key.value: _merged_value(one, done) for key, one in node.pairs}
        done[id(node)] = _apply_merge_key(node, value)
    elif node.kind == SEQ:
        done[id(node)] = [_merged_value(item, done) for item in node.items]
    else:
        return node.value
    return done[id(node)]


def _apply_merge_key(node: Node, value: dict[str, Any]) -> dict[str, Any]:
    """The mapping merged with those that its merge key names, which are merged already."""
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
