"""`manage.py restore FILE`: unpack a backup into an empty data directory and rebuild the index."""

from __future__ import annotations

import os
import sqlite3
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connections
from django.template.defaultfilters import pluralize

from config import written
from config.errors import Invalid, SvcError
from config.management.commands.backup import plan, reason
from config.options import OptionError
from config.process.singleton import stopped
from config.storage.backups import places, restoring
from config.storage.backups.backup import Report


class Command(BaseCommand):
    help = "Unpack a backup into an empty data directory and database, and rebuild the index."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        connections.close_all()
        with refusing(file):
            begin_again_with(places_missing(file))
        with stopped(settings.DATA_DIR):
            with refusing(file):
                report = restoring.restore(plan(), file)
            self.tell(file, report)
            call_command("reindex", stdout=self.stdout)

    def tell(self, file: Path, report: Report) -> None:
        count = f"{report.files} file{pluralize(report.files)}"
        self.stdout.write(f"restored {count} from {file}, projects to {settings.PROJECTS_DIR}")
        for line in report.left_out:
            self.stdout.write(f"left out: {line}")
        path = settings.SVC.config_file
        for name in places.only_set(settings.SVC.environ, written.read(path, asked=False)):
            self.stdout.write(f"{name} is not what {path} says: set it for the service too")


def places_missing(file: Path) -> dict[str, str]:
    """Variables for the places that the configuration in the archive names and nothing sets here.
    Without them the files would go where the restored service does not look."""
    path = settings.SVC.config_file
    if os.path.lexists(path):
        return {}  # it is kept, and its places are known already
    try:
        found = places.named(written.parse(restoring.config_of(file) or b"", Path(path.name)))
    except OptionError as error:
        raise Invalid(
            f"{file} holds settings that cannot be read: {error}; write the ones that the service "
            f"shall have to {path} first, they are kept"
        ) from None
    return {name: value for name, value in found.items() if name not in settings.SVC.environ}


def begin_again_with(variables: Mapping[str, str]) -> None:
    """Run this command from its start with these variables, if any: settings are read once."""
    if variables:
        os.execve(sys.executable, sys.orig_argv, {**os.environ, **variables})  # noqa: S606


@contextmanager
def refusing(file: Path) -> Iterator[None]:
    """End the command with one sentence if the block cannot do its work."""
    try:
        yield
    except SvcError as error:
        raise CommandError(str(error), returncode=2) from error
    except (OSError, DatabaseError, sqlite3.Error) as error:
        why = f"Cannot restore {file}: {reason(error)}; nothing was restored"
        raise CommandError(why, returncode=1) from error
