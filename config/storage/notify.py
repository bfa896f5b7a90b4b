"""Notifications of changed files, by what the system has for it, and what ends a wait for them."""

from __future__ import annotations

import contextlib
import select
import socket
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

STEP_MS, DEBOUNCE_MS = 25, 50


class Wake:
    """An event that a thread can wait for together with descriptors."""

    def __init__(self) -> None:
        self._ear, self._bell = socket.socketpair()
        self._ear.setblocking(False)
        self._bell.setblocking(False)

    def fileno(self) -> int:
        return self._ear.fileno()

    def set(self) -> None:
        with contextlib.suppress(OSError):  # full: it is set; closed: nobody waits
            self._bell.send(b"!")

    def is_set(self) -> bool:
        return self.wait(0)

    def wait(self, seconds: float) -> bool:
        """Whether it is set, or came to be in that time."""
        poll = select.poll()
        poll.register(self._ear, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def clear(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._ear.recv(4096):
                pass

    def close(self) -> None:
        self._ear.close()
        self._bell.close()


class Notify(Protocol):
    """Waits for changes directly in a fixed set of folders."""

    def wait(self, seconds: float, wake: Wake) -> set[Path] | None:
        """The paths that changed; empty when the time is over; None when `wake` was set, or when
        the folders have to be looked at again."""


class Stepping:
    """watchfiles: in every step it wakes to look whether there is something."""

    def __init__(self, folders: Iterable[Path]) -> None:
        from watchfiles._rust_notify import RustNotify  # its documented low-level interface

        folders = list(folders)
        self._names = {one.resolve(): one for one in folders}  # macOS tells no links
        self._notify = RustNotify([str(one) for one in folders], False, False, 0, False, True)

    def wait(self, seconds: float, wake: Wake) -> set[Path] | None:
        found = self._notify.watch(DEBOUNCE_MS, STEP_MS, int(seconds * 1000), wake)
        if found in ("stop", "signal"):
            return None
        return {self._named(Path(path)) for _, path in found} if isinstance(found, set) else set()

    def _named(self, path: Path) -> Path:
        folder = self._names.get(path.parent)
        return path if folder is None else folder / path.name

    def close(self) -> None:
        self._notify.close()


def notify(folders: Iterable[Path]) -> AbstractContextManager[Notify]:
    """OSError, or what watchfiles makes of it, where the system refuses."""
    from config.storage import inotify

    if inotify.KNOWN:
        return contextlib.closing(inotify.Inotify(folders))
    return contextlib.closing(Stepping(folders))
