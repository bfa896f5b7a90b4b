"""A database after years: 100,000 runs with their turns and a million audit rows, in bulk.

    python -m tests.workspace.filling RUNS AUDIT

In the environment of the service that will show them. What is rare in life is rare here: one run
in fifty failed, one client of six called a thousandth of the time.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, cast

PROJECTS, TRIGGERS, CHUNK = 10, 20, 5000
RUN_DAYS, AUDIT_DAYS = 90, 30
Row = Sequence[Any]


def fill(runs: int, audit: int) -> None:
    """Fill an empty database, with as much memory as PostgreSQL has and nothing to undo it."""
    from django.db import connection, transaction

    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA cache_size=-500000")
            cursor.execute("PRAGMA journal_mode=OFF")
    with transaction.atomic():
        rows(runs, audit)
    if connection.vendor == "postgresql":  # as autovacuum will have, minutes after
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")


def rows(runs: int, audit: int) -> None:
    """Rows of this home spread evenly over the time they are kept, the newest an hour old."""
    from config.storage import homes

    now, home = datetime.now(UTC) - timedelta(hours=1), homes.home()
    insert("workspace_run", RUN, run_rows(runs, now, home))
    insert("workspace_turn", TURN, turn_rows(runs, now, home))
    insert("workspace_auditentry", AUDIT, audit_rows(audit, now, home))


def insert(table: str, columns: Sequence[str], rows: Iterable[Row]) -> None:
    """The fastest way each store has; both check every constraint."""
    from django.db import connection

    names = ", ".join(f'"{column}"' for column in columns)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            with cursor.copy(f"COPY {table} ({names}) FROM STDIN") as copy:
                for row in rows:
                    copy.write_row(row)
        else:
            marks = ", ".join(["%s"] * len(columns))
            sql = f"INSERT INTO {table} ({names}) VALUES ({marks})"
            cursor.executemany(sql, cast("Any", rows))


RUN = (
    "id", "project", "trigger", "trigger_type", "kind", "cause", "actor", "client", "event",
    "chain", "scheduled_for", "queued_at", "started_at", "finished_at", "status", "reason",
    "session_id", "agent_name", "engine", "model", "tools", "summary", "home",
)  # fmt: skip


def run_rows(count: int, now: datetime, home: str) -> Iterator[Row]:
    actor, tools = json.dumps({"kind": "system"}), json.dumps([{"name": "Read", "count": 3}])
    for n, moment in moments(count, now, RUN_DAYS):
        failed = n % 50 == 7
        yield (
            run_id(n, moment), project(n), trigger(n), "schedule", "trigger",
            "manual" if n % 200 == 3 else "interval", actor, client(n) if n % 40 == 0 else "",
            None, "[]", text(moment), text(moment), text(moment), text(moment),
            "failed" if failed else "completed",
            "the command ended with status 1" if failed else "", chat(n),
            "agent", "runbook", "", tools, f"Report {n} written, nothing else to do. " * 5, home,
        )  # fmt: skip


TURN = (
    "id", "project", "chat", "state", "prompt", "message", "model", "sender", "client", "run_id",
    "mode", "max_turns", "spawn_limit", "created", "started", "finished", "reason", "claim",
    "stop", "answers", "token_hash", "home", "unclosed",
)  # fmt: skip


def turn_rows(count: int, now: datetime, home: str) -> Iterator[Row]:
    sender, prompt = json.dumps({"kind": "trigger", "name": "t"}), "Look at what is new. " * 15
    for n, moment in moments(count, now, RUN_DAYS):
        run, at = run_id(n, moment), text(moment)
        yield (
            "msg" + run[3:], project(n), chat(n), "failed" if n % 50 == 7 else "done", prompt,
            prompt, "", sender, "", run, "default", 25, 0, at, at, at, "", "", "", "[]", "", home,
            False,
        )  # fmt: skip


AUDIT = (
    "time", "client", "operation", "project", "session_id", "run", "outcome", "ms", "peer",
    "request_id", "count", "home",
)  # fmt: skip


def audit_rows(count: int, now: datetime, home: str) -> Iterator[Row]:
    for n, moment in moments(count, now, AUDIT_DAYS):
        outcome = "ok" if n % 100 else "not_found"
        yield (
            text(moment), client(n), f"operation_{n % 20}", project(n), chat(n), "", outcome, 3,
            "127.0.0.1", f"req_{n:026}", 1, home,
        )  # fmt: skip


def moments(count: int, now: datetime, days: int) -> Iterator[tuple[int, datetime]]:
    """Numbers and times, oldest first."""
    step = timedelta(days=days) * 0.98 / count
    for n in range(count):
        yield n, now - (count - n) * step


def text(moment: datetime) -> str:
    """As Django writes it into SQLite; PostgreSQL reads it as well, in the zone of its session."""
    return moment.replace(tzinfo=None).isoformat(" ")


def run_id(n: int, moment: datetime) -> str:
    from workspace import ids

    return ids.run_id_at(moment)[:14] + f"{n:016}"


def project(n: int) -> str:
    """The newest project has few of them."""
    return f"p{n % PROJECTS}" if n % 1000 else "rare"


def trigger(n: int) -> str:
    return f"t{n // PROJECTS % TRIGGERS:02}"


def client(n: int) -> str:
    return f"client-{n % 5}" if n % 1000 else "rare"


def chat(n: int) -> str:
    return f"{n % 1000:08x}-0000-4000-8000-000000000000"


def main(runs: int, audit: int) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0)
    fill(runs, audit)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
