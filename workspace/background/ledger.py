"""Watches what only the database knows: queues, runs and open questions, each compared with the
last look.

Workers are other processes, so their changes arrive as rows; a bell says when to look.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

from django.db import DatabaseError, connection, connections

from config.process import wakeup
from config.storage import database
from workspace.chats.turns import questions
from workspace.chats.turns.delivery import CHANGES
from workspace.chats.turns.states import BUSY, WAITING
from workspace.models import Run, Turn

log = logging.getLogger(__name__)

LOOK_S = 2.0
LIVE_TURNS = (*BUSY, *WAITING)
LIVE_RUNS = ("running", "queued")

Publish = Callable[[str, Mapping[str, Any]], object]
Rows = dict[str, tuple[str, str, str]]


class Ledger:
    """Publishes `chat` and `run` when a queue or run has changed; calls `asks` when the set of
    questions that wait for a person has changed."""

    def __init__(
        self,
        publish: Publish,
        *,
        asks: Callable[[], object] = lambda: None,
        healed: Callable[[], object] = lambda: None,
    ) -> None:
        self._publish = publish
        self._asks = asks
        self._healed = healed  # called when the database is back
        self._failed = False
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ledger", daemon=True)
        self._turns: Rows = {}
        self._runs: Rows = {}
        self._questions: set[tuple[str, str]] = set()  # (turn, call)
        self._last_run = ""
        self._stamp: object = None  # stamp of the database at the last look

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        wakeup.wake(CHANGES)
        self._thread.join(LOOK_S)

    def _run(self) -> None:
        with wakeup.Wakeup(CHANGES) as sleeper:
            self.look(silent=True)
            while not self._stopped.is_set():
                sleeper.wait(LOOK_S)
                self.look()
        connections.close_all()

    def look(self, *, silent: bool = False) -> None:
        """Compare with the last look and publish changes; a `silent` look only remembers."""
        try:
            if self._failed and database.state_of(connection).pending:
                return  # it is being rebuilt: tables may still lack columns
            stamp = database.stamp()
            if stamp == self._stamp:
                return
            turns, runs, open_questions = self._read()
        except DatabaseError as error:
            if not self._failed:
                log.warning("the database is gone: rows are not read", extra={"why": str(error)})
            self._failed, self._stamp = True, None
            return
        self._stamp = stamp
        if self._failed:
            self._failed = False
            log.info("the database is back")
            self._healed()
        chats = {turn[:2] for _, turn in turns.items() ^ self._turns.items()}
        changed = {(key, run[0]) for key, run in runs.items() ^ self._runs.items()}
        self._turns = turns
        self._runs = {key: run for key, run in runs.items() if run[1] in LIVE_RUNS}
        self._last_run = max(self._last_run, *runs, "")
        others, self._questions = open_questions != self._questions, open_questions
        if not silent:
            if others:
                self._asks()
            for project, chat in sorted(chats):
                self._publish("chat", {"project": project, "sessionId": chat})
            for key, project in sorted(changed):
                self._publish("run", {"project": project, "id": key})

    def _read(self) -> tuple[Rows, Rows, set[tuple[str, str]]]:
        """The live turns, the live and new runs, and the unanswered questions."""
        turns = Turn.objects.filter(state__in=LIVE_TURNS).order_by()
        live = Run.objects.filter(status__in=LIVE_RUNS).order_by()
        fresh = Run.objects.filter(id__gt=self._last_run).order_by("-id")[:500]
        columns = ("id", "project", "status", "reason")
        runs = [*live.values_list(*columns), *fresh.values_list(*columns)]
        rows = [*turns.values_list("id", "project", "chat", "state", "asks", "answers")]
        return (
            {
                key: (project, chat, f"{state} {asks} {len(answers)}" if asks else state)
                for key, project, chat, state, asks, answers in rows
            },
            {key: (project, status, reason) for key, project, status, reason in runs},
            {
                (key, one["call"])
                for key, _, _, state, asks, answers in rows
                if state == "running"
                for one in questions.unanswered(asks, answers)
            },
        )
