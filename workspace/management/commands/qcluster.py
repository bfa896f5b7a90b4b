"""`manage.py qcluster`: everything that fires triggers and runs turns, under one supervisor.

Three children (design 9): the stock cluster of the default queue, the stock cluster of `turns`,
and the ticker. The supervisor is the kernel's: a few MB, no Django.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import signal
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django_q.management.commands.qcluster import Command as Stock

from workspace.triggers import alive


class Command(Stock):  # type: ignore[misc]
    help = "Fires triggers and runs turns until Ctrl-C. Several may run on one data directory."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--stock", action="store_true", help=argparse.SUPPRESS)

    def handle(self, *args: Any, **options: Any) -> None:
        if options["stock"] or options["run_once"] or options["cluster_name"]:
            self._serve(**options)
        else:
            _supervise()

    def _serve(self, **options: Any) -> None:
        """One cluster, in this process and those it forks; they die with it."""
        from workspace.triggers.cluster import TurnKeeper

        os.register_at_fork(after_in_child=_die_with_parent)
        cluster = TurnKeeper()
        cluster.start()
        if options["run_once"]:
            cluster.stop()


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def _supervise() -> None:
    """Become the supervisor; the lock that says a scheduler is alive goes on with it."""
    alive.hold()
    spec = [json.dumps(children()), str(alive.facts())]
    command = [sys.executable, "-m", "config.kernel.supervise", *spec]
    os.chdir(settings.BASE_DIR)
    os.execv(sys.executable, command)  # noqa: S606 - no shell is the point


def children() -> list[dict[str, Any]]:
    """What the supervisor keeps alive. The queue is chosen by the environment, because
    django-q2 reads it before any argument (design 9)."""
    manage = [sys.executable, str(settings.BASE_DIR / "manage.py")]
    cluster = [*manage, "qcluster", "--stock"]
    return [
        {"name": "queue", "argv": cluster},
        {"name": "turns", "argv": cluster, "env": {"Q_CLUSTER_NAME": "turns"}},
        {"name": "ticker", "argv": [*manage, "ticker"]},
    ]
