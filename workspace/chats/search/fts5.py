"""How SQLite finds text: FTS5's trigrams over the table of passages (migration 0003)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import OperationalError, connection

STEPS = 10_000  # steps of SQLite's virtual machine between two looks at the clock
SOURCE = """
    workspace_passage_text CROSS JOIN workspace_passage p ON p.id = workspace_passage_text.rowid
"""
NUMBER = "workspace_passage_text.rowid"
HOLDS = "instr(p.text, %s) > 0"


def matching(terms: Sequence[str]) -> tuple[str, list[str]]:
    """The SQL condition that a passage contains all terms; quoted, so that none is an operator."""
    words = " AND ".join('"{}"'.format(term.replace('"', '""')) for term in terms)
    return "workspace_passage_text MATCH %s", [words]


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Raise TimeoutError if a statement takes longer."""
    connection.ensure_connection()
    deadline = time.monotonic() + seconds
    raw = connection.connection
    raw.set_progress_handler(lambda: time.monotonic() > deadline, STEPS)
    try:
        yield
    except OperationalError as error:
        if "interrupted" in str(error):
            raise TimeoutError from None
        raise
    finally:
        raw.set_progress_handler(None, 0)
