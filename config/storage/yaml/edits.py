"""Turns an old node and a new value into replacements of text, as few and as small as possible."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import orjson

from config.storage.yaml import layout, render, scalars
from config.storage.yaml.layout import Layout, Slot
from config.storage.yaml.nodes import ALIAS, MAP, SCALAR, SEQ, Document, Node, Pair

COMMENT = re.compile(r"^[ ]*#", re.MULTILINE)


def same(one: Any, other: Any) -> bool:
    """Equal as JSON, so that 1, 1.0 and true differ and the order of keys does not."""
    return _canonical(one) == _canonical(other)


def _canonical(value: Any) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)


class Edits:
    """Replacements for one document, collected by `put` and applied at once."""

    def __init__(self, document: Document, *, literal: bool, shared: bool = False) -> None:
        self.root = document.root
        self.text = document.text
        self.layout = Layout(document.text)
        self.newline = newline(document.text)
        self.step = layout.step_of(document, render.STEP)
        self.literal = literal
        self.shared = shared
        self.found: list[tuple[int, int, str]] = []

    def text_for(self, value: Any) -> str:
        """The text, changed so that it holds `value`."""
        if self.root.kind == SCALAR and self.root.value is None:
            lines = render.entry(value, 0, self.step, literal=self.literal)[1]
            self.prepend(len(self.text), lines)
        elif self.root.kind == MAP and not self.root.pairs and isinstance(value, dict):
            lines = render.pairs(value, 0, self.step, literal=self.literal)
            self._edit(self.root.start, self.root.end, self.newline.join(lines))
        elif (self.root.flow and not self.shared) or self.root.kind == SCALAR:
            raise self.layout.refuse("the file is written in one line", self.root)
        else:
            self.put(None, self.root, value)
        return self._apply()

    def _apply(self) -> str:
        parts, at = [], 0
        for start, end, new in sorted(self.found, key=lambda edit: edit[:2]):
            below = start < at and new.startswith(self.newline)  # after lines cut with their end
            parts += [self.text[at:start], _with_line_ends(new, self.newline) if below else new]
            at = max(at, end)
        return "".join(parts) + self.text[at:]

    def put(self, slot: Slot | None, node: Node, value: Any) -> None:
        """Make `node` hold `value`. Without a slot, the node is inside a flow collection."""
        if same(node.value, value):
            return
        if node.kind == ALIAS:
            raise self.layout.refuse("this is an alias of something written elsewhere", node)
        if (
            node.kind == MAP
            and isinstance(value, dict)
            and node.pairs
            and (value or node is self.root or self._has_comments(slot, node))
        ):
            self._map(slot, node, value)
        elif node.kind == SEQ and isinstance(value, list) and value and node.items:
            self._seq(slot, node, value)
        elif slot is None:
            self._flow_value(node, value)
        else:
            self._whole(slot, node, value)

    def append(self, at: int, lines: list[str]) -> None:
        """Add lines below the line that ends at `at`."""
        self._edit(at, at, "".join(self.newline + line for line in lines))

    def prepend(self, at: int, lines: list[str]) -> None:
        """Add lines above the line that begins at `at`."""
        self._edit(at, at, "".join(line + self.newline for line in lines))

    def _edit(self, start: int, end: int, new: str = "") -> None:
        if new or end > start:
            self.found.append((start, end, new))

    # -- mappings ------------------------------------------------------------------------------

    def _map(self, slot: Slot | None, node: Node, value: dict[str, Any]) -> None:
        kept = [pair for pair in node.pairs if pair[0].value in value]
        added = {key: inner for key, inner in value.items() if key not in node.value}
        if node.flow:
            self._flow_map(node, value, kept, added)
        elif kept or self.layout.opens_line(node.pairs[0][0].start):
            self._block_map(node, value, kept, added)
        else:
            self._whole(self._behind(slot, node), node, value)

    def _block_map(
        self, node: Node, value: dict[str, Any], kept: list[Pair], added: dict[str, Any]
    ) -> None:
        for pair in kept:
            if not same(pair[1].value, value[pair[0].value]):
                self.put(self.layout.pair_slot(pair), pair[1], value[pair[0].value])
        first = node.pairs[0][0].start
        column = self.layout.column(first)
        lines = render.pairs(added, column, self.step, literal=self.literal)
        if not value:
            lines = [" " * column + "{}"]
        if kept:
            self.append(self.layout.entry_end(kept[-1][1], column), lines)
        else:
            self.prepend(self.layout.line_start(first), lines)
        starts = [key.start for key, _ in node.pairs]
        gone = [key.value not in value for key, _ in node.pairs]
        self._cut(starts, [inner for _, inner in node.pairs], gone)

    def _cut(self, starts: list[int], values: Sequence[Node], gone: list[bool]) -> None:
        """Remove entries of a block collection with their lines."""
        column = self.layout.column(starts[0])
        leading = 0
        if not self.layout.opens_line(starts[0]):  # the first shares its line with a dash
            leading = gone.index(False)
            if leading:
                end = self.layout.entry_end(values[leading - 1], column)
                rest = self.text[end:]
                self._edit(starts[0], end + len(rest) - len(rest.lstrip()))
        for index in range(leading, len(starts)):
            if gone[index]:
                start = self.layout.line_start(starts[index])
                end = self.layout.entry_end(values[index], column)
                self._edit(start, self.layout.next_line(end))

    def _has_comments(self, slot: Slot | None, node: Node) -> bool:
        """Whether there are comment lines among the entries of a block mapping."""
        if slot is None or node.flow:
            return False
        return bool(COMMENT.search(self.text, slot.intro, self.layout.end(node)))

    # -- sequences -----------------------------------------------------------------------------

    def _seq(self, slot: Slot | None, node: Node, value: list[Any]) -> None:
        old = node.items
        front = _common([item.value for item in old], value)
        back = _common(
            [item.value for item in reversed(old[front:])], list(reversed(value[front:]))
        )
        changed, wanted = old[front : len(old) - back], value[front : len(value) - back]
        both = min(len(changed), len(wanted))
        if node.flow:
            for item, new in zip(changed, wanted, strict=False):
                self.put(None, item, new)
            self._flow_cut(
                [(i.start, i.end) for i in old], range(front + both, front + len(changed))
            )
            self._flow_items(old, front + both, [render.flow(new) for new in wanted[both:]])
            return
        dashes = self.layout.dashes(node)
        column = self.layout.column(dashes[0])
        if not self.layout.opens_line(dashes[0]) and front + both == 0:
            self._whole(self._behind(slot, node), node, value)
            return
        for index, new in enumerate(wanted[:both], start=front):
            self.put(Slot(dashes[index] + 1, column, dash=True), old[index], new)
        self._add_items(old, dashes, front + both, wanted[both:])
        gone = [front + both <= index < front + len(changed) for index in range(len(old))]
        self._cut(dashes, old, gone)

    def _add_items(
        self, old: Sequence[Node], dashes: list[int], index: int, new: list[Any]
    ) -> None:
        """Insert items before the item `index` of a block sequence."""
        column = self.layout.column(dashes[0])
        lines = [
            line
            for item in new
            for line in render.item_lines(item, column, self.step, literal=self.literal)
        ]
        if index:
            self.append(self.layout.entry_end(old[index - 1], column), lines)
        elif lines:
            self.prepend(self.layout.line_start(dashes[0]), lines)

    def _flow_items(self, old: Sequence[Node], index: int, texts: list[str]) -> None:
        """Insert items before the item `index` of a flow sequence; some old items always remain."""
        if texts and index:
            self._edit(old[index - 1].end, old[index - 1].end, "".join(f", {x}" for x in texts))
        elif texts:
            self._edit(old[0].start, old[0].start, "".join(f"{x}, " for x in texts))

    # -- flow collections ------------------------------------------------------------------------

    def _flow_map(
        self, node: Node, value: dict[str, Any], kept: list[Pair], added: dict[str, Any]
    ) -> None:
        for key, inner in kept:
            self.put(None, inner, value[key.value])
        spans = [(key.start, inner.end) for key, inner in node.pairs]
        gone = [i for i, (key, _) in enumerate(node.pairs) if key.value not in value]
        self._flow_cut(spans, gone)
        texts = [f"{scalars.render(key)}: {render.flow(inner)}" for key, inner in added.items()]
        if kept:
            self._edit(kept[-1][1].end, kept[-1][1].end, "".join(f", {text}" for text in texts))
        else:
            self._edit(spans[0][0], spans[0][0], ", ".join(texts))

    def _flow_cut(self, spans: list[tuple[int, int]], gone: range | list[int]) -> None:
        kept = [index for index in range(len(spans)) if index not in gone]
        for index in gone:
            start, end = spans[index]
            if any(k < index for k in kept):
                start = spans[index - 1][1]
            elif index + 1 < len(spans):
                end = spans[index + 1][0]
            self._edit(start, end)

    def _flow_value(self, node: Node, value: Any) -> None:
        new = render.flow(value)
        if node.start == node.end and self.text[node.start - 1 : node.start] != " ":
            new = f" {new}" if self.text[node.start - 1 : node.start] == ":" else f": {new}"
        self._edit(node.start, node.end, new)

    # -- whole values ----------------------------------------------------------------------------

    def _whole(self, slot: Slot, node: Node, value: Any) -> None:
        """Write a value of another kind: the text after the colon or dash, and the lines below."""
        if isinstance(value, dict) and value and self._empty_line(slot, node):
            lines = render.pairs(
                value, self.layout.column(node.start), self.step, literal=self.literal
            )
            self._edit(node.start, node.end, self.newline.join(lines).lstrip(" "))
            return
        start, end, below = self._extent(slot, node)
        indent = slot.column + (2 if slot.dash else self.step)
        how = render.behind_dash if slot.dash else render.entry
        head, body = how(
            value, slot.column if slot.dash else indent, self.step, literal=self.literal
        )
        if not head:
            start = slot.intro
        elif self.text[start - 1 : start] not in {" ", "\t", "\n"}:
            head = f" {head}"
        self._edit(start, end, head)
        at = self.layout.line_end(end)
        self._edit(at, max(at, below), "".join(self.newline + line for line in body))

    def _behind(self, slot: Slot | None, node: Node) -> Slot:
        """The slot of a block collection that begins on the line of a dash. At the top of the file
        there is none: such a file has a `?` before it, or line ends that no file of ours has."""
        if slot is None:
            raise self.layout.refuse("this is written in a way that cannot be edited", node)
        return slot

    def _empty_line(self, slot: Slot, node: Node) -> bool:
        """Whether this is a {} on a line below its key, perhaps with comments between the two."""
        own_line = self.layout.opens_line(node.start) and self.layout.column(node.start)
        return node.kind == MAP and not node.pairs and own_line > slot.column

    def _extent(self, slot: Slot, node: Node) -> tuple[int, int, int]:
        """Start and end of a value on the line of its key, and the end of its lines below."""
        if self.layout.is_block(node):
            last = self.layout.entry_end(node, slot.column)
            same_line = self.layout.line_start(node.start) == self.layout.line_start(slot.intro)
            first = node.pairs[0][0].start if node.pairs else self.layout.dashes(node)[0]
            if self.layout.line_start(first) == self.layout.line_start(slot.intro):
                return node.start, last, last
            if not same_line:
                return slot.intro, slot.intro, last
            match = layout.PROPERTIES.match(self.text, node.start)
            return node.start, match.end() if match else node.start, last
        if node.kind == SCALAR and node.style in {"|", ">"}:
            match = layout.HEADER.match(self.text, node.start)
            head = match.end() if match else node.start
            return node.start, head, self.layout.line_end(self.layout.end(node))
        return node.start, node.end, node.end


def _with_line_ends(lines: str, newline: str) -> str:
    """Turn lines that each begin with a line end into lines that each end with one."""
    return lines.removeprefix(newline) + newline


def newline(text: str) -> str:
    first = text.find("\n")
    return "\r\n" if first > 0 and text[first - 1] == "\r" else "\n"


def _common(one: list[Any], other: list[Any]) -> int:
    """How many items are equal, from the front."""
    count = 0
    for left, right in zip(one, other, strict=False):
        if not same(left, right):
            break
        count += 1
    return count
