"""Which files of a set of folders changed, told within milliseconds, and within 5 s at the worst.

Notifications of the system come first; a poll finds what they missed (network disks, symlinked
files, overflows). Correctness never depends on either: readers look at the file itself.
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
from config.storage.notify import Wake, notify

log = logging.getLogger(__name__)

POLL_S = 5.0
BLIND_S = 1.0  # between two polls where the system notifies of nothing

Folders = Callable[[], Iterable[Path]]
FileStamps = dict[Path, str]


class Watcher:
    """Calls `on_change` with the paths that appeared, changed or went, from a thread of its own.

    Only the files directly in the folders are watched, never below. A folder that appears in
    `folders()` later is found by itself, or at once after `rebuild()`.
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
        self._seen: FileStamps = {}

    def start(self) -> None:
        """Returns when changes from now on are seen."""
        self._seen = _look(self._folders())
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
        """Look at `folders()` again now."""
        self._again.set()

    def _run(self) -> None:
        failed = 0  # times in a row
        while True:
            self._again.clear()
            if self._stop.is_set():
                return
            try:
                self._watch(self._existing())
                failed = 0
            except Exception as error:
                failed += 1
                self._compare()
                if failed == 1:
                    continue  # perhaps a folder went just then
                if failed == 2:
                    log.warning("file watching failed; polling goes on: %s", error, exc_info=True)
                self._ready.set()
                self._again.wait(min(self._poll_s, BLIND_S))
            self._ready.set()

    def _existing(self) -> frozenset[Path]:
        return frozenset(path for path in self._folders() if path.is_dir())

    def _watch(self, folders: frozenset[Path]) -> None:
        """Watch one fixed set until it changes; what came between two sets is found by a look."""
        if not folders:
            self._ready.set()
            self._again.wait(self._poll_s)
            return
        with notify(sorted(folders)) as told:
            self._compare()
            self._ready.set()
            looked = time.monotonic()
            while True:
                paths = told.wait(self._poll_s, self._again)
                if paths is None:
                    return
                self._tell(self._news(paths, folders))
                if time.monotonic() - looked >= self._poll_s:
                    self._compare()
                    looked = time.monotonic()
                if self._existing() != folders:
                    return

    def _news(self, paths: set[Path], folders: frozenset[Path]) -> set[Path]:
        """Those that really differ from what was seen, which is brought up to them.

        One that is not there counts: others may have read it while it was.
        """
        changed = set()
        for path in paths:
            if path.parent not in folders or path.name.startswith(PREFIX):
                continue
            now = _stamp(path)
            if now is None or now != self._seen.get(path):
                changed.add(path)
                if now is None:
                    self._seen.pop(path, None)
                else:
                    self._seen[path] = now
        return changed

    def _compare(self) -> None:
        """The poll: every file of every folder against what was seen before."""
        before, self._seen = self._seen, _look(self._folders())
        either = before.keys() | self._seen.keys()
        self._tell({path for path in either if before.get(path) != self._seen.get(path)})

    def _tell(self, changed: set[Path]) -> None:
        if not changed or self._stop.is_set():
            return
        try:
            self._on_change(changed)
        except Exception:
            log.exception("a change of files was not handled")


def _look(folders: Iterable[Path]) -> FileStamps:
    seen: FileStamps = {}
    for folder in folders:
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            for entry in entries:
                if not entry.name.startswith(PREFIX) and (stamp := _stamp(Path(entry.path))):
                    seen[folder / entry.name] = stamp
    return seen


def _stamp(path: Path) -> str | None:
    """What tells one state of a file from the next; of a folder only that it is this one."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return "broken link" if path.is_symlink() else None
    except OSError as error:
        return f"error {error.errno}"
    if modes.S_ISDIR(found.st_mode):
        return f"folder {found.st_ino}"
    return f"{found.st_mtime_ns}:{found.st_size}:{found.st_ino}"
