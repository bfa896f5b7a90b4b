"""Text to values and positions, from the event stream of libyaml, bounded while it is read.

libyaml's own composer recurses and its loader copies aliases without limit; neither is used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from config.kernel.storage.yaml import scalars
from config.kernel.storage.yaml.errors import YamlError

SIZE, DEPTH, NODES, DIRECTIVES = 1 << 20, 64, 20_000, 8
BOM = b"\xef\xbb\xbf"
FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
HEAD = re.compile(r"(?:%[^\n]*\n|[ \t\r]*(?:#[^\n]*)?\n)*")
SCALAR, MAP, SEQ, ALIAS = "scalar", "map", "seq", "alias"


@dataclass(slots=True, eq=False)
class Node:
    """One node with its value and its place. Positions are characters of the text."""

    kind: str
    start: int  # of its properties (anchor, tag), else of itself
    value: Any = None
    end: int = 0  # scalars, aliases, flow collections; of a block collection: see `last`
    flow: bool = False
    style: str | None = None
    pairs: list[tuple[Node, Node]] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    weight: int = 1  # nodes below and including it, aliases written out
    key: str | None = None  # while a map is read: the key that waits for its value
    text: str | None = None  # of a scalar whose value is no text: how it is written
    target: Node | None = None  # of an alias: what it stands for

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


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed file: its value, and where each part of it stands."""

    value: Any
    text: str = field(repr=False)
    root: Node = field(repr=False)

    def texts(self) -> Any:
        """The value with every scalar as its text: 0123, 1:30 and `no` as they are written.

        Quoted text is decoded; what is null is None. For fields that hold shas, names or times.
        """
        return _texts(self.root, {})

    def node(self, *path: str | int) -> Node | None:
        """The node at the path of keys and indexes."""
        found = self._entry(path)
        return found[1] if found else None

    def line(self, *path: str | int) -> int | None:
        """The line of the entry at the path (of its key, where it has one), from 1."""
        found = self._entry(path)
        return self.text.count("\n", 0, found[0].start) + 1 if found else None

    def _entry(self, path: tuple[str | int, ...]) -> tuple[Node, Node] | None:
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


def _texts(node: Node, done: dict[int, Any]) -> Any:
    """As `Document.texts`; `done` holds the collections an alias may stand for."""
    if node.kind == ALIAS and node.target is not None:
        return done[id(node.target)] if id(node.target) in done else _texts(node.target, done)
    if node.kind == MAP:
        done[id(node)] = {key.value: _texts(inner, done) for key, inner in node.pairs}
    elif node.kind == SEQ:
        done[id(node)] = [_texts(item, done) for item in node.items]
    else:
        return node.value if node.text is None else node.text
    return done[id(node)]


