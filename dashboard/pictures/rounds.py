"""The rounds of the gallery: whose screenshot and favicon is due, one after another.

Pictures must not slow the machine down: one page is loaded at a time, and pictures take only a
small share of one core. So a single app has its picture 3 s after it is up, while forty that come
up at once get theirs over minutes. Declared apps come before discovered ones, whose pictures are
only made while a page is open.
When a picture is due: docs/design/dashboard.md#thumbnails-and-cards
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from heapq import heapify, heappop
from zlib import crc32

from config.waits import wait_within
from dashboard.health.record import State
from dashboard.pictures import commits
from dashboard.pictures.album import Album, AlbumEntry
from dashboard.pictures.app import PicturedApp, World
from dashboard.pictures.due import Allowance
from dashboard.pictures.switch import Switch
from dashboard.rendering import thumbs

DAY_S = 86_400.0
UNUSED_S = 7 * DAY_S  # how long the images of a discovered app are kept for its return
Make = Callable[[str], Awaitable[float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Periods in seconds. `share`: of one core, for pictures; `at_once`: seconds of CPU that
    pictures may use before they first have to wait."""

    after_up: float = 3.0
    between_commits: float = 60.0
    look: float = 5.0  # between two checks of what is due, if nothing happens
    check: float = 10.0  # between two checks of commits and the browser
    favicon: float = 3600.0
    share: float = 0.04
    at_once: float = 10.0


class Rounds:
    """Belongs to the daemon's thread. `photograph` and `fetch` return CPU seconds spent."""

    def __init__(
        self, album: Album, switch: Switch, world: World, pace: Pace, *,
        photograph: Make, fetch: Make,
    ) -> None:  # fmt: skip
        self._album, self._switch, self._world, self._pace = album, switch, world, pace
        self._photograph, self._fetch = photograph, fetch
        self._news = asyncio.Event()
        self.begun = False

    def know(self, slug: str, shown: PicturedApp) -> None:
        """Set the facts about an app; a change may be a reason for new pictures."""
        before = self._album.get(slug)
        old = before.shown if before else None
        if old is not None and shown.framework is None:  # a stopped app keeps its mark
            shown = replace(shown, framework=old.framework)
        entry = self._album.put(slug, shown)
        if old == shown or not (shown.state is State.UP or shown.icon):
            return
        now = time.monotonic()
        came_up = old is None or old.state is not State.UP
        other = old is not None and _page(old) != _page(shown)
        turns = (
            (entry.screenshot, self._switch.settings.interval),
            (entry.favicon, self._pace.favicon),
        )
        for turn, every in turns:
            if other or (came_up and (turn.wanted is not None or not turn.fresh(now, every))):
                turn.wanted = now + self._pace.after_up
                self._news.set()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(self._round())
            group.create_task(self._checks())

    async def _round(self) -> None:
        """Make the pictures that are due, one after another, as far as their budget allows."""
        pace = self._pace
        allowance = Allowance(pace.at_once, pace.share)
        while True:
            self._news.clear()
            now = time.monotonic()
            pause = allowance.wait(now)
            due = None if pause else self._following()
            if due and due[0] <= now:
                _at, slug, make = due
                allowance.spend(await make(slug))
            else:
                until = pause or (due[0] - now if due else pace.look)
                await wait_within(self._news, min(pace.look, until))

    def _following(self) -> tuple[float, str, Make] | None:
        """The picture of either kind that is due first."""
        kinds = ((self.next_favicon(), self._fetch), (self.next_screenshot(), self._photograph))
        due = [(*found, make) for found, make in kinds if found is not None]
        return min(due, key=lambda one: one[0], default=None)

    def next_screenshot(self) -> tuple[float, str] | None:
        """When the next screenshot is due, and of which app."""
        if self._switch.browser is None:
            return None
        watched = self._world.clients() and not self._world.battery()
        every = self._switch.settings.interval if watched else None
        return _first(
            [(entry, entry.screenshot.next(every), slug) for slug, entry in self._pictured_apps()],
            lambda _slug, entry: entry.shown.state is State.UP and entry.shown.photographed,
        )

    def next_favicon(self) -> tuple[float, str] | None:
        """When the next favicon is due, and of which app; only for apps that show no
        screenshot."""
        clients = self._world.clients()
        return _first(
            [
                (entry, entry.favicon.next(self._hourly(slug) if clients else None), slug)
                for slug, entry in self._pictured_apps()
            ],
            self._has_favicon,
        )

    def _pictured_apps(self) -> list[tuple[str, AlbumEntry]]:
        """The apps whose pictures are made: all while a page is open, else the declared ones."""
        clients = self._world.clients()
        return [(slug, entry) for slug, entry in self._album if clients or entry.shown.declared]

    def _has_favicon(self, slug: str, entry: AlbumEntry) -> bool:
        shown = entry.shown
        kind = shown.thumb.kind in {"auto", "favicon"}
        page = shown.state is State.UP and shown.url is not None and shown.html is not False
        return (
            kind
            and (page or shown.icon is not None)
            and self._album.choice(slug)[0] != "screenshot"
        )

    def _hourly(self, slug: str) -> float:
        """An hour to an hour and a quarter, constant for an app, so that apps do not coincide."""
        return self._pace.favicon * (1 + crc32(slug.encode()) % 256 / 1024)

    async def _checks(self) -> None:
        """Check what changes without an event: commits, PATH, and images that are no longer
        needed."""
        while True:
            self._album.switch(await self._switch.look())
            if self._switch.browser is not None:
                await self._commits()
            for slug in self._album.unused_slugs(time.time() - UNUSED_S):
                self._album.forget(slug)
                await asyncio.to_thread(thumbs.forget, slug)
            await asyncio.sleep(self._pace.check)

    async def _commits(self) -> None:
        places = {
            slug: entry.shown.repository
            for slug, entry in self._pictured_apps()
            if entry.shown.repository is not None and entry.shown.photographed
        }
        heads = await asyncio.to_thread(partial(commits.heads, set(places.values())))
        now = time.monotonic()
        for slug, place in places.items():
            entry = self._album.get(slug)
            if entry is None or entry.head == heads[place]:
                continue
            if entry.head is not None:
                last = entry.screenshot.last or float("-inf")
                at = max(now + self._pace.after_up, last + self._pace.between_commits)
                entry.screenshot.wanted = at
                self._news.set()
            entry.head = heads[place]


def _page(shown: PicturedApp) -> tuple[object, ...]:
    """The settings in files that decide how the page looks."""
    return (shown.address, shown.url, shown.thumb, shown.icon)


def _first(
    candidates: Iterable[tuple[AlbumEntry, float | None, str]],
    wanted: Callable[[str, AlbumEntry], bool],
) -> tuple[float, str] | None:
    """Of the apps that are due, a declared one first; if none is due, the one that is due first.

    `wanted` costs more than the rest, so it is called for as few apps as possible.
    """
    now = time.monotonic()
    ranked = [
        (at > now, at <= now and not entry.shown.declared, at, slug, entry)
        for entry, at, slug in candidates
        if at is not None
    ]
    heapify(ranked)  # usually the first is wanted: the others need no order
    while ranked:
        *_, at, slug, entry = heappop(ranked)
        if wanted(slug, entry):
            return at, slug
    return None
