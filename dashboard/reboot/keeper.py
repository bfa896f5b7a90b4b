"""The journal and the notice of what a reboot took: the entry point of this package.

Everything here is used on the daemon's thread only; disk access is in threads.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime

from config.errors import Conflict, NotFound, SvcError
from dashboard.reboot import environment, journal, notice, render, restarting
from dashboard.reboot.entry import JournalEntry, Listening
from dashboard.reboot.journal import Journal
from dashboard.reboot.notice import Item, Notice, Status
from dashboard.reboot.restarting import Restarted
from dashboard.reboot.running import Running
from dashboard.reboot.world import World
from dashboard.services import record as records
from dashboard.services.system import boot

log = logging.getLogger(__name__)

WRITE_S = 2.0
STOPPED = ("stopped", "user")
RENEW_S = 300.0  # how old a "last seen" may be after a machine lost power


class Lost:
    """One journal and one notice. Call `begin` after Supervisor.begin; `run` is a task."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._running = Running()
        self._notice = Notice()
        self._boot = ""
        self._began: float | None = None
        self._in_grace = True
        self._journal_waits = self._notice_waits = False  # to be written
        self._scanned: tuple[float, datetime] | None = None  # by both clocks
        self._stored = 0.0  # by the first clock: the scan whose times the journal on disk has
        self._refused = False  # whether the last write failed
        self._kept: bool | None = None  # whether the journal on disk has entries; None: no file
        self._earlier = False  # whether the journal on disk is of an earlier boot
        self._gone: frozenset[str] = frozenset()
        self._last_told: render.Notice | None = None
        self._restarts: dict[str, asyncio.Task[Restarted]] = {}
        self._saving = asyncio.Lock()

    async def begin(self) -> None:
        """Read journal and notice. If the journal is of another boot, its entries may be lost."""
        clock = self.world.clock
        self._boot = await asyncio.to_thread(boot.boot_id)
        self._notice = await asyncio.to_thread(notice.load)
        known = await asyncio.to_thread(journal.load)
        self._kept = bool(known.entries) if known else None
        self._earlier = known is not None and known.boot != self._boot
        if known is not None and known.boot == self._boot:
            self._running.resume(known.entries, clock.now())
        elif known is not None and self._enabled and known.boot != self._notice.taken:
            now = clock.wall()
            lost = await asyncio.to_thread(_lost, known.running())
            self._notice.take(known.boot, lost, booted=boot.booted_at(), now=now)
            self._notice_waits = True
            await self._save()
        await self._look()
        self._last_told = self.wire()
        self._began = clock.now()

    def take_scan(self, listeners: Sequence[Listening]) -> None:
        """Apply a scan: the listeners to store that listen now. Called after every scan; no disk
        access."""
        if not self._enabled or self._began is None:
            return
        self._scanned = now, at = self.world.clock.now(), self.world.clock.wall()
        if self._running.take_scan(listeners, now=now, at=at, ended=self._stopped_by_user):
            self._journal_waits = True
        slugs = {one.slug for one in listeners if one.slug is not None}
        if self._notice.drop_returned({one.id for one in listeners}, slugs):
            self._notice_waits = True
            self._tell()

    async def run(self) -> None:
        """Write what waits, every 2 s at most, and end the grace time when it is over; never
        returns."""
        while True:
            await self.step()
            await self.world.clock.sleep(WRITE_S)

    async def step(self) -> None:
        """One round: update the notice, and write what waits."""
        settings, clock = self.world.settings(), self.world.clock
        if not settings.enabled:
            await self._off()
        else:
            over = self._began is not None and clock.now() - self._began >= settings.grace
            if self._in_grace and over:
                self._grace_is_over()
            if self._notice.prune(clock.wall()):
                self._notice_waits = True
            self._renew(RENEW_S)
            await self._look()
            await self._save()
        self._tell()

    def wire(self) -> render.Notice | None:
        """The notice as the record `lost`. No disk access."""
        items = self._items.values()
        return render.notice([*items], self._gone, self.world.services)

    async def restart(
        self,
        id: str,  # noqa: A002 - the word of the API
        slug: str | None = None,
        *,
        as_service: bool = False,
    ) -> Restarted:
        """Start an item again, once or as a service from now on. 404 for an unknown id; 400; 409
        as a service.

        The start goes on if the caller is cancelled. A second caller joins the first.
        """
        item = self._item(id)
        name = f"restart {as_service} {slug}"
        running = self._restarts.get(id)
        if running is not None and running.get_name() != name:
            raise Conflict(f'"{item.entry.name}" is being started already.', code="busy")
        if running is None:
            work = self._restart(item, slug, as_service=as_service)
            running = self._restarts[id] = asyncio.create_task(work, name=name)
            running.add_done_callback(lambda done: self._restart_over(id, done))
        return await asyncio.shield(running)

    async def dismiss(self, id: str | None = None) -> render.LostNotice:  # noqa: A002
        """Dismiss one item, or the whole notice: `{lost}` with what remains. 404 for an unknown
        id."""
        ids = {*self._items} if id is None else {self._item(id).id}
        if ids:
            async with self._saving:
                await asyncio.to_thread(notice.save, self._notice.as_record(without=ids))
            self._drop(ids)
        return {"lost": self.wire()}

    async def close(self) -> None:
        """Write what waits, with the last-seen times. Commands that are being started go on
        running."""
        for task in [*self._restarts.values()]:
            task.cancel()
        if self._began is not None and self._enabled:
            self._renew()
            await self._save()

    @property
    def _enabled(self) -> bool:
        return self.world.settings().enabled

    @property
    def _items(self) -> dict[str, Item]:
        return self._notice.items if self._enabled else {}

    def _item(self, id_: str) -> Item:
        if id_ not in self._items:
            raise NotFound(f'No lost app "{id_[:40]}".')
        return self._items[id_]

    def _stopped_by_user(self, entry: JournalEntry) -> bool:
        """Whether the user stopped the service, which may have no file any more; then it is not
        lost."""
        state = self.world.services.state(entry.slug) if entry.slug and entry.service else None
        return bool(state and (state.status, state.reason) == STOPPED)

    def _renew(self, seconds: float = 0.0) -> None:
        """Have the journal written for its times alone, if they are that much older than the last
        scan."""
        if self._scanned is not None and self._kept:
            self._journal_waits |= self._scanned[0] - self._stored > seconds

    def _grace_is_over(self) -> None:
        """End the grace time; from then on an empty journal may be written too."""
        self._in_grace = False
        self._journal_waits = True
        if self._notice.pending:
            self._notice.grace_is_over(self._starts_by_itself)
            self._notice_waits = True

    def _starts_by_itself(self, entry: JournalEntry) -> bool:
        """Whether its service starts by itself, as its file says now, or as stored if it has no
        file."""
        if entry.slug is None or not entry.service:
            return False
        service = self.world.services.find_definition(entry.slug)
        return service.autostart if service else entry.autostart

    async def _restart(self, item: Item, wanted: str | None, *, as_service: bool) -> Restarted:
        services = self.world.services
        slug = await restarting.slug_for(item.entry, wanted, services, as_service=as_service)
        await self._look()
        why = render.blocked_reason(item, self._gone, services)
        if why is not None and not (as_service and why == render.OFF):
            return restarting.answer(
                item, slug, restarting.not_started("blocked", f"Not started: {why}.")
            )
        self._mark(item.id, slug=slug, status="starting", note=None)
        start = restarting.as_service if as_service else restarting.once
        try:
            outcome = await start(item.entry, slug, services)
        except BaseException:
            self._mark(item.id, slug=item.entry.slug, status=item.status, note=item.note)
            raise
        told = restarting.answer(item, slug, outcome)
        if told["ok"]:
            self._drop({item.id})
        else:
            self._mark(item.id, slug=slug, status="failed", note=told["message"])
        await self._save()
        return told

    def _restart_over(self, id_: str, done: asyncio.Task[Restarted]) -> None:
        self._restarts.pop(id_, None)
        if not done.cancelled():
            done.exception()  # retrieves the exception, as the caller may be gone

    def _mark(self, id_: str, *, slug: str | None, status: Status, note: str | None) -> None:
        item = self._notice.items.get(id_)
        if item is not None:
            entry = replace(item.entry, slug=slug)
            self._notice.items[id_] = replace(item, entry=entry, status=status, note=note)
            self._notice_waits = True
            self._tell()

    def _drop(self, ids: Collection[str]) -> None:
        for id_ in ids:
            self._notice.items.pop(id_, None)
        self._notice_waits = True
        self._tell()

    def _tell(self) -> None:
        now = self.wire()
        if now != self._last_told:
            self._last_told = now
            self.world.changed([*self._items])

    async def _look(self) -> None:
        """Find the items whose directories are gone, so that an answer need not wait for the
        disk."""
        if self._notice.items:
            self._gone = await asyncio.to_thread(render.gone_ids, [*self._notice.items.values()])

    async def _save(self) -> None:
        """Write what waits; after a failure the next step tries again."""
        async with self._saving:
            try:
                await self._write_notice()
                await self._write_journal()
                self._refused = False
            except (SvcError, OSError) as error:
                if not self._refused:
                    log.warning("the journal of running apps", extra={"why": str(error)})
                self._refused = True

    async def _write_notice(self) -> None:
        """Always written before the journal, whose old entries it has taken over."""
        if self._notice_waits:
            self._notice_waits = False
            try:
                await asyncio.to_thread(notice.save, self._notice.as_record())
            except BaseException:
                self._notice_waits = True
                raise

    async def _write_journal(self) -> None:
        """Write the journal, but do not replace entries of an earlier boot with none in the grace
        time."""
        if unread := self._running.unread():
            self._running.know(await asyncio.to_thread(environment.read, unread))
        if not self._journal_waits:
            return
        entries = tuple(self._running.entries())
        if not entries and self._in_grace and self._kept and self._earlier:
            return
        self._journal_waits = False
        scan = self._scanned or (0.0, self.world.clock.wall())
        made = Journal(self._boot, scan[1], entries)
        try:
            await asyncio.to_thread(journal.save, made)
        except BaseException:
            self._journal_waits = True
            raise
        self._kept, self._earlier, self._stored = bool(entries), False, scan[0]

    async def _off(self) -> None:
        """Store nothing while `lost` is disabled; what is already lost is kept, but not shown."""
        self._running = Running()
        if self._kept is not None:
            async with self._saving:
                await asyncio.to_thread(journal.remove)
            self._kept = None


def _lost(running: Sequence[JournalEntry]) -> list[JournalEntry]:
    """The entries without the services that the user stopped after the last scan that saw them,
    with or without a file today. Blocks."""
    return [
        one
        for one in running
        if not (one.slug and one.service and (known := records.load(one.slug)))
        or (known.status, known.reason) != STOPPED
    ]
