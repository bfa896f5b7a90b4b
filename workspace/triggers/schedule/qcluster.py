"""What `manage.py qcluster` is, alone or below `up`: one supervisor and its three children.

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

PATIENCE_S = 20  # with a database that does not answer; most of a turn's lease
STOP_S = 7.5  # of a supervisor that is the child of another


def warm() -> None:
    """Do once, before the fork, what the first task of each fork would do itself: query each table,
    and load the tools of the parts. With ten forks each has about 1.6 MB less of its own (S12,
    S14).

    From here on a database that does not answer is given up after PATIENCE_S, in the forks too."""
    database.give_up_after(PATIENCE_S)
    turn_tools.registries()
    with suppress(DatabaseError):  # tables that do not exist yet
        for model in apps.get_models():
            model._default_manager.first()
    connections.close_all()


def serve() -> None:
    """Keep the three running until told to stop, after `warm`; exits as the supervisor does."""
    alive.hold()
    fork.bind()
    children = {"queue": serve_queue, "turns": serve_turns, "ticker": tick}
    try:
        code = Supervisor([Child(name, run) for name, run in children.items()], STOP_S).run()
    finally:
        alive.facts().unlink(missing_ok=True)
        wakeup.wake("*")  # removes the pipes of processes that have ended
    sys.exit(code)
