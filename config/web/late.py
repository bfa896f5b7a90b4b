"""What is named by a text and imported when it is first wanted.

An import may take seconds; on the event loop every other request would stand still meanwhile.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.utils.module_loading import import_string

from config.web.http import threads

# one at a time: threads that import a package from two ends get in each other's way
_importing = threading.RLock()


def load(name: str) -> Any:
    """The object called `name`; blocks while another thread loads."""
    with _importing:
        return import_string(name)


@contextmanager
def without(*libraries: str) -> Iterator[None]:
    """What is imported in here finds these libraries not installed, unless they are loaded already.

    For what a library takes when it is there, uses for something that we never ask of it, and pays
    for with a tenth of a start.
    """
    hidden = [name for name in libraries if name not in sys.modules]
    for name in hidden:
        sys.modules[name] = None  # type: ignore[assignment]  # what Python reads as: there is none
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


class Late:
    """The object called `name`. A thread imports it, once for all who want it at first."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._found: Any = None
        self._coming: asyncio.Task[Any] | None = None

    async def get(self) -> Any:
        if self._found is not None:
            return self._found
        if self._coming is None:
            self._coming = asyncio.create_task(threads.run(load, self._name))
            self._coming.add_done_callback(self._loaded)
        return await asyncio.shield(self._coming)

    def _loaded(self, task: asyncio.Task[Any]) -> None:
        """What could not be imported is tried again when it is next wanted."""
        self._coming = None
        if not task.cancelled() and task.exception() is None:
            self._found = task.result()
