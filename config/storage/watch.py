"""Reports which files of a set of folders changed, within milliseconds, and within 5 s at worst.

Notifications of the system come first; a poll finds what they miss (network disks, symlinked files,
overflows). Correctness never depends on either: readers look at the file itself.
"""

from __future__ import annotations

import contextlib
import logging
import os
import stat as modes
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from config.storage.files import PREFIX
from config.storage.notify import Notify, Wake, notify

log = logging.getLogger(__name__)

POLL_S = 5.0
BLIND_S = 1.0  # between two polls while the system gives no notifications
SHARE = 0.2  # at most this share of a core is spent on finding the folders, however many there are

Folders = Callable[[], Iterable[Path]]
Stamp = tuple[int | str, ...]  # what distinguishes one state of a file from the next
FileStamps = dict[str, Stamp]  # of the files directly in a folder, by their names


class Watcher:
    """Calls `on_change` with the paths that appeared, changed or vanished, from a thread of its
    own.

    Only the files directly in the folders are watched, never those below. `folders()` is called
    again when a folder in one of them appeared or vanished, after `rebuild()`, and with each poll;
    folders that are watched already stay watched.
    """

    def __init__(
        self, folders: Folders, on_change: Callable[[set[Path]], None], *, poll_s: float = POLL_S
    ) -> None:
        self._folders = folders
        self._on_change = on_change
        self._poll_s = poll_s
        self._stop = threading.Event()
        self._again = Wake()
        self._ready = threading.Event()
        self._thread: threading.Thread | None = None
        self._seen: dict[Path, FileStamps] = {}

    def start(self) -> None:
        """Start watching. When this returns, later changes are noticed."""
        self._seen = {folder: _look(folder) for folder in self._folders()}
        self._thread = threading.Thread(target=self._run, name="watcher", daemon=True)
        self._thread.start()
        self._ready.wait(self._poll_s)

    def stop(self) -> None:
        self._stop.set()
        self._again.set()
        if self._thread is not None:
            self._thread.join(self._poll_s)
        if self._thread is None or not self._thread.is_alive():
            self._again.close()

    def rebuild(self) -> None:
        """Call `folders()` again soon."""
        self._again.set()

    def _run(self) -> None:
        failed = 0  # times in a row
        while True:
            self._again.clear()
            if self._stop.is_set():
                return
            try:
                self._watch()
                failed = 0
            except Exception as error:
                failed += 1
                self._poll()
                if failed == 1:
                    continue  # perhaps a folder was just removed
                if failed == 2:
                    log.warning("file watching failed; polling goes on: %s", error, exc_info=True)
                self._ready.set()
                self._again.wait(min(self._poll_s, BLIND_S))
            self._ready.set()

    def _poll(self) -> None:
        """Poll once after watching failed. Finding the folders may fail too, as when all of them
        are gone: then a later poll finds what came back."""
        try:
            self._compare(self._folders())
        except Exception as error:
            log.debug("the watched folders are not found: %s", error)

    def _watch(self) -> None:
        """Watch until events were lost or `stop` was called."""
        folders = frozenset(self._folders())
        with notify(folders) as told:
            self._compare(folders)
            self._ready.set()
            looked = time.monotonic()
            rested, pending = looked, False  # when the folders may be found again
            while True:
                patience = max(0.0, rested - time.monotonic()) if pending else self._poll_s
                paths = told.wait(patience, self._again)
                if asked := self._again.is_set():
                    self._again.clear()
                if paths is None or self._stop.is_set():
                    return
                pending |= self._tell_news(paths, folders) or asked
                if time.monotonic() - looked >= self._poll_s:
                    self._compare(folders)
                    looked, pending = time.monotonic(), True
                if pending and time.monotonic() >= rested:
                    began = time.thread_time()
                    folders, pending = self._follow(told), False
                    rested = time.monotonic() + (time.thread_time() - began) * (1 / SHARE - 1)

    def _follow(self, told: Notify) -> frozenset[Path]:
        """Watch the folders there are now. Before a new folder was watched, others may have been
        made in it: repeat until there is no new one."""
        while True:
            folders = frozenset(self._folders())
            new = told.follow(folders)
            gone = self._seen.keys() - folders
            self._note_changes({one: _look(one) for one in new} | {one: {} for one in gone})
            for folder in gone:
                del self._seen[folder]
            if not new:
                return folders

    def _tell_news(self, paths: set[Path], folders: frozenset[Path]) -> bool:
        """Report those paths that really differ from their last known state, and update it. Return
        whether a folder is among them.

        A missing path counts as different: readers may have read it while it existed.
        """
        went = paths & folders
        self._note_changes({one: _look(one) for one in went})
        changed, moved = set(), bool(went)
        for path in paths:
            if path.parent not in folders or path.name.startswith(PREFIX):
                continue
            seen = self._seen.setdefault(path.parent, {})
            before, now = seen.pop(path.name, None), _stamp(path)
            if now is not None:
                seen[path.name] = now
            if now is None or now != before:
                changed.add(path)
                moved = moved or _is_folder(before) or _is_folder(now)
        self._tell(changed)
        return moved

    def _compare(self, folders: Iterable[Path]) -> None:
        """The poll: compare every file of every folder with its last known state."""
        gone: dict[Path, FileStamps] = {one: {} for one in self._seen}
        self._note_changes(gone | {one: _look(one) for one in folders})

    def _note_changes(self, now: dict[Path, FileStamps]) -> None:
        """Make this the last known state of these folders, and report what differs."""
        changed = set()
        for folder, files in now.items():
            before, self._seen[folder] = self._seen.get(folder, {}), files
            if before != files:
                names = before.keys() | files.keys()
                changed |= {folder / one for one in names if before.get(one) != files.get(one)}
        self._tell(changed)

    def _tell(self, changed: set[Path]) -> None:
        if not changed or self._stop.is_set():
            return
        try:
            self._on_change(changed)
        except Exception:
            log.exception("a change of files was not handled")


def _look(folder: Path) -> FileStamps:
    seen: FileStamps = {}
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not entry.name.startswith(PREFIX) and (stamp := _stamp(entry)):
                seen[entry.name] = stamp
    return seen


def _stamp(path: os.PathLike[str]) -> Stamp | None:
    """The stamp of a path; for a folder only its inode counts. None if there is nothing."""
    try:
        found = os.stat(path)  # noqa: PTH116 - every file of every folder passes here
    except FileNotFoundError:
        return ("broken link",) if os.path.islink(path) else None  # noqa: PTH114 - the same
    except OSError as error:
        return ("error", error.errno or 0)
    if modes.S_ISDIR(found.st_mode):
        return ("folder", found.st_ino)
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def _is_folder(stamp: Stamp | None) -> bool:
    return stamp is not None and stamp[0] == "folder"
