"""The database beside the code: what is not migrated yet, what is newer than this version.

Migrations only go forward; a copy is kept before they run (design 16).
"""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder

from config import __version__
from config.options import OptionError

KEPT = 3


def pending() -> list[str]:
    """Names of the migrations this code has and the database lacks."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _backwards in plan]


def refuse_newer() -> None:
    """OptionError when a newer version of svc has migrated this database."""
    loader = MigrationExecutor(connection).loader
    ours = {label for label, _name in loader.disk_migrations}
    unknown = sorted(
        f"{label}.{name}"
        for label, name in loader.applied_migrations
        if label in ours and (label, name) not in loader.disk_migrations
    )
    if unknown:
        raise OptionError(
            f"the database {connection.settings_dict['NAME']} was made by a newer version "
            f"({unknown[0]} is unknown to svc {__version__}); install that version or newer, "
            "or move the file away: projects, chats and triggers are files and stay"
        )


def migrate() -> list[str]:
    """Bring the database to this version, after a copy of it. Returns what changed, in words."""
    names, fresh = pending(), not MigrationRecorder(connection).applied_migrations()
    if names:
        if not fresh:
            _keep_copy(Path(connection.settings_dict["NAME"]))
        call_command("migrate", interactive=False, verbosity=0)
    connection.close()
    return ["database made"] if fresh else [f"migrated {name}" for name in names]


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
