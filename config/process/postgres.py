"""Checks of `manage.py doctor` in PostgreSQL; doctor.py reports whether it answers at all."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db import OperationalError, connection

from config.process.doctor import FAULT, HINT, OK, Finding
from config.storage import database
from config.web.http import threads

CLOCK_HINT_S, CLOCK_FAULT_S = 1.0, 10.0  # a lease is 30 s by its holder's clock
MUCH_GB = 20
CLUSTER = 8  # connections of a qcluster, besides one per running turn
LIMITS = """
    SELECT current_setting('max_connections')::int
           - current_setting('superuser_reserved_connections')::int,
           (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
           (SELECT datconnlimit FROM pg_database WHERE datname = current_database()),
           (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()),
           (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user),
           (SELECT count(*) FROM pg_stat_activity WHERE usename = current_user),
           (SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()
                AND application_name = 'svc')
"""
TRIGRAMS = """
    SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm'),
           EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm')
"""


def check() -> Iterator[Finding]:
    if connection.vendor != "postgresql":
        return
    try:
        connection.ensure_connection()
    except OperationalError:
        return
    yield from _taking()
    yield from _extension()
    yield from _connections()
    yield from _clock()
    yield from _size()


def _row(statement: str) -> tuple[Any, ...]:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        row: tuple[Any, ...] = cursor.fetchone()
    return row


def _taking() -> Iterator[Finding]:
    (only_reads,) = _row("SELECT current_setting('transaction_read_only')::bool")
    if only_reads:
        text = (
            f"{database.name()} takes nothing: it is a standby, or default_transaction_read_only "
            "is on, as a provider sets it when the disk is full"
        )
        yield Finding(FAULT, "database", text)


def _extension() -> Iterator[Finding]:
    made, there = _row(TRIGRAMS)
    if made:
        yield Finding(OK, "extension", "pg_trgm")
    elif not there:
        text = "pg_trgm is not installed on its machine: in Debian it is part of `postgresql`"
        yield Finding(FAULT, "extension", text)
    else:
        text = f"pg_trgm is missing in {database.name()}: CREATE EXTENSION pg_trgm"
        yield Finding(FAULT, "extension", text)


def _connections() -> Iterator[Finding]:
    """Connections that this service holds already count as available: it may be running."""
    most, used, of_database, by_database, of_user, by_user, ours = _row(LIMITS)
    left = [("max_connections", most - used)]
    left += [("the CONNECTION LIMIT of the database", of_database - by_database)] * (
        of_database >= 0
    )
    left += [("the CONNECTION LIMIT of its user", of_user - by_user)] * (of_user >= 0)
    bound, free = min(left, key=lambda one: one[1])
    need = threads.SIZE + threads.BRIEF + CLUSTER + settings.SVC.running_turns
    if free + ours < need:
        text = (
            f"{max(0, free + ours)} connections for this service, a busy server may want {need}: "
            f"raise {bound}, or lower limits.runningTurns"
        )
        yield Finding(HINT, "connections", text)
    else:
        yield Finding(OK, "connections", f"{free + ours} for this service, up to {need} are used")


def _clock() -> Iterator[Finding]:
    """The time of the round trip does not count as a difference between the clocks."""
    before = time.time()
    (theirs,) = _row("SELECT extract(epoch FROM clock_timestamp())::float8")
    after = time.time()
    off = max(before - theirs, theirs - after, 0.0)
    if off <= CLOCK_HINT_S:
        yield Finding(OK, "clock", "that of the database is ours")
        return
    level = FAULT if off > CLOCK_FAULT_S else HINT
    which = "ahead of" if theirs > after else "behind"
    text = f"that of the database is {off:.0f} s {which} ours: run NTP on both machines"
    yield Finding(level, "clock", text)


def _size() -> Iterator[Finding]:
    (size,) = _row("SELECT pg_database_size(current_database())")
    if size > MUCH_GB * 1024**3:
        text = (
            f"{size // 1024**3} GB: lower retention.runDays and retention.auditDays, then "
            "VACUUM FULL gives the room back"
        )
        yield Finding(HINT, "database size", text)
    else:
        yield Finding(OK, "database size", f"{size // 1024**2} MB")
