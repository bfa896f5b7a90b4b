"""Keeps what is searched for as the transcripts are, in a thread of its own: a chat of 50 MB takes
it many seconds, for which no event of another waits. A search reads what is not there yet itself.
"""

from __future__ import annotations

import logging
import threading

from django.db import DatabaseError, close_old_connections, connections

from config.errors import NotFound
from workspace.chats.search import indexing
from workspace.projects import store

log = logging.getLogger(__name__)

PATIENCE_S = 3.0  # for the part at hand, at a stop

Place = tuple[str, str]  # slug of a project, id of a chat


class Indexer:
    """Chats whose transcript grew, each once however often it grew, in the order they did."""

    def __init__(self) -> None:
        self._grown: dict[Place, None] = {}
        self._more = threading.Condition()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="indexer", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """What is left is caught up with at the next start, or by the search that needs it."""
        with self._more:
            self._stopped.set()
            self._more.notify()
        self._thread.join(PATIENCE_S)

    def grew(self, slug: str, session_id: str) -> None:
        with self._more:
            self._grown[slug, session_id] = None
            self._more.notify()

    def _run(self) -> None:
        while (place := self._next()) is not None:
            self._catch_up(*place)
        connections.close_all()

    def _next(self) -> Place | None:
        """The next chat as soon as there is one, None at the end."""
        with self._more:
            self._more.wait_for(lambda: self._grown or self._stopped.is_set())
            if self._stopped.is_set():
                return None
            place = next(iter(self._grown))
            del self._grown[place]
            return place

    def _catch_up(self, slug: str, session_id: str) -> None:
        close_old_connections()
        try:
            indexing.catch_up(store.get(slug), session_id, gently=self._stopped)
        except NotFound:
            pass  # it went: the next list is without it
        except DatabaseError as error:
            log.warning("a chat is not indexed", extra={"chat": session_id, "why": str(error)})
        except Exception:
            log.exception("a chat is not indexed", extra={"chat": session_id})
