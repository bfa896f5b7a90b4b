"""`manage.py migrate`: Django's own, after making the database file if there is none."""

from __future__ import annotations

from typing import Any

from django.core.management.commands import migrate
from django.db import DEFAULT_DB_ALIAS

from config.storage import database


class Command(migrate.Command):
    def execute(self, *args: Any, **options: Any) -> str | None:
        if options["database"] == DEFAULT_DB_ALIAS:
            database.make()
        return super().execute(*args, **options)
