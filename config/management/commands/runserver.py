"""`manage.py runserver`: the server alone, on its three ports; migrates nothing."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from typing import Any

import orjson
from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils import autoreload

from config.options import OptionError
from config.process import release
from config.storage import database
from config.web.http.serving import Serving, exit_soon

PATIENCE_S = 10  # with a database that says nothing


class Command(BaseCommand):
    help = "Serves workspace, review and dashboard. The ports are settings (SVC_PORT, …)."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--noreload", action="store_true", help="do not restart on code changes"
        )
        parser.add_argument("--ready-fd", type=int, help="told the ports once they are open")

    def handle(self, *, noreload: bool, ready_fd: int | None, **options: Any) -> None:
        if noreload:
            self.serve(ready_fd, signal_handlers=True)
        else:
            autoreload.run_with_reloader(self.serve, ready_fd, signal_handlers=False)

    def serve(self, ready_fd: int | None, *, signal_handlers: bool) -> None:
        try:
            if ready_fd is None:  # else `up` has just seen to it
                self.look_at_database()
            database.give_up_after(PATIENCE_S)
            Serving(ready=lambda ports: self.ready(ready_fd, ports)).run(
                signal_handlers=signal_handlers
            )
        except OptionError as error:
            if signal_handlers:
                raise
            os._exit(error.report())  # in the reloader's thread an exception ends nothing
        exit_soon()

    def look_at_database(self) -> None:
        release.refuse_newer(settings.DATA_DIR)
        database.make()
        state = database.look()
        state.refuse_newer()
        if names := ", ".join(state.pending):
            self.stderr.write(f"pending migrations: {names}; run manage.py migrate")

    def ready(self, descriptor: int | None, ports: dict[str, int]) -> None:
        if descriptor is not None:
            os.write(descriptor, orjson.dumps(ports))
            os.close(descriptor)
        elif sys.stdout.isatty():
            for name in ("main", "review", "dashboard"):
                if name in ports:
                    self.stdout.write(f"{name:10} http://localhost:{ports[name]}")
