"""What pages of all parts are sent: new messages, and that the open questions have changed.

One event on the stream of each part, whichever process stored the message. A page that may notify
shows the message (templates/static/js/kit/notify.js). Ports that need no login while the main port
does get nothing, because the messages are the workspace's.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connections
from django.db.models import QuerySet

from config.process import wakeup
from config.storage import database, homes
from config.web.connections import local
from config.web.events import broadcaster
from config.web.surfaces import MAIN, MOUNTED
from workspace.notify.folding import BELL
from workspace.notify.tables import NotifyMessage

log = logging.getLogger(__name__)

LOOK_S = 2.0
NEWS = timedelta(minutes=2)  # messages stored later than this, after a lost database, are not shown
EVENT = "notification"
WITHDRAWN = "withdrawn"
ASKS = "asks"


class Pages:
    """One of settings.SVC_BACKGROUND: a thread that sends stored messages to pages."""

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="notify", daemon=True)
        self._told: set[int] | None = None
        self._asking: set[int] = set()  # messages of questions, withdrawn when these are answered
        self._failed = False
        self._stamp: object = None  # of the database at the last look

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        wakeup.wake(BELL)
        self._thread.join(LOOK_S)

    def _run(self) -> None:
        with wakeup.Wakeup(BELL) as sleeper:
            self.look()
            while not self._stopped.is_set():
                sleeper.wait(LOOK_S)
                self.look()
        connections.close_all()

    def look(self) -> None:
        """Send new messages and withdraw those of answered questions; the first look only remembers
        what there is. Compares sets of ids, because a row with a smaller id may be stored later."""
        try:
            stamp = database.stamp()
            if stamp == self._stamp:
                return
            mine = NotifyMessage.objects.filter(homes.mine())
            rows = [*mine.filter(at__gt=datetime.now(UTC) - NEWS)]
            known, self._told = self._told, {row.pk for row in rows}
            if known is None:
                self._asking = {*mine.filter(event="asked").values_list("pk", flat=True)}
            fresh = [row for row in rows if known is not None and row.pk not in known]
            for row in fresh:
                tell(row)
            self._asking |= {row.pk for row in fresh if row.event == "asked"}
            self._withdraw(mine)
            self._failed, self._stamp = False, stamp
        except DatabaseError as error:
            if not self._failed:
                log.warning("pages are not notified: %s", error)
            self._failed, self._stamp = True, None

    def _withdraw(self, mine: QuerySet[NotifyMessage]) -> None:
        if not self._asking:
            return
        left = {*mine.filter(pk__in=self._asking).values_list("pk", flat=True)}
        for over in sorted(self._asking - left):
            _publish(WITHDRAWN, {"id": str(over)})
        self._asking = left


def tell(row: NotifyMessage) -> None:
    """Send a message to every page that may show it."""
    _publish(EVENT, row.body)


def questions() -> None:
    """Tell every page that the number of chats that need a person may have changed."""
    _publish(ASKS, {})


def _publish(event: str, data: Mapping[str, Any]) -> None:
    """Send an event to the clients of every server of this home."""
    asks_less = settings.SVC.auth_mode != "none" and local.login_free(settings.SVC)
    for surface in (MAIN,) if asks_less else (MAIN, *MOUNTED):
        broadcaster(surface.name).publish(event, data, relayed=True)
