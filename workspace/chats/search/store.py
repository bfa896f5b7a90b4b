"""The store of the search: SQLite's FTS5 over the table of passages, and nobody else knows.

Trigrams, because people look for parts of code: `ser_id` in `user_id`, `app/main` in a path, two
words of a language without spaces. Passages are numbered by time, so the newest come first without
sorting. Another database needs another module like this one, and its own migration.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import OperationalError, connection

GRAM = 3  # shorter terms are no part of the index: they are looked for in the passages themselves
BUDGET_S = 2.0
STEPS = 10_000  # of SQLite's machine between two looks at the clock
NEWEST = 50_000  # passages that are looked through for short terms alone


class TooLong(Exception):
    """The search was given up after BUDGET_S."""


@dataclass(frozen=True, slots=True)
class Found:
    """One passage that holds every term."""

    id: int
    project: str
    chat: str
    name: str
    archived: bool
    offset: int


INDEXED = """
    SELECT p.id, c.project, c.id, c.name, c.archived, p.offset FROM workspace_passage_text
    CROSS JOIN workspace_passage p ON p.id = workspace_passage_text.rowid
    JOIN workspace_chat c ON c.id = p.chat_id
    WHERE workspace_passage_text MATCH %s AND workspace_passage_text.rowid < %s {more}
    ORDER BY workspace_passage_text.rowid DESC LIMIT %s
"""
SCANNED = """
    SELECT p.id, c.project, c.id, c.name, c.archived, p.offset
    FROM workspace_passage p JOIN workspace_chat c ON c.id = p.chat_id
    WHERE p.id > COALESCE(
        (SELECT id FROM workspace_passage ORDER BY id DESC LIMIT 1 OFFSET %s), -1
    ) AND p.id < %s {more}
    ORDER BY p.id DESC LIMIT %s
"""
LAST = (1 << 63) - 1


def find(
    terms: Sequence[str], *, project: str | None, before: int | None, limit: int
) -> list[Found]:
    """Passages that hold all of these folded terms, the newest first. TooLong."""
    indexed = [term for term in terms if len(term) >= GRAM]
    short = [term for term in terms if len(term) < GRAM]
    more = " AND instr(p.text, %s)" * len(short) + (" AND c.project = %s" if project else "")
    named = [project] if project else []
    statement = (INDEXED if indexed else SCANNED).format(more=more)
    source: Any = _match(indexed) if indexed else NEWEST
    with _bounded(), connection.cursor() as cursor:
        cursor.execute(
            statement, [source, LAST if before is None else before, *short, *named, limit]
        )
        rows = cursor.fetchall()
    return [
        Found(number, slug, chat, name, bool(archived), offset)
        for number, slug, chat, name, archived, offset in rows
    ]


def _match(indexed: Sequence[str]) -> str:
    """All of the terms; quoted, none of them is an operator."""
    return " AND ".join('"{}"'.format(term.replace('"', '""')) for term in indexed)


@contextmanager
def _bounded() -> Iterator[None]:
    connection.ensure_connection()
    deadline = time.monotonic() + BUDGET_S
    raw = connection.connection
    raw.set_progress_handler(lambda: time.monotonic() > deadline, STEPS)
    try:
        yield
    except OperationalError as error:
        if "interrupted" in str(error):
            raise TooLong from None
        raise
    finally:
        raw.set_progress_handler(None, 0)
