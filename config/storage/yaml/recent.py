"""A cache of recently parsed documents: a file is read, written and read again.

All callers get the same document: to change a value of it, copy it first.
"""

from __future__ import annotations

from collections.abc import Iterable

from config.storage.yaml import reader, reparse
from config.storage.yaml.nodes import SIZE, Document, most_nodes

MOST, ROOM = 8, 1 << 20  # how many documents, and how many bytes together

_known: tuple[tuple[bytes, Document], ...] = ()  # replaced as a whole: readers need no lock


def parse(
    data: bytes,
    *,
    limit: int = SIZE,
    aliases: bool = True,
    nodes: int | None = None,
    before: Document | None = None,
) -> Document:
    """Like reader.parse, but without parsing if these bytes were parsed a moment ago, and with less
    of it if they are UTF-8 and differ in one place from the document `before`."""
    global _known  # noqa: PLW0603 - what is remembered is the point
    for known, document in _known:
        if known == data and document.within(limit=limit, aliases=aliases, nodes=nodes):
            return document
    made = None
    if before is not None and len(data) <= limit:
        made = reparse.reparse(before, data.decode(), nodes=nodes or most_nodes(limit))
    document = made or reader.parse(data, limit=limit, aliases=aliases, nodes=nodes)
    if len(data) <= ROOM:
        others = (one for one in _known if one[0] != data)
        _known = _fitting(((data, document), *others))
    return document


def _fitting(known: Iterable[tuple[bytes, Document]]) -> tuple[tuple[bytes, Document], ...]:
    """The first of them, as many as there is room for."""
    found = tuple(known)[:MOST]
    while sum(len(data) for data, _ in found) > ROOM:
        found = found[:-1]
    return found


def clear() -> None:
    """Empty the cache."""
    global _known  # noqa: PLW0603
    _known = ()
