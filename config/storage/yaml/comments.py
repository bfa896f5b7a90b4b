"""Comments of YAML text: which there are, and how those of an entry move with it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from config.storage.yaml import recent
from config.storage.yaml.edits import newline, same
from config.storage.yaml.errors import NotSpliceable
from config.storage.yaml.layout import HEADER, Layout
from config.storage.yaml.nodes import ALIAS, SCALAR, Document
from config.storage.yaml.reader import BOM

Path = tuple[str, ...]
_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#[^\r\n]*", re.MULTILINE)


def lost_comments(before: bytes, after: bytes) -> list[str]:
    """The comments of one text that the other lacks, in order."""
    left = Counter(_comments(recent.parse(after)).values())
    gone = []
    for comment in _comments(recent.parse(before)).values():
        left[comment] -= 1
        gone += [comment] if left[comment] < 0 else []
    return gone


def uncover(data: bytes, path: Path) -> bytes:
    """The text without the comments directly above an entry, in its column: they belong to it."""
    document = recent.parse(data)
    layout, start = Layout(document.text), _start(document, path)
    above, found = start, _comments(document)
    while above and layout.line_start(above - 1) + layout.column(start) in found:
        above = layout.line_start(above - 1)
    first = layout.line_start(start)
    if above == start or not layout.opens_line(start):
        return data
    return _encode_checked(data, document, document.text[:above] + document.text[first:])


def cover(data: bytes, path: Path, comments: list[str]) -> bytes:
    """The text with these comments on lines of their own directly above an entry."""
    document = recent.parse(data)
    layout, start = Layout(document.text), _start(document, path)
    first, end = layout.line_start(start), newline(document.text)
    indent = " " * (len(document.text[first:]) - len(document.text[first:].lstrip(" ")))
    lines = "".join(f"{indent}{comment}{end}" for comment in comments)
    return _encode_checked(data, document, document.text[:first] + lines + document.text[first:])


def _encode_checked(data: bytes, document: Document, text: str) -> bytes:
    made = (BOM if data.startswith(BOM) else b"") + text.encode()
    if same(recent.parse(made).value, document.value):
        return made
    raise NotSpliceable("the comments around this cannot be moved", 1, 1)


def _start(document: Document, path: Path) -> int:
    """Where the key of an entry begins; 0 for an entry that only a merge key provides."""
    found = document.entry(*path)
    return found[0].start if found else 0


def _comments(document: Document) -> dict[int, str]:
    """Every comment by its position; a `#` inside a scalar is not one."""
    found: dict[int, str] = {}
    text, at = document.text, 0
    for start, end in [*sorted(_scalar_spans(document)), (len(text), len(text))]:
        found |= {match.start(): match[0] for match in _COMMENT.finditer(text, at, start)}
        at = max(at, end)
    return found


def _scalar_spans(document: Document) -> Iterator[tuple[int, int]]:
    """Start and end of each scalar; for a block scalar, without its header line."""
    layout, waiting = Layout(document.text), [document.root]
    while waiting:
        node = waiting.pop()
        waiting += [*node.items, *(one for pair in node.pairs for one in pair)]
        if node.kind == SCALAR and node.style in {"|", ">"}:
            header = HEADER.match(document.text, node.start)
            line = layout.line_end(header.end() if header else node.start)
            yield line, max(line, layout.end(node))
        elif node.kind in {SCALAR, ALIAS}:
            yield node.start, node.end