def parse(
    data: bytes,
    *,
    limit: int = SIZE,
    depth: int = DEPTH,
    aliases: bool = True,
    nodes: int | None = None,
) -> Document:
    """One document, or YamlError. Keys are text; a key given twice is an error.

    `nodes` bounds keys and values together, aliases written out: one for 50 bytes of the limit.
    """
    if len(data) > limit:
        raise YamlError(f"the file is larger than {limit} bytes", 1, 1)
    text = decode(data)
    if _directives(text) > DIRECTIVES:
        raise YamlError(f"more than {DIRECTIVES} directives", 1, 1)
    return _Builder(text, depth, nodes or max(NODES, limit // 50), aliases).build()


def decode(data: bytes) -> str:
    """UTF-8 without its BOM."""
    body = data.removeprefix(BOM)
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        before = body[: error.start].decode(errors="replace")
        raise YamlError.at("not valid UTF-8", before, len(before)) from None
    if bad := FORBIDDEN.search(text):
        raise YamlError.at(f"the character U+{ord(bad[0]):04X} is not allowed", text, bad.start())
    return text


def _directives(text: str) -> int:
    """How many lines of the head are directives; libyaml compares each with all before it."""
    if text.count("\n%") < DIRECTIVES:
        return 0
    head = HEAD.match(text)
    return head[0].count("\n%") + 1 if head else 0


class _Builder:
    def __init__(self, text: str, depth: int, nodes: int, aliases: bool) -> None:
        self.text = text
        self.depth = depth
        self.left = nodes
        self.nodes = nodes
        self.aliases = aliases
        self.anchors: dict[str, Node] = {}
        self.open: list[Node] = []
        self.root: Node | None = None

    def build(self) -> Document:
        loader = yaml.CSafeLoader(self.text)
        try:
            self._read(loader)
        except yaml.MarkedYAMLError as error:
            raise self._translated(error) from None
        except yaml.YAMLError as error:
            raise YamlError(str(error).splitlines()[0], 1, 1) from None
        finally:
            loader.dispose()
        root = self.root or Node(SCALAR, len(self.text), None, len(self.text))
        return Document(root.value, self.text, root)

    def _read(self, loader: Any) -> None:
        """The whole stream. Event types are told apart in the order of their frequency."""
        documents = 0
        while (event := loader.get_event()) is not None:
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._add(event, self._scalar(event))
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                self._begin(event, MAP if kind is yaml.MappingStartEvent else SEQ)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self._finish(event)
            elif kind is yaml.AliasEvent:
                self._alias(event)
            elif kind is yaml.DocumentStartEvent:
                documents += 1
                if documents > 1:
                    raise self._error("a second document begins here; one is allowed", event)
            elif kind is yaml.StreamEndEvent:
                return

    def _scalar(self, event: Any) -> Node:
        start, plain = event.start_mark.index, event.implicit[0]
        end = event.end_mark.index
        if self.open and self.open[-1].kind == MAP and self.open[-1].key is None:
            return Node(SCALAR, start, event.value, end)  # a key is text, however it looks
        try:
            if event.tag is not None:
                value = scalars.tagged(event.value, event.tag, plain=event.style in (None, ""))
            else:
                value = scalars.resolve(event.value) if plain else event.value
        except scalars.NotInCore as error:
            raise self._error(str(error), event) from None
        text = None if value is None or isinstance(value, str) else event.value
        return Node(SCALAR, start, value, end, style=event.style, text=text)

    def _begin(self, event: Any, kind: str) -> None:
        if len(self.open) >= self.depth:
            raise self._error(f"nested deeper than {self.depth} levels", event)
        if event.tag not in (None, "!", f"{scalars.PREFIX}{kind}"):
            raise self._error(
                f"the tag {event.tag.replace(scalars.PREFIX, '!!')} is not supported", event
            )
        value: Any = {} if kind == MAP else []
        node = Node(kind, event.start_mark.index, value, flow=bool(event.flow_style))
        self._add(event, node)
        self.open.append(node)

    def _finish(self, event: Any) -> None:
        node = self.open.pop()
        node.end = event.end_mark.index
        if self.open:
            self.open[-1].weight += node.weight - 1  # 1 was counted when it was added

    def _alias(self, event: Any) -> None:
        target = self.anchors.get(event.anchor)
        if not self.aliases:
            raise self._error("aliases are not supported in this file", event)
        if target is None:
            raise self._error(f'the alias "*{event.anchor}" has no anchor', event)
        if target in self.open:
            raise self._error(f'the alias "*{event.anchor}" holds itself', event)
        start, end = event.start_mark.index, event.end_mark.index
        self._add(event, Node(ALIAS, start, target.value, end, weight=target.weight, target=target))

    def _add(self, event: Any, node: Node) -> None:
        """Put a node where it belongs: the root, an item, a key or the value of a key."""
        self.left -= node.weight
        if self.left < 0:
            raise self._error(f"more than {self.nodes} values", event)
        if event.anchor is not None and node.kind != ALIAS:
            if not self.aliases:
                raise self._error("anchors are not supported in this file", event)
            self.anchors[event.anchor] = node
        if not self.open:
            self.root = node
            return
        parent = self.open[-1]
        parent.weight += node.weight
        if parent.kind == SEQ:
            parent.items.append(node)
            parent.value.append(node.value)
        elif parent.key is None:
            self._key(event, parent, node)
        else:
            parent.pairs.append((parent.pairs.pop()[0], node))
            parent.value[parent.key] = node.value
            parent.key = None

    def _key(self, event: Any, parent: Node, node: Node) -> None:
        if node.kind != SCALAR:
            raise self._error("a key must be plain or quoted text", event)
        if node.value in parent.value:
            earlier = parent.get(node.value)
            line = self.text.count("\n", 0, earlier[0].start if earlier else 0) + 1
            raise self._error(
                f'the key "{node.value[:80]}" is given twice (first in line {line})', event
            )
        parent.key = node.value
        parent.pairs.append((node, node))  # its value comes next

    def _error(self, reason: str, event: Any) -> YamlError:
        return YamlError.at(reason, self.text, event.start_mark.index)

    def _translated(self, error: yaml.MarkedYAMLError) -> YamlError:
        mark = error.problem_mark or error.context_mark
        index = mark.index if mark else 0
        reason = " ".join(filter(None, (error.problem, error.context)))
        if self.text[index : index + 1] == "\t":
            reason = "a tab cannot indent; use spaces"
        return YamlError.at(reason or "not valid YAML", self.text, index)
