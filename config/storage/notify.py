"""Notifications of changed files, with the means of the system, and an event that ends the wait."""

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
        with contextlib.suppress(OSError):  # full: it is set; closed: no thread waits
            self._bell.send(b"!")

    def is_set(self) -> bool:
        return self.wait(0)

    def wait(self, seconds: float) -> bool:
        """Whether it is set, or becomes set within that time."""
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
    """Waits for changes directly in a set of folders."""

    def wait(self, seconds: float, wake: Wake) -> set[Path] | None:
        """The paths that changed, and folders that were themselves removed; empty when the time is
        over or `wake` is set; None if events were lost."""

    def follow(self, folders: Iterable[Path]) -> set[Path]:
        """Watch those of these folders that exist. Return the ones to read again, because they are
        new or because other files are in them."""


class Stepping:
    """watchfiles: it wakes up at every step to check for changes."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = _existing(folders)
        self._begin()

    def _begin(self) -> None:
        from watchfiles._rust_notify import RustNotify  # its documented low-level interface

        self._names = {one.resolve(): one for one in self._folders}  # macOS resolves links
        names = sorted(map(str, self._folders))
        self._notify = RustNotify(names, False, False, 0, False, True)

    def follow(self, folders: Iterable[Path]) -> set[Path]:
        """It can only watch the folders that it began with: for another set it starts over."""
        if self._folders == (wanted := _existing(folders)):
            return set()
        self._notify.close()
        self._folders = wanted
        self._begin()
        return wanted

    def wait(self, seconds: float, wake: Wake) -> set[Path] | None:
        most = max(1, int(seconds * 1000))  # 0 would wait without limit
        found = self._notify.watch(DEBOUNCE_MS, STEP_MS, most, wake)
        return (
            {self._requested_path(Path(path)) for _, path in found}
            if isinstance(found, set)
            else set()
        )

    def _requested_path(self, path: Path) -> Path:
        folder = self._names.get(path.parent)
        return path if folder is None else folder / path.name

    def close(self) -> None:
        self._notify.close()


def _existing(folders: Iterable[Path]) -> set[Path]:
    return {folder for folder in folders if folder.is_dir()}


def notify(folders: Iterable[Path]) -> AbstractContextManager[Notify]:
    """The best Notify of this system. OSError, or watchfiles' own error, if the system refuses."""
    from config.storage import inotify

    if inotify.KNOWN:
        return contextlib.closing(inotify.Inotify(folders))
    return contextlib.closing(Stepping(folders))
