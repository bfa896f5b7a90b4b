"""Objects that are named by a dotted path and imported at their first use.

An import may take seconds; on the event loop it would block every other request.
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

# one at a time: threads that import a package from two ends interfere
_importing = threading.RLock()


def load(name: str) -> Any:
    """The object called `name`; blocks while another thread loads."""
    with _importing:
        return import_string(name)


@contextmanager
def without(*libraries: str) -> Iterator[None]:
    """Imports inside the block find these libraries not installed, unless they are loaded already.

    For optional dependencies of a library that serve only features we never use, and whose import
    takes a tenth of the start.
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
    """The object called `name`, imported in a thread, once for all callers that wait for it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._found: Any = None
        self._coming: asyncio.Task[Any] | None = None

    async def get(self) -> Any:
        if self._found is not None:
            return self._found
        if self._coming is None:
            self._coming = asyncio.create_task(threads.run(load, self._name))
            self._coming.add_done_callback(self._on_loaded)
        return await asyncio.shield(self._coming)

    def _on_loaded(self, task: asyncio.Task[Any]) -> None:
        """Keep the object; a failed import is tried again at the next use."""
        self._coming = None
        if not task.cancelled() and task.exception() is None:
            self._found = task.result()
