"""`manage.py runserver`: only the server, on its three ports; it runs no migrations."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils import autoreload

from config.options import OptionError
from config.storage import database, release
from config.web.http import serving


class Command(BaseCommand):
    help = "Serves workspace, review and dashboard. The ports are settings (SVC_PORT, …)."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--noreload", action="store_true", help="do not restart on code changes"
        )

    def handle(self, *, noreload: bool, **options: Any) -> None:
        if noreload:
            self.look_at_database()
            serving.serve(self.ready)
        else:
            autoreload.run_with_reloader(self.serve_in_thread)

    def serve_in_thread(self) -> None:
        try:
            self.look_at_database()
            serving.serve(self.ready, signal_handlers=False)
        except OptionError as error:
            os._exit(error.report())  # an exception in this thread would not end the process

    def look_at_database(self) -> None:
        release.refuse_newer(settings.DATA_DIR)
        database.make()
        state = database.look()
        state.refuse_newer()
        if names := ", ".join(state.pending):
            self.stderr.write(f"pending migrations: {names}; run manage.py migrate")

    def ready(self, ports: dict[str, int]) -> None:
        if sys.stdout.isatty():
            for name in ("main", "review", "dashboard"):
                if name in ports:
                    self.stdout.write(f"{name:10} http://localhost:{ports[name]}")
