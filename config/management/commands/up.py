"""`manage.py up`: the whole service in the foreground, until Ctrl-C."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import orjson
from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import connections
from django.utils.module_loading import import_string

from config import __version__
from config.process import fork, heap, singleton
from config.process.singleton import Instance
from config.process.supervise import Child, Supervisor
from config.storage import database, release
from config.web.http import serving


class Command(BaseCommand):
    help = "Migrates, then runs the server and qcluster, restarts what dies, stops on Ctrl-C."
    requires_system_checks = ()

    def handle(self, **options: Any) -> None:
        Instance(settings.DATA_DIR, "server").refuse_second()
        Instance(settings.DATA_DIR, "up").acquire()  # its children hold the lock too
        singleton.hold_projects()
        release.refuse_newer(settings.DATA_DIR)
        database.make()
        state = database.look()
        state.refuse_newer()
        migrate(state)
        release.stamp(settings.DATA_DIR)
        self.stdout.write(f"svc {__version__}, data {settings.DATA_DIR}; Ctrl-C stops everything")
        self.stdout.flush()
        serving.load_all()
        started = children()
        heap.prepare_for_forks()
        sys.exit(Supervisor(started).run())


def migrate(state: database.MigrationState) -> None:
    """Migrate in a child, whose end frees the 20 MB of modules that only this needs."""
    connections.close_all()
    if not state.pending:
        return
    child = fork.start("migrate", lambda: print(*database.migrate(state), sep="\n"))
    child.join()
    if child.exitcode and child.exitcode < 0:
        sys.exit(f"the database is not migrated: signal {-child.exitcode} ended it")
    if child.exitcode:  # it has printed the reason
        sys.exit(child.exitcode)


def children() -> list[Child]:
    """The processes that the supervisor keeps alive."""
    logs = settings.DATA_DIR / "logs"
    server = Child("server", serve, logs / "server.log", tells_ready=True)
    if not settings.SVC.scheduler:
        return [server]
    warm, run = map(import_string, settings.SVC_SCHEDULER)
    warm()
    return [server, Child("qcluster", partial(schedule, run), logs / "qcluster.log")]


def serve(tell: int) -> None:
    """Run the server; write its ports to `tell` once they are open."""
    database.reach()  # the database may be gone when a child is restarted
    serving.serve(partial(ready, tell))


def schedule(run: Callable[[], object]) -> None:
    """Run the schedulers. These fork, so connections that were opened here are closed first."""
    database.reach()
    connections.close_all()
    run()


def ready(tell: int, ports: dict[str, int]) -> None:
    os.write(tell, orjson.dumps(ports))
    os.close(tell)
