"""Positions in YAML text: lines, ends of entries, dashes. Knows nothing of values."""

from __future__ import annotations

import re
from dataclasses import dataclass

from config.storage.yaml.errors import NotSpliceable
from config.storage.yaml.nodes import MAP, SEQ, Document, Node, Pair

PROPERTIES = re.compile(r"(?:[&!]\S*[ \t]*)*")
HEADER = re.compile(r"(?:[&!]\S*[ \t]+)*[|>][-+0-9]*")
GAP = re.compile(r"(?:[ \t\r\n]+|(?:^|(?<=[ \t\r\n]))#[^\n]*)*")
COMMENT_LINE = re.compile(r"\r?\n([ ]*)#[^\r\n]*")


@dataclass(frozen=True, slots=True)
class Slot:
    """The position of a value: directly after its colon or dash, in the column of its entry."""

    intro: int
    column: int
    dash: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """One text. Every position is a character index."""

    text: str

    def line_start(self, at: int) -> int:
        return self.text.rfind("\n", 0, at) + 1

    def line_end(self, at: int) -> int:
        """The position before the line break of the line that contains `at`."""
        end = self.text.find("\n", at)
        end = len(self.text) if end < 0 else end
        return end - 1 if end > at and self.text[end - 1] == "\r" else end

    def next_line(self, at: int) -> int:
        end = self.text.find("\n", at)
        return len(self.text) if end < 0 else end + 1

    def column(self, at: int) -> int:
        return at - self.line_start(at)

    def opens_line(self, at: int) -> bool:
        """Whether only blanks precede `at` in its line."""
        return not self.text[self.line_start(at) : at].strip(" ")

    def token(self, at: int) -> int:
        """The next position that is neither blank nor comment."""
        match = GAP.match(self.text, at)
        return match.end() if match else at

    def end(self, node: Node) -> int:
        """The end of the last character of a value; trailing blank lines do not belong to it."""
        leaf = node.last()
        if leaf.style not in {"|", ">"}:
            return leaf.end
        header = HEADER.match(self.text, leaf.start)
        if header and "+" in header[0]:
            return self.line_end(max(leaf.end - 1, header.end()))
        return max(leaf.start, leaf.start + len(self.text[leaf.start : leaf.end].rstrip()))

    def entry_end(self, node: Node, column: int) -> int:
        """The end of the entry's last line, including comment lines below that indent deeper."""
        end = self.line_end(self.end(node))
        while match := COMMENT_LINE.match(self.text, end):
            if len(match[1]) <= column:
                break
            end = match.end()
        return end

    def pair_slot(self, pair: Pair) -> Slot:
        key, value = pair
        colon = self.text.find(":", key.end)
        if colon < 0 or (colon > max(value.start, key.end + 1) and not self.opens_line(colon)):
            raise self.refuse("this key is written in a way that cannot be edited", key)
        return Slot(colon + 1, self.column(key.start))

    def dashes(self, node: Node) -> list[int]:
        """The position of the dash of every item of a block sequence."""
        found = []
        at = node.start
        if self.text[at] != "-":
            match = PROPERTIES.match(self.text, at)
            at = self.token(match.end() if match else at)
        for item in node.items:
            at = self.token(at)
            if self.text[at : at + 1] != "-":
                raise self.refuse("this list is written in a way that cannot be edited", item)
            found.append(at)
            at = max(self.end(item), at + 1)
        return found

    def is_block(self, node: Node) -> bool:
        return node.kind in {MAP, SEQ} and not node.flow

    def refuse(self, reason: str, node: Node) -> NotSpliceable:
        line = self.text.count("\n", 0, node.start) + 1
        return NotSpliceable(reason, line, self.column(node.start) + 1)


def step_of(document: Document, default: int) -> int:
    """By how much this file indents: its first nested block decides."""
    layout = Layout(document.text)
    waiting = [document.root]
    while waiting:
        node = waiting.pop(0)
        for key, value in node.pairs if not node.flow else []:
            first = value.pairs[0][0] if value.pairs else None
            if first and not value.flow and layout.opens_line(first.start):
                return max(1, layout.column(first.start) - layout.column(key.start))
            waiting.append(value)
    return default
