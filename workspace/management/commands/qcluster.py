"""`manage.py qcluster`: everything that fires triggers and runs turns, under one supervisor."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django_q.management.commands.qcluster import Command as Stock

from config.process import heap, singleton
from config.storage import database, release
from workspace.triggers.schedule import qcluster


class Command(Stock):  # type: ignore[misc]
    help = "Fires triggers and runs turns until Ctrl-C. Several may run on one data directory."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        if options["run_once"] or options["cluster_name"]:
            heap.freeze()
            super().handle(*args, **options)
        else:
            singleton.refuse_projects()
            release.refuse_newer(settings.DATA_DIR)
            database.reach()
            qcluster.warm()
            heap.prepare_for_forks()
            qcluster.serve()
