"""The daemon: what is true of this machine now, on one thread, and the way to it for all others.

The rooms do the work and `present` holds them together; here are the thread, its tasks, its start
and its end (contract 1.2).
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Collection, Coroutine
from typing import Any, TypeVar

from config.kernel.errors import Unavailable
from config.kernel.process import nodes
from config.kernel.storage.watch import Watcher
from config.kernel.waits import happened
from dashboard.daemon import ending, views
from dashboard.daemon.facts import Facts
from dashboard.daemon.lag import Meter
from dashboard.daemon.loop import Loop
from dashboard.daemon.ownport import OwnPort
from dashboard.daemon.present import Present
from dashboard.daemon.tasks import Tasks
from dashboard.daemon.world import watched
from dashboard.events import STANDING, Telling
from dashboard.files import places, store
from dashboard.files.schema.config import Config
from dashboard.files.store import Files
from dashboard.gallery import Gallery
from dashboard.health.runner import Runner
from dashboard.history.recorder import Recorder
from dashboard.lost import Lost
from dashboard.registry.census import Census
from dashboard.services.supervise import Supervisor

T = TypeVar("T")
log = logging.getLogger(__name__)

STOP_S = 2.5
END_S, CLOSE_S = 2.2, 1.5  # for the whole end, and what of that is the rooms' at least
LONGEST_S = 30.0  # between two tries to start


class Daemon:
    """One run. `start` returns at once; `loaded` is set when it can be asked.

    `own_ports` are never listed; `port` says how the own port was come by; `open_files` is the
    soft limit that services get back.
    """

    def __init__(
        self,
        *,
        own_ports: Collection[int] = (),
        port: OwnPort | None = None,
        open_files: int | None = None,
    ) -> None:
        self.boot = STANDING.boot
        self.loaded = threading.Event()
        self._loop = Loop("svc-dashboard")
        self._meter = Meter(self._loop)
        self._looking = threading.Lock()
        self._ending = asyncio.Event()
        self._adopted = asyncio.Event()
        self._facts = Facts(self.boot, port or OwnPort())
        self._present = Present(self._facts, frozenset(own_ports), open_files)
        self._tasks = Tasks(self._present.views.bump)
        self._facts.faults = self._tasks.errors
        self._unfollow: Callable[[], None] = lambda: None

    # From any thread but the daemon's own.

    def ask(self, call: Callable[..., T], *args: Any) -> T:
        """What `call(*args)` returns or raises on the daemon's thread."""
        return self._loop.ask(call, *args)

    def wait(self, make: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
        """What the coroutine `make(*args)` comes to on the daemon's loop."""
        return self._loop.wait(make, *args)

    def sync(self) -> None:
        """When it returns the daemon knows the files as they are now."""
        with self._looking:
            files = store.look()
            if not _same(files, self._facts.files):
                self._loop.ask(self._present.take_files, files)

    def start(self) -> None:
        """Begin to load; returns at once."""
        self._loop.start(self._main)
        self._meter.start()

    def stop(self) -> bool:
        """Flush, write the journal, leave the services running; whether it ended in time."""
        self._meter.stop()
        self._loop.soon(self._ending.set)
        return self._loop.join(STOP_S)

    # On the daemon's thread only.

    @property
    def files(self) -> Files:
        return self._facts.loaded

    @property
    def config(self) -> Config:
        return self._facts.config

    @property
    def census(self) -> Census:
        return self._facts.census

    @property
    def services(self) -> Supervisor:
        return self._facts.rooms.services

    @property
    def lost(self) -> Lost:
        return self._facts.rooms.lost

    @property
    def gallery(self) -> Gallery:
        return self._facts.rooms.gallery

    @property
    def telling(self) -> Telling:
        return self._present.telling

    @property
    def recorder(self) -> Recorder:
        return self._facts.keeping.recorder

    @property
    def runner(self) -> Runner:
        return self._facts.runner

    @property
    def rev(self) -> int:
        return self._present.views.rev

    def app(self, slug: str, *, config: views.Config = None) -> dict[str, Any] | None:
        """The App of section 7, declared or discovered; None when there is none."""
        return self._present.views.app(slug, config)

    def apps(self, *, config: views.Config = None) -> list[dict[str, Any]]:
        """Every App: declared ones in the order of slugs, then discovered ones."""
        return self._present.views.apps(config)

    def observed(self) -> dict[str, Any]:
        """`{observed, ignored, ignoreEtag, scannedAt, partial}`."""
        return self._present.views.observed()

    def names(self) -> list[tuple[str, str, str | None]]:
        """Slug, name and address of every app."""
        return self._present.views.names()

    def attention(self) -> int:
        """How many apps need attention."""
        return self._present.views.attention()

    def counts(self) -> dict[str, int]:
        """How many apps are in each state."""
        return self._present.views.counts()

    def groups(self) -> list[dict[str, Any]]:
        return self._present.views.groups()

    def group(self, name: str) -> dict[str, Any] | None:
        return self._present.views.group(name)

    def config_record(self) -> dict[str, Any]:
        """The Config of section 7."""
        return self._present.views.config()

    def state(self) -> tuple[bytes, str]:
        """The State as JSON, and its weak ETag."""
        return self._present.views.state()

    def file_errors(self) -> list[dict[str, Any]]:
        """What is wrong with files, tasks, the database and the own port."""
        return self._facts.file_errors()

    async def scan_now(self) -> dict[str, Any]:
        """One scan; who asks meanwhile shares it (7.11). Conflict `scan_off`."""
        return await self._present.scanning.now()

    async def recognise(self, slug: str) -> None:
        """Return once what was started under this slug is an app, or does not become one."""
        await self._present.scanning.recognise(lambda: slug in self.census.apps)

    async def written(self, slug: str) -> None:
        """Return once its changes of state are on disk, or the database keeps us waiting."""
        await self._facts.keeping.written(slug)

    # The run.

    async def _main(self) -> None:
        delay = 1.0
        while not self._ending.is_set():
            try:
                await self._begin()
                break
            except Exception:
                log.exception("the dashboard's daemon did not start; again in %g s", delay)
                await happened(self._ending, delay)
                delay = min(2 * delay, LONGEST_S)
        try:
            await self._ending.wait()
        finally:
            await self._end()

    async def _begin(self) -> None:
        """Load the files, take up the apps and the services that run, start the tasks."""
        facts, present = self._facts, self._present
        facts.files = await asyncio.to_thread(store.look)
        await facts.keeping.begin()
        await facts.rooms.gallery.begin()
        present.turn("scan")
        STANDING.on_join = self._joined
        self.loaded.set()
        self._unfollow = nodes.follow(lambda: self._loop.soon(self.telling.nodes))
        if watched():
            self.telling.apps("resync")  # whoever came early has been refused everything
        self._tasks.start(
            {
                "services": self._services,
                "scan": self._present.scanning.run,
                "probe": facts.runner.run,
                "files": self._files,
                "history": facts.keeping.run,
                "lost": self._remember,
                "thumbs": facts.rooms.gallery.run,
            }
        )

    async def _services(self) -> None:
        """Adopt what runs, start what should; the supervisor's own tasks do the rest."""
        apps = self._facts.census.apps.values()
        await self.services.begin({app.slug: app.service for app in apps if app.service})
        self._present.turn("scan")
        self._adopted.set()
        await asyncio.Event().wait()

    async def _remember(self) -> None:
        """The journal, once it is known which services live."""
        await self._adopted.wait()
        await self.lost.begin()
        await self.lost.run()

    async def _files(self) -> None:
        """Know every change of a file a moment after it was made."""
        changed = asyncio.Event()
        watcher = Watcher(_folders, lambda _paths: self._loop.soon(changed.set))
        await asyncio.to_thread(watcher.start)
        try:
            while True:
                await asyncio.to_thread(self.sync)
                await changed.wait()
                changed.clear()
        finally:
            await asyncio.to_thread(watcher.stop)

    async def _end(self) -> None:
        """Within 2.5 s; what does not end by itself ends with the process."""
        facts, present = self._facts, self._present
        by = asyncio.get_running_loop().time() + END_S
        self.loaded.clear()
        self._unfollow()
        STANDING.on_join = lambda: None
        await ending.close({"tasks": self._tasks.close}, by - CLOSE_S)
        await ending.close(
            {
                "journal": facts.rooms.lost.close,
                "history": facts.keeping.close,
                "services": facts.rooms.services.close,
                "gallery": facts.rooms.gallery.close,
                "scan": present.scanning.close,
            },
            by,
        )
        present.telling.flush()

    def _joined(self) -> None:
        self._loop.soon(self._present.scanning.quicken)


def _folders() -> list[Any]:
    return [places.home(), places.folder("apps"), places.folder("bookmarks")]


def _same(files: Files, known: Files | None) -> bool:
    """Whether no file differs: entries are the same objects until their file changes."""
    return known is not None and (
        files.config is known.config
        and files.ignore is known.ignore
        and files.problems == known.problems
        and _all_same(files.apps, known.apps)
        and _all_same(files.groups, known.groups)
    )


def _all_same(found: dict[str, Any], known: dict[str, Any]) -> bool:
    return found.keys() == known.keys() and all(known[name] is one for name, one in found.items())


def starting() -> Unavailable:
    return Unavailable("The daemon is still starting; try again in a second.", code="starting")
