"""How PostgreSQL finds text: LIKE over an index of trigrams, pg_trgm (migration 0003)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import OperationalError, connection, transaction

SOURCE = "workspace_passage p"
NUMBER = "p.id"
HOLDS = "strpos(p.text, %s) > 0"
CANCELED = "57014"  # SQLSTATE query_canceled
OPERATORS = re.compile(r"([\\%_])")


def matching(terms: Sequence[str]) -> tuple[str, list[str]]:
    """The SQL condition that a passage contains all terms; escaped, so that none is a pattern."""
    patterns = ["%" + OPERATORS.sub(r"\\\1", term) + "%" for term in terms]
    return " AND ".join(["p.text LIKE %s"] * len(patterns)), patterns


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Raise TimeoutError if a statement takes longer."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(f"SET LOCAL statement_timeout = {int(seconds * 1000)}")
            yield
    except OperationalError as error:
        if getattr(error.__cause__, "sqlstate", "") == CANCELED:
            raise TimeoutError from None
        raise
