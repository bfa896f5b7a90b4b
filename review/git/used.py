"""Index rows by the day they were last used: rows that nothing reads are deleted.

Every row can be rebuilt while git has the commit; for a commit that git has lost, a review's own
file holds what identifies it. See docs/design/review.md#reading-git.
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
SEEN = timedelta(days=7)  # reading a row updates its day no more often
CHUNK = 500  # parameters of one query
Table = type[CommitRow] | type[PatchRow]


def today() -> date:
    return datetime.now(UTC).date()


def see(table: Table, read: Iterable[tuple[str, date | None]]) -> None:
    """Note that these rows were read; with each key comes the day it was last read, None for a row
    of an earlier release."""
    now = today()
    old = [key for key, used in read if used is None or abs(now - used) >= SEEN]
    if not old:
        return
    try:
        table._default_manager.filter(pk__in=old).update(used=now)
    except DatabaseError as error:  # a full or read-only disk: at worst rows are rebuilt
        log.warning("the use of rows is not noted", extra={"why": str(error)})


def drop_unused() -> int:
    """Delete the rows that were not used for 90 days; return how many."""
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
