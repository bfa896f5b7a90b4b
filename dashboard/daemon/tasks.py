"""The daemon's tasks: one that raises is reported and restarted, and does not end the others."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from datetime import UTC, datetime
from typing import Any

from dashboard.files.entries import FileError

log = logging.getLogger(__name__)

FIRST_S, LONGEST_S = 1.0, 30.0
STEADY_S = 30.0  # a task that ran this long counts as well again

Work = Callable[[], Awaitable[None]]


class Tasks:
    """Keeps the tasks running. `changed` is called when `errors` changes."""

    def __init__(self, changed: Callable[[], None], *, first: float = FIRST_S) -> None:
        self._changed, self._first = changed, first
        self._tasks: list[asyncio.Task[None]] = []
        self._errors: dict[str, FileError] = {}

    def start(self, works: Mapping[str, Work]) -> None:
        """Keep each running until `close`; one that ends starts again after 1, 2, 4 .. 30 s."""
        for name, work in works.items():
            self._tasks.append(asyncio.create_task(self._keep(name, work), name=name))

    def errors(self) -> list[FileError]:
        """`daemon/<task>` for each task that has failed and is not yet well again."""
        return [*self._errors.values()]

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _keep(self, name: str, work: Work) -> None:
        loop, delay = asyncio.get_running_loop(), self._first
        while True:
            began, well = loop.time(), loop.call_later(STEADY_S, self._well, name)
            try:
                await work()
                why = "it ended"
            except Exception as error:
                log.exception("the task %s failed", name)
                why = f"{type(error).__name__}: {error}"
            finally:
                well.cancel()
            if loop.time() - began >= STEADY_S:
                delay = self._first
            self._report_failure(name, why, delay)
            await asyncio.sleep(delay)
            delay = min(2 * delay, LONGEST_S)

    def _report_failure(self, name: str, why: str, delay: float) -> None:
        known = self._errors.get(name)
        message = f"the task failed and starts again in {delay:g} s ({why}); see the server's log"
        since = known.since if known else datetime.now(UTC)
        self._errors[name] = FileError(f"daemon/{name}", "error", message, since=since)
        self._changed()

    def _well(self, name: str) -> None:
        if self._errors.pop(name, None) is not None:
            self._changed()


async def close_all(
    components: Mapping[str, Callable[[], Coroutine[Any, Any, None]]], by: float
) -> None:
    """Close all of them by `by`, a time of the loop's clock; a late one is logged and cancelled."""
    loop = asyncio.get_running_loop()
    closing = [asyncio.create_task(close(), name=name) for name, close in components.items()]
    done, late = await asyncio.wait(closing, timeout=max(0.0, by - loop.time()))
    for task in late:
        task.cancel()
        log.warning("the %s did not end in time", task.get_name())
    for task in done:
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("the %s did not close cleanly", task.get_name(), exc_info=error)
