"""New messages to open pages: one event on the stream of each part, whichever process made them.

A page that may notify shows it (templates/static/js/kit/notify.js). Ports that ask for no login
where the main one does hear nothing: what is told of is the workspace's.
"""

from __future__ import annotations

import logging
import threading
from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.db import DatabaseError, connections

from config.process import wakeup
from config.storage import homes
from config.web.connections import local
from config.web.events import broadcaster
from config.web.surfaces import MAIN, MOUNTED
from workspace.notify.folding import BELL
from workspace.notify.tables import NotifyMessage

log = logging.getLogger(__name__)

LOOK_S = 2.0
NEWS = timedelta(minutes=2)  # what a database that was gone tells later is shown to nobody
EVENT = "notification"


class Pages:
    """One of settings.SVC_BACKGROUND: a thread that sleeps until a message was stored."""

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="notify", daemon=True)
        self._told: set[int] | None = None
        self._failed = False

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
        """Tell of what is new; the first look only remembers what there is. By ids and not by the
        greatest one: a row of a smaller id may be stored later."""
        try:
            recent = NotifyMessage.objects.filter(homes.mine(), at__gt=datetime.now(UTC) - NEWS)
            rows = [*recent]
            known, self._told = self._told, {row.pk for row in rows}
            for row in rows:
                if known is not None and row.pk not in known:
                    tell(row)
            self._failed = False
        except DatabaseError as error:
            if not self._failed:
                log.warning("pages are not notified: %s", error)
            self._failed = True


def tell(row: NotifyMessage) -> None:
    """Every server of the home tells its own clients."""
    asks_less = settings.SVC.auth_mode != "none" and local.login_free(settings.SVC)
    for surface in (MAIN,) if asks_less else (MAIN, *MOUNTED):
        broadcaster(surface.name).publish(EVENT, row.body, relayed=True)
