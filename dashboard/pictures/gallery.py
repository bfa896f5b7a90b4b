"""The pictures of all apps and the icons of bookmarks: shown, served, and renewed."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine, Iterable
from functools import partial
from typing import Any

from config.storage.files import CannotWrite
from dashboard.files.schema.group import Group
from dashboard.health.record import State
from dashboard.pictures.album import Album, AlbumEntry
from dashboard.pictures.app import PicturedApp, World
from dashboard.pictures.rounds import Pace, Rounds
from dashboard.pictures.switch import Switch
from dashboard.rendering import icons, thumbs
from dashboard.rendering.icons import Icon, Icons
from dashboard.rendering.images import NoImage
from dashboard.rendering.screenshot import Camera, NoShot
from dashboard.rendering.thumbs import Kind, Picture

log = logging.getLogger(__name__)

LEAST_CPU_S = 0.5  # counted for a screenshot, even if the browser ended by itself
ICON_CPU_S = 0.05  # counted for a favicon: two small requests, and one picture drawn


class Gallery:
    """Belongs to the daemon's thread; disk access, drawing and browser search use threads."""

    def __init__(self, world: World, *, pace: Pace | None = None) -> None:
        self._world = world
        self._album = Album(world.thumb_changed)
        self._switch = Switch(world.config)
        self._camera = Camera()
        self._icons = Icons()
        self._rounds = Rounds(
            self._album, self._switch, world, pace or Pace(),
            photograph=self._shoot, fetch=self._fetch,
        )  # fmt: skip
        self._refreshes: dict[asyncio.Task[set[str]], frozenset[str]] = {}
        self._behind: set[asyncio.Task[None]] = set()

    async def begin(self) -> None:
        """Load what the cache has, before the first app is known; otherwise `run` does it."""
        if self._rounds.begun:
            return
        self._rounds.begun = True
        self._album.switch(await self._switch.look())
        self._album.load(await asyncio.to_thread(thumbs.all_kept))

    def know(self, slug: str, shown: PicturedApp | None) -> None:
        """Set the facts about an app; None if there is no such app any more."""
        if shown is not None:
            self._rounds.know(slug, shown)
        elif (entry := self._album.drop(slug)) is not None and entry.shown.declared:
            self._album.forget(slug)
            self._start(asyncio.to_thread(thumbs.forget, slug))

    def choice(self, slug: str) -> tuple[Kind, str]:
        """`thumbKind` and `thumbEtag` of the app's record, without any I/O. NotFound if there is
        no such app."""
        return self._album.choice(slug)

    @property
    def screenshots(self) -> bool:
        """Whether screenshots are on: allowed, and a browser was found."""
        return self._album.screenshots

    async def picture(self, slug: str) -> Picture:
        """The app's image; every app has one. NotFound if there is no such app."""
        shown = self._album.need(slug).shown
        found = await asyncio.to_thread(
            partial(
                thumbs.picture, shown.subject(slug), kind=shown.thumb.kind,
                screenshots=self._album.screenshots,
            )
        )  # fmt: skip
        entry = self._album.get(slug)
        if entry is not None and (found.kind, found.etag) != self._album.choice(slug):
            await self._reread(slug, entry)  # the cache was emptied
        return found

    async def refresh(self, slugs: Iterable[str] | None = None) -> int:
        """Take screenshots now, of all apps that are up if none is named. Returns how many were
        taken.

        A named app that does not exist, does not answer or has no page is not counted. An app that
        a running refresh is taking is waited for, not taken again. Raises Conflict
        `screenshots_off`.
        """
        wanted = self._to_photograph(slugs)
        self._album.switch(await self._switch.look())
        self._switch.require_browser()
        fresh = wanted.difference(*self._refreshes.values())
        if fresh:
            task = asyncio.create_task(self._take(fresh))
            self._refreshes[task] = fresh
            task.add_done_callback(self._refreshes.pop)
        joined = [task for task, busy in self._refreshes.items() if busy & wanted]
        taken: set[str] = set()
        for one in await asyncio.gather(*map(asyncio.shield, joined)):
            taken |= one
        return len(taken & wanted)

    async def icon(self, slug: str, group: Group, url: str) -> Icon | None:
        """The icon of a link of the group `slug`, None if there is none yet.

        NotFound if `url` is not a web link of the group. If a fetch brings a different icon,
        `World.icon_changed` is called.
        """
        source = icons.source(icons.link_of(group, url))
        return await self._icons.get(
            source,
            private=self._world.config().icons_allow_private,
            then=partial(self._world.icon_changed, slug),
        )

    async def run(self) -> None:
        """Renew pictures as they come due, until cancelled."""
        await self.begin()
        await self._rounds.run()

    async def close(self) -> None:
        """Cancel the fetches and screenshots that are running."""
        await self._icons.close()
        tasks = [*self._refreshes, *self._behind]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _to_photograph(self, slugs: Iterable[str] | None) -> frozenset[str]:
        states = {State.UP} if slugs is None else {State.UP, State.DEGRADED}
        named = None if slugs is None else set(slugs)
        return frozenset(
            slug
            for slug, entry in self._album
            if (named is None or slug in named)
            and entry.shown.state in states
            and entry.shown.photographed
        )

    async def _take(self, slugs: frozenset[str]) -> set[str]:
        return {slug for slug in sorted(slugs) if await self._photograph(slug)}

    async def _shoot(self, slug: str) -> float:
        """Take a screenshot on the rounds. Returns the CPU seconds that screenshots took in that
        time."""
        before = self._camera.spent
        await self._photograph(slug)
        return max(LEAST_CPU_S, self._camera.spent - before)

    async def _photograph(self, slug: str) -> bool:
        """Take a screenshot of the app. Returns whether there is a new one; otherwise the old one
        stays."""
        entry, browser = self._album.get(slug), self._switch.browser
        address = entry.shown.address if entry else None
        if entry is None or browser is None or address is None:
            return False
        thumb = entry.shown.thumb
        done = False
        try:
            png = await self._camera.take(
                browser, address, viewport=self._switch.settings.viewport,
                delay=thumb.delay, dark=thumb.dark,
            )  # fmt: skip
            await asyncio.to_thread(thumbs.keep_screenshot, slug, png)
            done = True
        except (NoShot, NoImage, CannotWrite) as error:
            log.info("no screenshot", extra={"slug": slug, "why": str(error)})
        finally:  # also after an unexpected error: the next app must have its turn
            entry.screenshot.record_try(time.monotonic(), done=done)
        await self._reread(slug, entry)
        return done

    async def _fetch(self, slug: str) -> float:
        """Fetch the app's favicon; a failure keeps the old one. Returns the CPU seconds to count
        for it."""
        entry = self._album.get(slug)
        if entry is None:
            return 0.0
        icon, url = entry.shown.icon, entry.shown.url
        done = False
        try:
            if icon is not None:
                private = self._world.config().icons_allow_private
                done = await thumbs.refresh_icon(slug, icon, private=private)
            elif url is not None:
                done = await thumbs.refresh_favicon(slug, url)
        except CannotWrite as error:
            log.warning("a favicon is not kept", extra={"slug": slug, "why": str(error)})
        finally:
            entry.favicon.record_try(time.monotonic(), done=done)
        await self._reread(slug, entry)
        return ICON_CPU_S

    async def _reread(self, slug: str, entry: AlbumEntry) -> None:
        """Read what the cache has of the app now, unless the app was removed while its picture was
        made."""
        if self._album.get(slug) is None and entry.shown.declared:
            await asyncio.to_thread(thumbs.forget, slug)
            return
        self._album.keep(slug, await asyncio.to_thread(thumbs.read_cached, slug))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._behind.add(task)
        task.add_done_callback(self._behind.discard)
