"""`manage.py backup [FILE]`: everything a user would miss, in one archive, while all runs."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config import __version__
from config.kernel.storage import backup

LEFT_OUT = "secret key, tokens, run state, caches, logs, homes of turns"


def plan() -> backup.Plan:
    """The parts of this instance (settings.SVC_BACKUP names the folders)."""
    database = settings.DATABASES["default"]
    is_sqlite = str(database["ENGINE"]).endswith("sqlite3")
    return backup.Plan(
        folders=settings.SVC_BACKUP,
        config=settings.SVC.config_file,
        database=Path(str(database["NAME"])) if is_sqlite else None,
    )


class Command(BaseCommand):
    help = "Write projects, dashboard files, config and database to one archive."

    def add_arguments(self, parser: ArgumentParser) -> None:
        name = f"svc-backup-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.tar.gz"
        parser.add_argument("file", nargs="?", type=Path, default=Path(name))

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            report = backup.write(plan(), file.absolute(), version=__version__)
        except OSError as error:
            raise CommandError(f"Cannot write {file}: {error.strerror}", returncode=1) from error
        self.stdout.write(f"wrote {file}: {report.files} files, {report.size} bytes")
        self.stdout.write(f"left out on purpose: {LEFT_OUT}")
        for line in report.left_out:
            self.stdout.write(f"left out: {line}")
