"""Hosts with a projects directory each on one database, played one after another in one process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from config.storage import homes
from review import caches
from tests.workspace.triggers.world import World
from workspace.chats import index
from workspace.projects import store


class Host(World):
    """One host: its directory, its home, and what a process of it remembers (nothing)."""

    def __init__(self, folder: Path, settings: Any) -> None:
        folder.mkdir(exist_ok=True)
        super().__init__(folder)
        self.home = homes.read_or_make(folder)
        self._settings = settings

    @contextmanager
    def here(self) -> Iterator[Host]:
        """Be this host, as a process that has just started."""
        before = self._settings.PROJECTS_DIR, self._settings.SVC_HOME
        self._settings.PROJECTS_DIR, self._settings.SVC_HOME = self.folder, self.home
        _forget()
        try:
            yield self
        finally:
            self._settings.PROJECTS_DIR, self._settings.SVC_HOME = before
            _forget()


def _forget() -> None:
    store.MIRROR.clear()
    store._elsewhere = (0.0, [])
    index._folders.clear()
    for forget in caches._forget:
        forget()
