"""Documents that were parsed a moment ago: a file is read, written and read again.

All callers get the same document: who changes a value of it takes a copy first.
"""

from __future__ import annotations

from config.storage.yaml import reader, reparse
from config.storage.yaml.nodes import SIZE, Document, most_nodes

MOST, LARGEST = 8, 1 << 18  # documents, and bytes of each

_known: tuple[tuple[bytes, Document], ...] = ()  # replaced whole: readers need no lock


def parse(
    data: bytes,
    *,
    limit: int = SIZE,
    aliases: bool = True,
    nodes: int | None = None,
    before: Document | None = None,
) -> Document:
    """As reader.parse, without the work when these bytes were parsed a moment ago, and with less of
    it when they are UTF-8 and differ in one place from the document `before`.
    """
    global _known  # noqa: PLW0603 - what is remembered is the point
    for known, document in _known:
        if known == data and document.within(limit=limit, aliases=aliases, nodes=nodes):
            return document
    made = None
    if before is not None and len(data) <= limit:
        made = reparse.reparse(before, data.decode(), nodes=nodes or most_nodes(limit))
    document = made or reader.parse(data, limit=limit, aliases=aliases, nodes=nodes)
    if len(data) <= LARGEST:
        others = tuple(one for one in _known if one[0] != data)
        _known = ((data, document), *others)[:MOST]
    return document


def clear() -> None:
    """Forget them all."""
    global _known  # noqa: PLW0603
    _known = ()
