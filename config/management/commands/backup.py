"""`manage.py backup [FILE]`: all of a user's data in one archive, while the service runs."""

from __future__ import annotations

import sqlite3
from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError
from django.template.defaultfilters import pluralize

from config import __version__
from config.errors import SvcError
from config.storage.backups import backup, copies

LEFT_OUT = (
    "secret key, tokens, run state, caches, logs (those of apps too), homes of turns, "
    "what is not committed in chats' worktrees, what undoes turns and discards, "
    "<projects>/.svc (not that of a project, which is in it)"
)


def plan() -> backup.Plan:
    """What to back up for this instance (settings.SVC_BACKUP names the folders)."""
    return backup.Plan(
        folders=settings.SVC_BACKUP,
        config=settings.SVC.config_file,
        database=copies.of_instance(settings.DATA_DIR),
    )


class Command(BaseCommand):
    help = "Write projects, dashboard files, config and database to one archive."

    def add_arguments(self, parser: ArgumentParser) -> None:
        name = f"svc-backup-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.tar.gz"
        parser.add_argument("file", nargs="?", type=Path, default=Path(name))

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            report = backup.write(plan(), file.absolute(), version=__version__)
        except (OSError, SvcError, DatabaseError, sqlite3.Error) as error:
            raise CommandError(f"Cannot write {file}: {reason(error)}", returncode=1) from error
        count = f"{report.files} file{pluralize(report.files)}"
        self.stdout.write(f"wrote {file}: {count}, {report.size} bytes")
        for line in report.notes:
            self.stdout.write(line)
        self.stdout.write(f"left out on purpose: {LEFT_OUT}")
        for line in report.left_out:
            self.stdout.write(f"left out: {line}")


def reason(error: Exception) -> str:
    """The error's reason, on one line."""
    told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(told.split())
