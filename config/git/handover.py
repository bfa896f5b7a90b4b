"""The last step of a commit, discard or apply, in a process of its own that outlives the service.

Everything is ready when it begins, so it takes milliseconds. If the service is killed meanwhile,
the repository is left either as it was or fully changed, without a lock of ours. The user's index
is changed as git does it: under `index.lock`, by one rename. Does not need Django. See
docs/design/review.md#committing-and-discarding.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from config.git import entries, placing
from config.git.entries import Entry
from config.storage import displaced, opening

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
WAIT_S = 20.0  # for git to move a ref
LARGEST = 1 << 30  # bytes of an index


class HandoverRefused(Exception):
    """Nothing was changed. `why`: locked, index (it changed), moved (a file changed), astray (git
    would not write that path), ref, disk."""

    def __init__(self, why: str, text: str = "") -> None:
        super().__init__(why, text)
        self.why, self.text = why, text


def run(job: Mapping[str, Any]) -> None:
    """Do the job in a process of its own, and wait for it. HandoverRefused if nothing was changed.

    `index` is {path, new, was} or null: the file, the file of its new content, the `mark` of its
    old content. `files` is a list of {path, was, mode, source} below `root`: `was` is the (mode,
    oid) that is there or null, `mode` and `source` are the mode and the file of the new content,
    `mode` null to delete. `ref` is {argv, env} of the command that moves HEAD, or null.
    """
    child = subprocess.Popen(
        [sys.executable, "-S", "-m", __name__],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    told, _ = child.communicate(json.dumps(job).encode())
    try:
        why, text = json.loads(told)
    except ValueError:
        raise HandoverRefused(
            "disk", f"the process that was to do it ended with {child.returncode}"
        ) from None
    if why:
        raise HandoverRefused(why, text)


def mark(path: str | Path) -> str:
    """A hash of the contents of an index; "" if there is none."""
    try:
        return hashlib.sha256(opening.contents(path, limit=LARGEST)).hexdigest()
    except FileNotFoundError:
        return ""


def main() -> None:
    """The body of the process. A job that did not arrive complete is ignored."""
    for one in SIGNALS:
        signal.signal(one, signal.SIG_IGN)
    try:
        job = json.loads(sys.stdin.buffer.read())
    except ValueError:
        return
    try:
        _Job(job).do()
        told = ("", "")
    except HandoverRefused as refused:
        told = (refused.why, refused.text)
    except OSError as error:
        told = ("disk", os.strerror(error.errno) if error.errno else str(error))
    displaced.settle()
    with contextlib.suppress(OSError):  # the caller may have ended
        os.write(sys.stdout.fileno(), json.dumps(told).encode())


class _Job:
    """One handover: all of it or nothing."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.root, self.sha256 = job["root"], job["sha256"]
        self.index, self.files, self.ref = job["index"], job["files"], job["ref"]
        self.placed: list[tuple[str, Any, bytes]] = []

    def do(self) -> None:
        lock = self._lock() if self.index else None
        try:
            if self.index and mark(self.index["path"]) != self.index["was"]:
                raise HandoverRefused("index")
            placing.sweep(self.root, [change["path"] for change in self.files])
            for change in self.files:
                self._place(change)
            if self.ref:
                self._move()
            if lock:
                lock.replace(self.index["path"])
        except BaseException:
            self._back()
            if lock:
                lock.unlink()
            raise

    def _lock(self) -> Path:
        """Write the new index as `index.lock`, which keeps every git from writing the index."""
        data = opening.contents(self.index["new"], limit=LARGEST)
        place = Path(self.index["path"])
        lock = place.with_name(f"{place.name}.lock")
        try:
            fd = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        except FileExistsError:
            raise HandoverRefused("locked") from None
        try:
            with os.fdopen(fd, "wb") as file:
                with contextlib.suppress(FileNotFoundError):
                    os.fchmod(fd, place.stat().st_mode & 0o777)
                file.write(data)
                file.flush()
                os.fsync(fd)
        except BaseException:
            lock.unlink()
            raise
        return lock

    def _place(self, change: dict[str, Any]) -> None:
        path, was = change["path"], change["was"]
        try:
            found = entries.at(self.root, path, sha256=self.sha256)
            if (found.entry if found else None) != (Entry(*was) if was else None):
                raise HandoverRefused("moved", path)
            wanted = None
            if change["mode"] is not None:
                source = opening.contents(change["source"], limit=LARGEST)
                wanted = (change["mode"], source)
            elif found is None:
                return
            placing.place(self.root, path, found, wanted, sha256=self.sha256)
        except entries.Astray:
            raise HandoverRefused("astray", path) from None
        except (placing.PathChanged, entries.Odd):
            raise HandoverRefused("moved", path) from None
        if wanted is None:
            placing.tidy(self.root, path)  # at once: a file may have to replace its folder
        self.placed.append((path, found, b"" if wanted is None else wanted[1]))

    def _back(self) -> None:
        """Undo what was placed; a file that was written again since then is kept."""
        for path, before, data in reversed(self.placed):
            with contextlib.suppress(OSError, placing.PathChanged, entries.Odd):
                found = entries.at(self.root, path, sha256=self.sha256)
                if (found.data if found else b"") == data:
                    wanted = (before.entry.mode, before.data) if before else None
                    placing.place(self.root, path, found, wanted, sha256=self.sha256)

    def _move(self) -> None:
        try:
            done = subprocess.run(
                self.ref["argv"], cwd=self.root, env=self.ref["env"], stdin=subprocess.DEVNULL,
                capture_output=True, timeout=WAIT_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise HandoverRefused("ref", f"git took more than {WAIT_S:g} seconds") from None
        if done.returncode:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            raise HandoverRefused(
                "ref", lines[0].removeprefix("fatal: ") if lines else "git failed"
            )


if __name__ == "__main__":
    main()
