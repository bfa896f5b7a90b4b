"""`manage.py reindex`: rebuild the index tables from the files; the database may be empty."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand
from django.utils.module_loading import import_string

from config.storage import release


class Command(BaseCommand):
    help = "Rebuild every index table from the files."

    def handle(self, *args: Any, **options: Any) -> None:
        release.refuse_newer(settings.DATA_DIR)
        call_command("migrate", verbosity=0, interactive=False)
        for name in settings.SVC_INDEXES:
            self.stdout.write(import_string(name)())
