"""The processes of `manage.py qcluster`: two django-q2 clusters and the ticker.

They are forked from one process that has imported everything, so that they share its memory.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from typing import Any

from django.conf import settings
from django_q import cluster as stock
from django_q.cluster import Cluster
from django_q.conf import Conf

from config.process import wakeup
from config.storage import homes
from workspace.chats.turns import delivery, recovery
from workspace.models import Turn
from workspace.triggers import runs
from workspace.triggers.schedule import arming
from workspace.triggers.schedule.clock import Clock
from workspace.triggers.schedule.shared import Flag, TaskQueue, Timer
from workspace.triggers.schedule.ticker import Ticker

log = logging.getLogger(__name__)

STOP_S = 7.0  # longer than a turn gets to end, shorter than the supervisor waits
IDLE, RECYCLED = -1, -2  # timer values of django-q2: worker was idle, worker was ended on purpose


class TurnKeeper(Cluster):  # type: ignore[misc]
    """A stock cluster that asks its turns to end when it has to stop."""

    _told = False

    def stop(self) -> bool:
        self._told = True
        if self.sentinel is None or not self.sentinel.is_alive():
            return False
        log.info("cluster %s stopping", Conf.CLUSTER_NAME)
        late = threading.Timer(STOP_S, kill_group)
        late.daemon = True  # every step below may wait for a process that hangs
        late.start()
        self.stop_event.set()
        wakeup.wake(f"queue-{Conf.CLUSTER_NAME}")
        while self.sentinel.is_alive():  # a turn may still begin after the first look
            end_turns(os.getpgrp())
            self.sentinel.join(0.2)
        late.cancel()
        return True

    def serve(self) -> None:
        """Serve until stopped by a signal."""
        stock.Sentinel = Guard
        stock.Queue, stock.Event, stock.Value = TaskQueue, Flag, Timer
        self.start()
        if self._told:  # a signal came before there was anything to stop
            self.stop()
        while self.sentinel.is_alive():
            self.sentinel.join()


class Guard(stock.Sentinel):  # type: ignore[misc]
    """A stock sentinel that settles the turn of a dead worker at once, not within 60 s."""

    def reincarnate(self, process: Any) -> None:
        worker = process in self.pool
        died = worker and process.exitcode not in (None, 0)
        if worker and process.exitcode == 0 and process.timer.value == IDLE:
            process.timer.value = RECYCLED  # it only ended for lack of work (shared.TaskQueue)
        super().reincarnate(process)
        if died and homes.queue(delivery.QUEUE) == Conf.CLUSTER_NAME:
            try:
                runs.hand_over("sweep")
            except Exception:  # the ticker's next sweep settles the turn
                log.exception("the sweep after the death of a worker was not handed over")


def kill_group() -> None:
    """Kill this cluster and all processes it forked, whatever they are doing."""
    log.error("cluster %s does not stop, it is killed", Conf.CLUSTER_NAME)
    os.killpg(os.getpid(), signal.SIGKILL)


def end_turns(group: int) -> int:
    """Ask the running turns of a process group to end; their workers check four times a second."""
    mine = Turn.objects.filter(
        state="running", claim__startswith=recovery.claims_of(group), stop=""
    )
    return mine.update(stop="shutdown")


def serve_queue() -> None:
    """Serve the default queue: starts of runs, sweeps, chores."""
    TurnKeeper().serve()


def serve_turns() -> None:
    """Serve the queue of turns."""
    become(homes.queue(delivery.QUEUE))
    TurnKeeper().serve()


def become(name: str) -> None:
    """Make this process serve one of ALT_CLUSTERS. django-q2 applies the settings of a cluster when
    it is imported, which was before the fork, so they are applied again here."""
    Conf.CLUSTER_NAME = name
    for key, value in settings.Q_CLUSTER["ALT_CLUSTERS"][name].items():
        setattr(Conf, key.upper(), value)


def tick() -> None:
    """Run the precise ticker until SIGTERM or SIGINT."""
    stopping = False

    def stop(number: int, frame: object) -> None:
        nonlocal stopping
        stopping = True
        wakeup.wake(arming.BELL)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    with wakeup.Wakeup(arming.BELL) as sleeper:
        Ticker(Clock()).run(sleeper, lambda: stopping)
