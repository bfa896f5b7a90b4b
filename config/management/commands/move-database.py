"""`manage.py move-database URL`: copy every row to another database, verified; files stay."""
# ruff: noqa: N999 - the name of a command

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection

from config import readers, stores
from config.errors import SvcError
from config.options import OptionError
from config.process.singleton import stopped
from config.storage import database, moving


class Command(BaseCommand):
    help = "Carries all rows to another database: a postgres:// address, or the word sqlite."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("target", metavar="URL", help="postgres://…, or sqlite")

    def handle(self, *args: Any, target: str, **options: Any) -> None:
        url = "" if target == "sqlite" else readers.postgres("the target", target)
        if not url and connection.vendor == "sqlite":
            raise OptionError("the database is SQLite already; set SVC_DATABASE_URL to its source")
        with stopped(settings.DATA_DIR):
            self.move(stores.database(url, settings.DATA_DIR))
        say = "unset SVC_DATABASE_URL" if not url else "set SVC_DATABASE_URL to it"
        self.stdout.write(f"Now {say} (or databaseUrl in svc.config.yaml) and start the service.")
        self.stdout.write("What was moved is still where it was; nothing was deleted.")

    def move(self, target: dict[str, Any]) -> None:
        state = database.look()
        state.refuse_newer()
        if state.pending:
            raise OptionError(f"{database.name()} is not migrated yet; run manage.py migrate first")
        try:
            database.make(target)
            moved = moving.move(target)
        except SvcError as error:
            raise OptionError(error.text) from None
        except DatabaseError as error:
            reason = " ".join(str(error).split())
            raise CommandError(f"not moved: {reason}; nothing was changed", returncode=1) from error
        for table in moved:
            self.stdout.write(f"{table.name:32} {table.rows:9} rows  {table.checksum}")
        self.stdout.write(f"moved {sum(table.rows for table in moved)} rows, all compared")
