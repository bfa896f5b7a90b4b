"""HTML as nested lists of ["tag", child, ...] and texts, without what only one renderer adds.

tests/js/kit/outline.js makes the same of the nodes of a page, so that one set of texts holds both
renderers of Markdown: tests/fixtures/markdown.json.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

EMPTY = {"br", "hr", "img"}
SEEN_THROUGH = {"span", "thead", "tbody"}


def outline(html: str) -> list[Any]:
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return _tidy(reader.open[0])[1:]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[list[Any]] = [[""]]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given, above = dict(attrs), self.open[-1]
        if tag == "input":
            above.append(["[x]" if "checked" in given else "[ ]"])
        elif tag in EMPTY:
            above.append([tag])
        elif tag == "code" and above[0] == "pre":
            above[0] = f"pre {(given.get('class') or '').removeprefix('language-')}".strip()
            self.open.append(above)
        elif tag in SEEN_THROUGH:
            self.open.append(above)
        elif tag == "p" and above[0] == "li":
            above.append(" ")
            self.open.append(above)
        else:
            above.append(one := [_name(tag, given)])
            self.open.append(one)

    def handle_endtag(self, tag: str) -> None:
        if tag not in EMPTY and tag != "input":
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].append(data)


def _name(tag: str, given: dict[str, str | None]) -> str:
    more = {"a": given.get("href"), "ol": given.get("start")}.get(tag)
    return f"{tag} {more}" if more else tag


def _tidy(node: list[Any]) -> list[Any]:
    """White space as a page shows it."""
    name, *children = node
    kept: list[Any] = []
    for child in children:
        one = _tidy(child) if isinstance(child, list) else child
        if isinstance(one, str) and kept and isinstance(kept[-1], str):
            kept[-1] += one
        else:
            kept.append(one)
    if name.startswith("pre"):
        return [name, "".join(kept).rstrip("\n")]
    texts = [one if isinstance(one, list) else re.sub(r"\s+", " ", one).strip() for one in kept]
    return [name, *(one for one in texts if one)]
