"""`manage.py restore FILE`: unpack a backup into an empty data directory and rebuild the index."""

from __future__ import annotations

import sqlite3
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connections
from django.template.defaultfilters import pluralize

from config.errors import SvcError
from config.management.commands.backup import plan, reason
from config.process.singleton import stopped
from config.storage.backups import restoring


class Command(BaseCommand):
    help = "Unpack a backup into an empty data directory and database, and rebuild the index."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        connections.close_all()
        with stopped(settings.DATA_DIR):
            self.restore(file)
            call_command("reindex", stdout=self.stdout)

    def restore(self, file: Path) -> None:
        try:
            report = restoring.restore(plan(), file)
        except SvcError as error:
            raise CommandError(str(error), returncode=2) from error
        except (OSError, DatabaseError, sqlite3.Error) as error:
            why = f"Cannot restore {file}: {reason(error)}; nothing was restored"
            raise CommandError(why, returncode=1) from error
        self.stdout.write(f"restored {report.files} file{pluralize(report.files)} from {file}")
        for line in report.left_out:
            self.stdout.write(f"left out: {line}")
