"""`manage.py restore FILE`: a backup into an empty data directory; the index is rebuilt after."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from config.kernel.errors import SvcError
from config.kernel.management.commands.backup import plan
from config.kernel.storage import backup


class Command(BaseCommand):
    help = "Unpack a backup into an empty data directory and rebuild the index."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        connections.close_all()
        try:
            report = backup.restore(plan(), file)
        except SvcError as error:
            raise CommandError(str(error), returncode=2) from error
        except OSError as error:
            raise CommandError(f"Cannot restore {file}: {error}", returncode=1) from error
        self.stdout.write(f"restored {report.files} files from {file}")
        for line in report.left_out:
            self.stdout.write(f"left out: {line}")
        call_command("reindex", stdout=self.stdout)
