"""What `manage.py qcluster` is, by itself or below `up`: one supervisor and its three children.

They are a stock cluster for the default queue, one for `turns`, and the ticker.
"""

from __future__ import annotations

import sys
from contextlib import suppress

from django.apps import apps
from django.db import DatabaseError, connections

from config.mcp import turn_tools
from config.process import fork, wakeup
from config.process.supervise import Child, Supervisor
from config.storage import database
from workspace import tasks  # noqa: F401 - what the queues carry
from workspace.triggers.schedule import alive
from workspace.triggers.schedule.cluster import serve_queue, serve_turns, tick

PATIENCE_S = 20  # with a database that says nothing; most of a turn's lease
STOP_S = 7.5  # of a supervisor that is one below another


def warm() -> None:
    """Make once what the first task of each fork would make for itself: a query of each table, and
    the tools of the parts. Of ten forks each has some 1.6 MB less of its own then (S12, S14).

    A database that says nothing is waited for no longer from here on, in the forks too."""
    database.give_up_after(PATIENCE_S)
    turn_tools.registries()
    with suppress(DatabaseError):  # tables that are not there yet
        for model in apps.get_models():
            model._default_manager.first()
    connections.close_all()


def serve() -> None:
    """After `warm`: keep the three alive until told to stop; ends the process with the
    supervisor's code."""
    alive.hold()
    fork.bind()
    children = {"queue": serve_queue, "turns": serve_turns, "ticker": tick}
    try:
        code = Supervisor([Child(name, run) for name, run in children.items()], STOP_S).run()
    finally:
        alive.facts().unlink(missing_ok=True)
        wakeup.wake("*")  # the processes that slept on these pipes are gone
    sys.exit(code)
