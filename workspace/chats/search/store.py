"""The store of the search: a trigram index over the table of passages.

Trigrams, because people search for parts of code: `ser_id` in `user_id`, `app/main` in a path, or
two words of a language without spaces. Passages are numbered by time, so the newest come first
without sorting. What differs between databases is in fts5.py and trigrams.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from workspace.chats.search import fts5, trigrams

GRAM = 3  # shorter terms are not indexed: the passages themselves are searched
BUDGET_S = 2.0
NEWEST = 50_000  # passages searched if all terms are shorter


class TooLong(Exception):
    """The search was aborted after BUDGET_S."""


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage that contains every term."""

    id: int
    project: str
    chat: str
    name: str
    archived: bool
    offset: int


COLUMNS = "p.id, c.project, c.id, c.name, c.archived, p.offset"
INDEXED = """
    SELECT {columns} FROM {source} JOIN workspace_chat c ON c.id = p.chat_id
    WHERE {matching} AND {number} < %s {more} ORDER BY {number} DESC LIMIT %s
"""
SCANNED = """
    SELECT {columns} FROM workspace_passage p JOIN workspace_chat c ON c.id = p.chat_id
    WHERE p.id > COALESCE(
        (SELECT id FROM workspace_passage ORDER BY id DESC LIMIT 1 OFFSET %s), -1
    ) AND p.id < %s {more} ORDER BY p.id DESC LIMIT %s
"""
LAST = (1 << 63) - 1


def find(
    terms: Sequence[str],
    *,
    project: str | None,
    without: Sequence[str] = (),
    before: int | None,
    limit: int,
) -> list[FoundPassage]:
    """Passages that contain all of these folded terms, newest first: of one project, or of all
    except `without`. Raises TooLong."""
    by = trigrams if connection.vendor == "postgresql" else fts5
    indexed = [term for term in terms if len(term) >= GRAM]
    short = [term for term in terms if len(term) < GRAM]
    more = f" AND {by.HOLDS}" * len(short) + (" AND c.project = %s" if project else "")
    more += f" AND c.project NOT IN ({', '.join(['%s'] * len(without))})" if without else ""
    condition, values = by.matching(indexed) if indexed else ("", [NEWEST])
    statement = (INDEXED if indexed else SCANNED).format(
        columns=COLUMNS, source=by.SOURCE, number=by.NUMBER, matching=condition, more=more
    )
    named = [project] if project else []
    until = LAST if before is None else before
    try:
        with by.bounded(BUDGET_S), connection.cursor() as cursor:
            cursor.execute(statement, [*values, until, *short, *named, *without, limit])
            rows = cursor.fetchall()
    except TimeoutError:
        raise TooLong from None
    return [
        FoundPassage(number, slug, chat, name, bool(archived), offset)
        for number, slug, chat, name, archived, offset in rows
    ]
