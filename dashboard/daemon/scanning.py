"""The scan task: when to scan the listeners, and which of them to ask for a page."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypedDict, TypeVar

import psutil

from config.errors import Conflict
from config.logs import timestamp
from config.waits import wait_within
from dashboard.daemon.sightings import ScanRequest, ScanResult, Sightings, ask
from dashboard.health.result import Result
from dashboard.listeners.observed import Sighting

T = TypeVar("T")
log = logging.getLogger(__name__)

RARELY_S = 10.0  # between two scans on battery, or after a while without a connected client
UNWATCHED_S = 300.0
BATTERY_S = 30.0
ASKING = 16  # listeners asked at once
RECOGNISE_S, GAP_S = 2.0, 0.1


class Scan(TypedDict):
    scannedAt: str
    observed: int
    added: list[str]
    gone: list[str]
    ms: float


@dataclass(slots=True)
class World:
    """What scanning needs of the daemon. `take(result, complete)`: whether it was a whole scan."""

    request: Callable[[], ScanRequest]
    take: Callable[[ScanResult, bool], None]
    watched: Callable[[], bool]  # whether a stream client is connected


@dataclass(slots=True)
class Scanning:
    """Runs on the daemon's thread; `sightings` is used in a thread of its own."""

    world: World
    sightings: Sightings
    on_battery: bool = False
    _thread: ThreadPoolExecutor = field(
        default_factory=lambda: ThreadPoolExecutor(1, "svc-dashboard-scan")
    )
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _scan: asyncio.Task[ScanResult] | None = None
    _heard: dict[str, Result] = field(default_factory=dict)
    _asks: set[asyncio.Task[None]] = field(default_factory=set)
    _gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(ASKING))
    _fresh: bool = False
    _watched: float = 0.0
    _looked_at_battery: float = float("-inf")

    async def run(self) -> None:
        """Scan until cancelled; while scanning is off, wait for it to be switched on."""
        self._watched = asyncio.get_running_loop().time()
        while True:
            if self.world.request().settings.enabled:
                await self.once()
                await self._rest()
            else:
                await self._woken(None)

    async def now(self) -> Scan:
        """Scan for a caller; concurrent callers share one scan. Raises Conflict `scan_off`."""
        if not self.world.request().settings.enabled:
            raise Conflict("Scanning is off (scan.enabled in config.yaml).", code="scan_off")
        result = await self.once()
        seen = result.seen
        assert seen.at is not None
        return {
            "scannedAt": timestamp(seen.at),
            "observed": sum(one.id not in seen.hidden for one in seen.sightings),
            "added": list(result.changes.added),
            "gone": list(result.changes.gone),
            "ms": round(seen.ms, 3),
        }

    async def once(self) -> ScanResult:
        """Make one whole scan; concurrent callers share it."""
        if self._scan is None or self._scan.done():
            self._scan = asyncio.create_task(self._whole(), name="scan")
            self._scan.add_done_callback(_seen_to)
        return await asyncio.shield(self._scan)

    async def afresh(self) -> None:
        """Make a scan that begins after this call, if scanning is on."""
        if self._scan is not None and not self._scan.done():
            await self.once()
        if self.world.request().settings.enabled:
            await self.once()

    async def recognise(self, is_app: Callable[[], bool]) -> None:
        """Scan and ask until `is_app()`, for 2 s at most: one without HTTP never becomes an app."""
        if not self.world.request().settings.enabled:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(RECOGNISE_S):
                while not is_app():
                    await self.once()
                    await self._some_answer()

    def again(self) -> None:
        """Name and match listeners again soon: what is declared, configured or running changed."""
        self._fresh = True
        self._wake.set()

    def quicken(self) -> None:
        """A stream client has connected."""
        if self.interval() != self.world.request().settings.interval:
            self._watched = asyncio.get_running_loop().time()
            self._wake.set()

    def interval(self) -> float:
        """Seconds from one scan to the next under the current conditions."""
        wanted = self.world.request().settings.interval
        now = asyncio.get_running_loop().time()
        if self.world.watched():
            self._watched = now
        rarely = self.on_battery or now - self._watched > UNWATCHED_S
        return max(wanted, RARELY_S) if rarely else wanted

    async def close(self) -> None:
        for task in (*self._asks, *filter(None, [self._scan])):
            task.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _rest(self) -> None:
        """Wait until the next scan is due; take over what arrives in the meantime at once."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        await self._look_at_battery()
        while (left := began + self.interval() - loop.time()) > 0:
            if not await self._woken(left):
                return
            if self._heard or self._fresh:
                await self._take_over()
            if not self.world.request().settings.enabled:
                return

    async def _take_over(self) -> None:
        """Take over the answers received since the last scan, with the names that apply now."""
        heard, self._heard, self._fresh = self._heard, {}, False
        result = await self._in_thread(self.sightings.hear, self.world.request(), heard)
        self.world.take(result, False)

    async def _some_answer(self) -> None:
        """Wait briefly for a listener that is being asked, and take over its answer."""
        gap = asyncio.create_task(asyncio.sleep(GAP_S))
        await asyncio.wait({gap, *self._asks}, return_when=asyncio.FIRST_COMPLETED)
        gap.cancel()
        if self._heard:
            await self._take_over()

    async def _whole(self) -> ScanResult:
        result = await self._in_thread(self.sightings.scan, self.world.request())
        self.world.take(result, True)
        for one in result.due:
            task = asyncio.create_task(self._ask(one), name=f"ask {one.id}")
            self._asks.add(task)
            task.add_done_callback(self._asks.discard)
        return result

    async def _ask(self, one: Sighting) -> None:
        try:
            async with self._gate:
                self._heard[one.id] = await ask(one)
        except (OSError, ValueError) as error:
            log.info("a listener could not be asked", extra={"id": one.id, "why": str(error)})
            return
        self._wake.set()

    async def _woken(self, seconds: float | None) -> bool:
        """Whether the wake event came before the time was over."""
        came = await wait_within(self._wake, seconds)
        if came:
            self._wake.clear()
        return came

    async def _look_at_battery(self) -> None:
        now = asyncio.get_running_loop().time()
        if now - self._looked_at_battery >= BATTERY_S:
            self._looked_at_battery = now
            self.on_battery = await self._in_thread(_is_on_battery)

    async def _in_thread(self, call: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._thread, call, *args)


def _seen_to(task: asyncio.Task[ScanResult]) -> None:
    """Retrieve the error of a scan whose caller may be gone, so that asyncio does not report it."""
    if not task.cancelled():
        task.exception()


def _is_on_battery() -> bool:
    """Whether the machine runs on battery; False without one."""
    try:
        found = psutil.sensors_battery()
    except (AttributeError, OSError, psutil.Error):
        return False
    return found is not None and found.power_plugged is False
