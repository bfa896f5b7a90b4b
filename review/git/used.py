"""Rows of the index by the day they were last used: those that nothing asks for go.

All can be made again while git has the commit, and a review's own file has what recognises one that
git has not. See docs/design/review.md#reading-git.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta

from django.db import DatabaseError

from config.storage import ranges
from review.models import CommitRow, PatchRow

log = logging.getLogger(__name__)

KEPT = timedelta(days=90)
SEEN = timedelta(days=7)  # a row is written no more often for being read
CHUNK = 500  # parameters of one query
Table = type[CommitRow] | type[PatchRow]


def today() -> date:
    return datetime.now(UTC).date()


def see(table: Table, read: Iterable[tuple[str, date | None]]) -> None:
    """These keys of one query were read, last on that day before; of an earlier release it is not
    known."""
    now = today()
    old = [key for key, used in read if used is None or abs(now - used) >= SEEN]
    if not old:
        return
    try:
        table._default_manager.filter(pk__in=old).update(used=now)
    except DatabaseError as error:  # a full or read-only disk: at worst they are made again
        log.warning("the use of rows is not noted", extra={"why": str(error)})


def drop_unused() -> int:
    """Take away what was not used for 90 days; how many rows."""
    count = 0
    try:
        for table in (CommitRow, PatchRow):
            rows = table._default_manager
            while keys := list(rows.filter(used=None).values_list("pk", flat=True)[:CHUNK]):
                rows.filter(pk__in=keys).update(used=today())
            count += ranges.delete(rows.filter(used__lt=today() - KEPT))
    except DatabaseError as error:
        log.warning("rows that nothing uses stay", extra={"why": str(error)})
    return count
