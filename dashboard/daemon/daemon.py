"""The daemon: holds what is true of this machine now, on one thread, and gives others access.

`state` holds the known values and the components that find them out, `views` is what clients read.
This module has the thread, its tasks, its start and its end.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Collection, Coroutine
from typing import Any, TypeVar

from config.errors import Unavailable
from config.process import nodes
from config.storage.watch import Watcher
from dashboard.daemon.loop import Loop, Meter
from dashboard.daemon.ownport import OwnPort
from dashboard.daemon.state import DaemonState, has_stream_clients
from dashboard.daemon.tasks import Tasks, close_all
from dashboard.daemon.views import Views
from dashboard.events import GREETING
from dashboard.files import layout, store
from dashboard.files.store import Files

T = TypeVar("T")
log = logging.getLogger(__name__)

STOP_S = 2.5
END_S, CLOSE_S = 2.0, 1.5  # of the whole shutdown; the part of it reserved for the components
LONGEST_S = 30.0  # between two tries to start


class Daemon:
    """One run of the daemon. `start` returns at once; `loaded` is set when the daemon can be asked.
    What is below `state` and `views` belongs to its thread: other threads use `ask` and `wait`.

    `own_ports` are never listed; `port` says how the dashboard got its own port; `open_files` is
    the soft limit that is restored for services.
    """

    def __init__(
        self,
        *,
        own_ports: Collection[int] = (),
        port: OwnPort | None = None,
        open_files: int | None = None,
    ) -> None:
        self.loaded = threading.Event()
        self._loop = Loop("svc-dashboard")
        self._meter = Meter(self._loop)
        self._looking = threading.Lock()
        self._ending = asyncio.Event()
        self._adopted = asyncio.Event()
        self.state = DaemonState(port or OwnPort(), frozenset(own_ports), open_files)
        self.views = Views(self.state)
        self._tasks = Tasks(self.state.bump)
        self.state.faults = self._tasks.errors
        self._unfollow: Callable[[], None] = lambda: None

    # To be called from any thread but the daemon's own.

    def ask(self, call: Callable[..., T], *args: Any) -> T:
        """Return or raise what `call(*args)` does on the daemon's thread."""
        return self._loop.ask(call, *args)

    def wait(self, make: Callable[..., Coroutine[Any, Any, T]], *args: Any) -> T:
        """Return or raise what the coroutine `make(*args)` does on the daemon's loop."""
        return self._loop.wait(make, *args)

    def sync(self) -> None:
        """Return once the daemon knows the files as they are now."""
        with self._looking:
            files = store.look()
            if not _same(files, self.state.files):
                self._loop.ask(self.state.take_files, files)

    def start(self) -> None:
        """Begin to load the files; returns at once."""
        self._loop.start(self._main)
        self._meter.start()

    def stop(self) -> bool:
        """Flush, write the journal and leave the services running. Whether it ended in time."""
        self._meter.stop()
        self._loop.soon(self._ending.set)
        return self._loop.join(STOP_S)

    # The run itself.

    async def _main(self) -> None:
        loading = asyncio.create_task(self._load())
        try:
            await self._ending.wait()
        finally:
            loading.cancel()  # a stop during the load does not wait for a slow disk or browser
            await asyncio.wait((loading,))
            await self._end()

    async def _load(self) -> None:
        delay = 1.0
        while True:
            try:
                await self._begin()
                return
            except Exception:
                log.exception("the dashboard's daemon did not start; again in %g s", delay)
                await asyncio.sleep(delay)
                delay = min(2 * delay, LONGEST_S)

    async def _begin(self) -> None:
        """Load the files and the history, make the first census, start the tasks."""
        state = self.state
        state.files = await asyncio.to_thread(store.look)
        await state.history.begin()
        await state.gallery.begin()
        state.turn("scan")
        GREETING.on_join = self._client_joined
        self.loaded.set()
        self._unfollow = nodes.follow(lambda: self._loop.soon(state.events.nodes))
        if has_stream_clients():
            state.events.apps("resync")  # a client that came earlier had every request refused
        self._tasks.start(
            {
                "services": self._services,
                "scan": state.scanning.run,
                "probe": state.runner.run,
                "files": self._files,
                "history": state.history.run,
                "lost": self._remember,
                "thumbs": state.gallery.run,
            }
        )

    async def _services(self) -> None:
        """Adopt running services, start those that should run. The supervisor does the rest."""
        apps = self.state.census.apps.values()
        await self.state.services.begin({app.slug: app.service for app in apps if app.service})
        self.state.turn("scan")
        self._adopted.set()
        await asyncio.Event().wait()

    async def _remember(self) -> None:
        """Keep the journal, once it is known which services are alive."""
        await self._adopted.wait()
        await self.state.lost.begin()
        await self.state.lost.run()

    async def _files(self) -> None:
        """Take in every change of a file shortly after it was made."""
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
        """End within 2.5 s; a component that does not end by itself ends with the process."""
        state, by = self.state, asyncio.get_running_loop().time() + END_S
        self.loaded.clear()
        self._unfollow()
        GREETING.on_join = lambda: None
        await close_all({"tasks": self._tasks.close}, by - CLOSE_S)
        await close_all(
            {
                "journal": state.lost.close,
                "history": state.history.close,
                "signals": state.standings.close,
                "services": state.services.close,
                "gallery": state.gallery.close,
                "scan": state.scanning.close,
            },
            by,
        )
        state.events.flush()

    def _client_joined(self) -> None:
        self._loop.soon(self.state.scanning.quicken)


def _folders() -> list[Any]:
    return [layout.home(), layout.folder("apps"), layout.folder("bookmarks")]


def _same(files: Files, known: Files | None) -> bool:
    """Whether all files are unchanged: entries are the same objects until their file changes."""
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
