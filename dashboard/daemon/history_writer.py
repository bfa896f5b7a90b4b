"""The history task: one thread writes once a second what the loop records of apps."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Concatenate, ParamSpec

from django.db import DatabaseError, connections

from dashboard.files.entries import FileError
from dashboard.files.schema.config import Config
from dashboard.health.record import LastKnown, Reason, State
from dashboard.history.recorder import Recorder

log = logging.getLogger(__name__)

FLUSH_S, PRUNE_S = 1.0, 3600.0
WRITTEN_S = 0.5  # the longest time a reader waits for the disk
PATIENCE_S = 3.0
MOST = 100_000  # writes kept in memory while the history cannot be read
P = ParamSpec("P")
_REASONS = {reason.value for reason in Reason}


@dataclass(slots=True)
class HistoryWriter:
    """Runs on the daemon's thread. A database that fails at the start is tried again; until it
    answers, the writes of the loop wait here, in order."""

    config: Callable[[], Config]
    changed: Callable[[], None]  # called when `error` changes
    recorder: Recorder = field(default_factory=Recorder)
    error: FileError | None = None
    _loaded: bool = False
    _loading: asyncio.Task[bool] | None = None
    _flush: asyncio.Future[object] | None = None
    _waiting: deque[Callable[[Recorder], object]] = field(
        default_factory=lambda: deque(maxlen=MOST)
    )
    _thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, "svc-dashboard-history")
    )

    async def begin(self) -> None:
        """Read what is stored; if that takes too long, return and let the apps start without it."""
        self._loading = asyncio.create_task(self._load(), name="history")
        await asyncio.wait({self._loading}, timeout=PATIENCE_S)

    def record(
        self, write: Callable[Concatenate[Recorder, P], object], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        """Make a call of the recorder that only touches memory: add, edge, pace, bind, remove."""
        if self._loaded:
            write(self.recorder, *args, **kwargs)
        else:
            self._waiting.append(lambda recorder: write(recorder, *args, **kwargs))

    def last_known(self, slug: str) -> LastKnown | None:
        """The app's state when the last run of the daemon ended; None when none is stored."""
        standing = self.recorder.find_standing(slug)
        if standing is None or not standing.state or standing.since is None:
            return None
        said = standing.reason if standing.reason in _REASONS else Reason.NEW
        since = (standing.since + 0.5) / 1000  # stays within its millisecond as a float
        return LastKnown(State(standing.state), since, Reason(said))

    async def until_written(self, slug: str) -> None:
        """Wait until the app's changes of state are on disk, for at most half a second; return at
        once while writing fails."""
        if not self._loaded or self.recorder.trouble:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(WRITTEN_S):
                if self._flush is not None and not self._flush.done():
                    await asyncio.wait({self._flush})  # the flush under way may include the change
                if self.recorder.waits(slug):
                    if self._flush is None or self._flush.done():
                        self._flush = self._in_thread(self.recorder.flush, time.time())
                    await asyncio.wait({self._flush})

    async def run(self) -> None:
        """Flush each second, prune each hour, until cancelled."""
        pruned = time.monotonic()
        while True:
            await asyncio.sleep(FLUSH_S)
            if not await self._is_loaded():
                continue
            self._flush = self._in_thread(self.recorder.flush, time.time())
            await self._flush
            self._look()
            if time.monotonic() - pruned >= PRUNE_S:
                pruned = time.monotonic()
                await self._prune()

    async def close(self) -> None:
        """Flush a last time; end the thread and its connection, even if the caller stops
        waiting."""
        last = self._in_thread(self._end, time.time())
        self._thread.shutdown(wait=False)
        await last

    def _end(self, now: float) -> None:
        try:
            if self._loaded:
                self.recorder.close(now)
        finally:
            connections.close_all()

    async def _is_loaded(self) -> bool:
        if self._loading is not None:
            loading, self._loading = self._loading, None
            return await loading
        return self._loaded or await self._load()

    async def _load(self) -> bool:
        try:
            await self._in_thread(self.recorder.load, time.time())
        except DatabaseError as error:
            self._say(f"The history cannot be read: {error}.")
            return False
        self._loaded = True
        while self._waiting:
            self._waiting.popleft()(self.recorder)
        self._say(None)
        return True

    async def _prune(self) -> None:
        config = self.config()
        try:
            await self._in_thread(self._prune_rows, config.raw_hours, config.days)
        except DatabaseError as error:
            log.warning("history was not pruned", extra={"why": str(error)})

    def _prune_rows(self, raw_hours: int, days: int) -> int:
        return self.recorder.prune(time.time(), raw_hours=raw_hours, days=days)

    def _look(self) -> None:
        trouble = self.recorder.trouble
        self._say(f"History waits in memory: {trouble.message}." if trouble else None)

    def _say(self, message: str | None) -> None:
        """Keep one entry while the trouble lasts, even if the database's message changes."""
        if (self.error is None) == (message is None):
            return
        now = datetime.now(UTC)
        self.error = FileError("database", "error", message, since=now) if message else None
        self.changed()

    def _in_thread(self, call: Callable[..., object], *args: Any) -> asyncio.Future[object]:
        return asyncio.get_running_loop().run_in_executor(self._thread, call, *args)
