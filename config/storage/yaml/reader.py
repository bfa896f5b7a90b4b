"""Reads text into values and positions from the event stream of libyaml, with limits.

libyaml's own composer recurses and its loader copies aliases without limit; neither is used.
"""

from __future__ import annotations

import re
from typing import Any

import yaml

from config.storage.yaml import scalars
from config.storage.yaml.errors import YamlError
from config.storage.yaml.nodes import (
    ALIAS,
    MAP,
    SCALAR,
    SEQ,
    SIZE,
    Document,
    Node,
    Pair,
    most_nodes,
)  # fmt: skip

DEPTH, DIRECTIVES = 64, 8
BOM = b"\xef\xbb\xbf"
FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
HEAD = re.compile(r"(?:%[^\n]*\n|[ \t\r]*(?:#[^\n]*)?\n)*")


def parse(
    data: bytes,
    *,
    limit: int = SIZE,
    depth: int = DEPTH,
    aliases: bool = True,
    nodes: int | None = None,
    text_keys: bool = False,
) -> Document:
    """Parse one document, or raise YamlError. Keys are text; a duplicate key is an error. `nodes`
    limits keys and values together, with aliases expanded. With `text_keys`, a plain key that as a
    value would be a number, a boolean or null is an error too."""
    if len(data) > limit:
        raise YamlError(f"the file is larger than {limit} bytes", 1, 1)
    text = decode(data)
    if _directives(text) > DIRECTIVES:
        raise YamlError(f"more than {DIRECTIVES} directives", 1, 1)
    left = nodes or most_nodes(limit)
    return _Builder(text, depth, left, aliases=aliases, text_keys=text_keys).build()


def decode(data: bytes) -> str:
    """The text of UTF-8 bytes, without a BOM."""
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


class _Open:
    """A collection that is being read; in a mapping, with the key whose value comes next."""

    __slots__ = ("items", "key", "left", "node", "pairs")

    def __init__(self, node: Node, left: int) -> None:
        self.node = node
        self.left = left  # the builder's `left` before anything below the node was read
        self.key: Node | None = None
        self.pairs: list[Pair] = []
        self.items: list[Node] = []
        node.hold(self.pairs, self.items)


class _Builder:
    def __init__(
        self, text: str, depth: int, nodes: int, *, aliases: bool, text_keys: bool
    ) -> None:
        self.text = text
        self.depth = depth
        self.left = nodes
        self.nodes = nodes
        self.aliases = aliases
        self.text_keys = text_keys
        self.anchors: dict[str, Node] = {}
        self.open: list[_Open] = []
        self.root: Node | None = None

    def build(self) -> Document:
        loader = yaml.CSafeLoader(self.text)
        try:
            self._read(loader)
        except yaml.MarkedYAMLError as error:
            raise self._yaml_error(error) from None
        except yaml.YAMLError as error:
            raise YamlError(str(error).splitlines()[0], 1, 1) from None
        finally:
            loader.dispose()
        root = self.root or Node(SCALAR, len(self.text), None, len(self.text))
        return Document(root.value, self.text, root, aliased=bool(self.anchors))

    def _read(self, loader: Any) -> None:
        """Read the whole stream. Event types are tested in the order of their frequency."""
        documents = 0
        next_event = loader.get_event
        while (event := next_event()) is not None:
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._scalar(event)
            elif kind is yaml.MappingStartEvent:
                self._begin(event, Node(MAP, event.start_mark.index, {}))
            elif kind is yaml.SequenceStartEvent:
                self._begin(event, Node(SEQ, event.start_mark.index, []))
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

    def _scalar(self, event: Any) -> None:
        text, style = event.value, event.style
        node = Node(SCALAR, event.start_mark.index, text, event.end_mark.index, style)
        if (event.implicit[0] or event.tag is not None) and not self._awaits_key():
            node.value = value = self._resolve(event)
            if value is not text and value is not None:
                node.text = text
        self._add(event, node)

    def _awaits_key(self) -> bool:
        """Whether a key comes next: it is text, whatever it looks like."""
        within = self.open[-1] if self.open else None
        return within is not None and within.key is None and within.node.kind is MAP

    def _resolve(self, event: Any) -> Any:
        try:
            if event.tag is None:
                return scalars.resolve(event.value)
            return scalars.resolve_tagged(event.value, event.tag, plain=event.style in (None, ""))
        except scalars.NotInCore as error:
            raise self._error(str(error), event) from None

    def _is_text(self, event: Any) -> bool:
        """Whether the scalar would be text as a value."""
        if event.tag is None and not event.implicit[0]:
            return True
        try:
            return isinstance(self._resolve(event), str)
        except YamlError:
            return False

    def _begin(self, event: Any, node: Node) -> None:
        if len(self.open) >= self.depth:
            raise self._error(f"nested deeper than {self.depth} levels", event)
        if event.tag not in (None, "!", f"{scalars.PREFIX}{node.kind}"):
            raise self._error(
                f"the tag {event.tag.replace(scalars.PREFIX, '!!')} is not supported", event
            )
        node.flow = bool(event.flow_style)
        self._add(event, node)
        self.open.append(_Open(node, self.left))

    def _finish(self, event: Any) -> None:
        done = self.open.pop()
        done.node.end = event.end_mark.index
        done.node.weight = 1 + done.left - self.left

    def _alias(self, event: Any) -> None:
        target = self.anchors.get(event.anchor)
        if not self.aliases:
            raise self._error("aliases are not supported in this file", event)
        if target is None:
            raise self._error(f'the alias "*{event.anchor}" has no anchor', event)
        if any(target is one.node for one in self.open):
            raise self._error(f'the alias "*{event.anchor}" holds itself', event)
        node = Node(ALIAS, event.start_mark.index, target.value, event.end_mark.index)
        node.weight, node.target = target.weight, target
        self._add(event, node)

    def _add(self, event: Any, node: Node) -> None:
        """Add a node as the root, an item, a key or the value of a key."""
        self.left -= node.weight
        if self.left < 0:
            raise self._error(f"more than {self.nodes} values", event)
        if event.anchor is not None and node.kind is not ALIAS:
            if not self.aliases:
                raise self._error("anchors are not supported in this file", event)
            self.anchors[event.anchor] = node
        if not self.open:
            self.root = node
            return
        within = self.open[-1]
        if within.node.kind is SEQ:
            within.items.append(node)
            within.node.value.append(node.value)
        elif within.key is None:
            self._key(event, within, node)
        else:
            within.pairs.append((within.key, node))
            within.node.value[within.key.value] = node.value
            within.key = None

    def _key(self, event: Any, within: _Open, node: Node) -> None:
        if node.kind is not SCALAR:
            raise self._error("a key must be plain or quoted text", event)
        if self.text_keys and not self._is_text(event):
            raise self._error(f"the key {node.value[:80] or 'null'} is not text; quote it", event)
        if node.value in within.node.value:
            earlier = within.node.get(node.value)
            line = self.text.count("\n", 0, earlier[0].start if earlier else 0) + 1
            raise self._error(
                f'the key "{node.value[:80]}" is given twice (first in line {line})', event
            )
        within.key = node

    def _error(self, reason: str, event: Any) -> YamlError:
        return YamlError.at(reason, self.text, event.start_mark.index)

    def _yaml_error(self, error: yaml.MarkedYAMLError) -> YamlError:
        mark = error.problem_mark or error.context_mark
        index = mark.index if mark else 0
        reason = " ".join(filter(None, (error.problem, error.context)))
        if self.text[index : index + 1] == "\t":
            reason = "a tab cannot indent; use spaces"
        return YamlError.at(reason or "not valid YAML", self.text, index)
