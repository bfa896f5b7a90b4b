"""Notifies clients when a project's working directory has gone, come back, or leads elsewhere.

It may be anywhere, on a disk that is not mounted or behind a link, so it is not watched but checked
every few seconds, and only while clients are connected.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

from django.db import connections

from workspace.projects import folders, store

log = logging.getLogger(__name__)

LOOK_S = 3.0

Publish = Callable[[str, Mapping[str, Any]], object]


class Places:
    """Publishes `project` when the directory of a project has changed since the last look."""

    def __init__(self, publish: Publish, *, watched: Callable[[], int] = lambda: 1) -> None:
        self._publish = publish
        self._watched = watched  # returns the number of clients
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="places", daemon=True)
        self._seen: dict[str, folders.WorkingDirectory] = {}

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join(LOOK_S)

    def _run(self) -> None:
        while not self._stopped.wait(LOOK_S):
            try:
                if self._watched():
                    self.look()
            except Exception:
                log.exception("the directories of projects are not looked at")
        connections.close_all()

    def look(self) -> None:
        """Compare with the last look. Directories new to it were published with their project."""
        seen = {}
        wall = folders.Wall.now()
        for project in store.all():
            if place := folders.of(project.data, wall):
                seen[project.slug] = place
                if self._seen.get(project.slug, place) != place:
                    self._publish("project", {"slug": project.slug})
        self._seen = seen
