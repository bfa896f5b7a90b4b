"""Parses a text that differs in one place from a document: only the entry with the change is read.

Block YAML allows that. Where an entry begins, at a key or a dash that opens its line, the parser is
in the collections around it whatever came before; and the entry ends before the next line that
begins an entry of one of these, as it would at the end of a file. So its lines, read as a file of
their own, have the same meaning as in place. Whatever has effects across entries (anchors,
directives, document markers), and a change after which the lines are not such an entry any more, is
left to the parser: the result is None then, and the parser reads the whole text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from config.storage.yaml import reader
from config.storage.yaml.errors import YamlError
from config.storage.yaml.layout import Layout
from config.storage.yaml.nodes import SEQ, Document, Node, Pair

# libyaml ends a line at these too, and recognises a directive and the markers by their first
# column. An empty value after an explicit key has the position of the next token.
MARK = re.compile("(?:^|[\r\n\x85\u2028\u2029])(?:---|\\.\\.\\.|%|[- \t]*\\?)")
LEAST = 1 << 12  # characters: a smaller text is parsed as quickly


@dataclass(frozen=True, slots=True)
class _Entry:
    """The lines of one entry of a block collection, the innermost that holds the change."""

    above: tuple[tuple[Node, int], ...]  # the collections around it, each with the index in it
    start: int  # of its first line
    first: int  # of its key or dash
    end: int


def reparse(before: Document, text: str, *, nodes: int, least: int = LEAST) -> Document | None:
    """The document that reader.parse would make of `text` with the limit `nodes`, or None."""
    if len(text) < least or before.aliased or "%" in before.text[: before.root.start]:
        return None
    entry = _entry(before, *_change(before.text, text))
    if entry is None:
        return None
    made = _read(entry, before.text, text, nodes)
    root = _put(entry, made, len(text) - len(before.text)) if made else None
    if root is None or root.weight > nodes:
        return None
    return Document(root.value, text, root)


def _read(entry: _Entry, old: str, new: str, nodes: int) -> Node | None:
    """The entry's lines in the new text as a collection like the one around it, of one entry or
    more; None if they are not one."""
    lines = new[entry.start : entry.end + len(new) - len(old)]
    opening = slice(entry.start, entry.first + 1)
    ends = lines.endswith("\n") or entry.end == len(old)
    if new[opening] != old[opening] or not ends or MARK.search(lines):
        return None
    depth = reader.DEPTH - len(entry.above) + 1
    try:
        found = reader.parse(lines.encode(), limit=4 * len(lines), depth=depth, nodes=nodes)
    except (YamlError, UnicodeEncodeError):
        return None
    made, (around, _) = found.root, entry.above[-1]
    alike = made.kind == around.kind and made.start == entry.first - entry.start
    return made if alike and not made.flow and not found.aliased else None


def _change(old: str, new: str) -> tuple[int, int]:
    """The start of the first line of the old text that differs, and where its equal end begins."""
    most = min(len(old), len(new))
    start = _longest(most, lambda size: old[:size] == new[:size])
    start = old.rfind("\n", 0, start) + 1
    tail = _longest(most - start, lambda size: old[len(old) - size :] == new[len(new) - size :])
    return start, len(old) - tail


def _longest(most: int, holds: Callable[[int], bool]) -> int:
    """The largest size up to `most` for which `holds` is true; it is true for every smaller one."""
    least = 0
    while least < most:
        middle = (least + most + 1) // 2
        if holds(middle):
            least = middle
        else:
            most = middle - 1
    return least


def _entry(document: Document, start: int, end: int) -> _Entry | None:
    layout = Layout(document.text)
    node, limit = document.root, len(document.text)
    above: tuple[tuple[Node, int], ...] = ()
    found = None
    while firsts := _firsts(layout, node):
        starts = [*map(layout.line_start, firsts), limit]
        at = bisect_left(starts, start) - 1  # lines between two entries go with the first
        if at < 0 or end > starts[at + 1]:
            at += 1
        if at == len(firsts) or start < starts[at] or end > starts[at + 1]:
            break
        above = (*above, (node, at))
        limit = starts[at + 1]
        found = _Entry(above, starts[at], firsts[at], limit)
        node = node.items[at] if node.items else node.pairs[at][1]
    return found


def _firsts(layout: Layout, node: Node) -> list[int]:
    """Where the entries of a block collection begin; empty if one does not begin its line."""
    if node.flow:
        return []
    firsts = [key.start for key, _ in node.pairs]
    if node.items:
        try:
            firsts = layout.dashes(node)
        except YamlError:
            return []
    return firsts if all(map(layout.opens_line, firsts)) else []


def _put(entry: _Entry, made: Node, grown: int) -> Node | None:
    """The root with the entries of `made` in place of the old one; None for a duplicate key."""
    around, at = entry.above[-1]
    new = made.shift(entry.start)
    node = _replace_entry(around, at, new.items, new.pairs, grown)
    if len(node.value) != len(node.items or node.pairs):
        return None
    for above, place in reversed(entry.above[:-1]):
        items = [node] if above.items else []
        pairs = [(above.pairs[place][0], node)] if above.pairs else []
        node = _replace_entry(above, place, items, pairs, grown)
    return node


def _replace_entry(
    node: Node, at: int, items: Sequence[Node], pairs: Sequence[Pair], grown: int
) -> Node:
    """The collection with these in place of the entry `at`; the nodes after it are moved."""
    made = Node(node.kind, node.start, None, node.end + grown)
    if node.kind == SEQ:
        rest = [item.shift(grown) for item in node.items[at + 1 :]]
        made.hold((), [*node.items[:at], *items, *rest])
        made.value = [item.value for item in made.items]
        made.weight = 1 + sum(item.weight for item in made.items)
    else:
        moved = [(key.shift(grown), one.shift(grown)) for key, one in node.pairs[at + 1 :]]
        made.hold([*node.pairs[:at], *pairs, *moved], ())
        made.value = {key.value: one.value for key, one in made.pairs}
        made.weight = 1 + sum(key.weight + one.weight for key, one in made.pairs)
    return made
