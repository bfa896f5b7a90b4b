"""The database beside the code: what is not migrated yet, what is newer than this version.

Migrations only go forward; a copy is kept before they run (design 16).
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from config import __version__
from config.options import OptionError

KEPT = 3


@dataclass(frozen=True, slots=True)
class State:
    """How far the database is: `pending` it lacks, `newer` we lack; `fresh` has nothing yet."""

    pending: tuple[str, ...]
    newer: tuple[str, ...]
    fresh: bool

    def refuse_newer(self) -> None:
        """OptionError when a newer version of svc has migrated this database."""
        if self.newer:
            raise OptionError(
                f"the database {connection.settings_dict['NAME']} was made by a newer version "
                f"({self.newer[0]} is unknown to svc {__version__}); install that version or "
                "newer, or move the file away: projects, chats and triggers are files and stay"
            )


def look() -> State:
    """Compare the migrations of the code with those the database has seen."""
    executor = MigrationExecutor(connection)
    loader = executor.loader
    plan = executor.migration_plan(loader.graph.leaf_nodes())
    ours = {label for label, _name in loader.disk_migrations}
    unknown = set(loader.applied_migrations) - set(loader.disk_migrations)
    return State(
        pending=tuple(f"{migration.app_label}.{migration.name}" for migration, _back in plan),
        newer=tuple(sorted(f"{label}.{name}" for label, name in unknown if label in ours)),
        fresh=not loader.applied_migrations,
    )


def migrate(state: State) -> list[str]:
    """Bring the database to this version, after a copy of it. Returns what changed, in words."""
    if state.pending:
        if not state.fresh:
            _keep_copy(Path(connection.settings_dict["NAME"]))
        call_command("migrate", interactive=False, verbosity=0)
    connection.close()
    return ["database made"] if state.fresh else [f"migrated {name}" for name in state.pending]


def _keep_copy(path: Path) -> None:
    """An online copy beside the state files; the newest KEPT copies stay."""
    folder = settings.DATA_DIR / "state"
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    copy = folder / f"before-migrate-{stamp}.sqlite3"
    copy.touch(mode=0o600)
    source, target = sqlite3.connect(path), sqlite3.connect(copy)
    try:
        source.backup(target)
    finally:
        source.close()
        target.close()
    for old in sorted(folder.glob("before-migrate-*.sqlite3"))[:-KEPT]:
        old.unlink(missing_ok=True)
