"""Keeps the search index up to date with the transcripts, in its own thread: a chat of 50 MB takes
many seconds, and events of other chats do not wait for it. A search indexes by itself what is
missing, so there is no hurry: a chat that keeps growing is read once, while others are quiet.
"""

from __future__ import annotations

import logging
import threading
import time

from django.db import DatabaseError, close_old_connections, connections

from config.errors import NotFound
from workspace.chats.search import indexing
from workspace.projects import store

log = logging.getLogger(__name__)

PATIENCE_S = 3.0  # how long a stop waits for the current part
QUIET_S, MOST_S = 1.0, 10.0  # wait until nothing has grown for QUIET_S, at most MOST_S
CALM_S, REST_S = 0.1, 1.0  # likewise before each part that is read

Place = tuple[str, str]  # slug of a project, id of a chat


class Indexer:
    """Indexes chats whose transcript grew, each once, in the order in which they grew."""

    def __init__(self) -> None:
        self._grown: dict[Place, None] = {}
        self._last = 0.0  # when a chat last grew (monotonic)
        self._rested = 0.0  # when the last rest ended (monotonic)
        self._more = threading.Condition()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="indexer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop; what is left is indexed at the next start, or by a search that needs it."""
        with self._more:
            self._stopped.set()
            self._more.notify()
        self._thread.join(PATIENCE_S)

    def grew(self, slug: str, session_id: str) -> None:
        with self._more:
            if not self._grown:
                self._more.notify()
            self._last = time.monotonic()
            self._grown[slug, session_id] = None

    def _run(self) -> None:
        while not self._stopped.is_set():
            places, self._rested = self._next(), time.monotonic()
            for place in places:
                if not self._stopped.is_set():
                    self._catch_up(*place)
        connections.close_all()

    def _next(self) -> list[Place]:
        """Wait until chats have grown and then stopped growing; none, perhaps, at a stop."""
        with self._more:
            self._more.wait_for(lambda: self._grown or self._stopped.is_set())
            until = time.monotonic() + MOST_S
            while not self._stopped.is_set() and (left := self._seconds_left(until)) > 0:
                self._more.wait(left)
            places, self._grown = [*self._grown], {}
            return places

    def _seconds_left(self, until: float) -> float:
        return min(self._last + QUIET_S, until) - time.monotonic()

    def _catch_up(self, slug: str, session_id: str) -> None:
        close_old_connections()
        try:
            indexing.catch_up(store.get(slug), session_id, rest=self._rest)
        except NotFound:
            pass  # it was deleted
        except DatabaseError as error:
            log.warning("a chat is not indexed", extra={"chat": session_id, "why": str(error)})
        except Exception:
            log.exception("a chat is not indexed", extra={"chat": session_id})

    def _rest(self) -> bool:
        """Wait before each part, so that others can write: as long as the last part took, then
        until no chat grows, for up to REST_S. Return whether to go on."""
        left = time.monotonic() - self._rested
        until = time.monotonic() + REST_S
        while not self._stopped.wait(left):
            left = min(self._last + CALM_S, until) - time.monotonic()
            if left <= 0:
                self._rested = time.monotonic()
                return True
        return False
