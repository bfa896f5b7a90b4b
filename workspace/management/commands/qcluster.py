"""`manage.py qcluster`: everything that fires triggers and runs turns, under one supervisor.

Three children: a stock cluster for the default queue, one for `turns`, the ticker.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import DatabaseError, connections
from django_q.management.commands.qcluster import Command as Stock

from config.mcp import turn_tools
from config.process import heap, release, wakeup
from config.process.supervise import Supervisor
from config.storage import database
from workspace.triggers.schedule import alive

PATIENCE_S = 20  # with a database that says nothing; most of a turn's lease


class Command(Stock):  # type: ignore[misc]
    help = "Fires triggers and runs turns until Ctrl-C. Several may run on one data directory."
    requires_system_checks = ()

    def handle(self, *args: Any, **options: Any) -> None:
        if options["run_once"] or options["cluster_name"]:
            heap.loaded()
            super().handle(*args, **options)
        else:
            release.refuse_newer(settings.DATA_DIR)
            sys.exit(_supervise())


def _warm() -> None:
    """Make once what the first task of each fork would make for itself: a query of each table, and
    the tools of the parts. Of ten forks each has some 1.6 MB less of its own then (S12, S14)."""
    turn_tools.registries()
    with suppress(DatabaseError):  # tables that are not there yet
        for model in apps.get_models():
            model._default_manager.first()


def _supervise() -> int:
    """Load everything once, then keep the three forks alive until told to stop."""
    from workspace import tasks  # noqa: F401 - loaded here, shared by every fork
    from workspace.triggers.schedule.cluster import (
        FORKS_STOP_S,
        Fork,
        serve_queue,
        serve_turns,
        tick,
    )

    database.reach()
    database.give_up_after(PATIENCE_S)
    alive.hold()
    _warm()
    connections.close_all()
    heap.loaded()
    children = {"queue": serve_queue, "turns": serve_turns, "ticker": tick}
    try:
        return Supervisor(
            [Fork(name, target=run) for name, run in children.items()], FORKS_STOP_S
        ).run()
    finally:
        alive.facts().unlink(missing_ok=True)
        wakeup.wake("*")  # the processes that slept on these pipes are gone
