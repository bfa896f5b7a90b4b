"""One server process per data directory, and on SQLite one data directory per projects directory:
a second start is refused and names the first.

The lock belongs to an open file, so it is released when its process ends, however it ends.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings

from config.options import OptionError
from config.storage import opening

TRIES_S = (0.0, 0.02, 0.1)  # `holder` takes the lock for a moment to test it


class Instance:
    """The lock of the only process `name` of a data directory, and what it publishes about itself.

    `state/<name>.lock` is held while the process lives; `state/<name>.json` describes it.
    """

    def __init__(self, data_dir: Path, name: str) -> None:
        self.data_dir, self.name = data_dir, name
        self._lock = data_dir / "state" / f"{name}.lock"
        self.file = data_dir / "state" / f"{name}.json"
        self._descriptor: int | None = None

    def acquire(self, *, inheritable: bool = False) -> None:
        """Take the lock, or raise OptionError naming its holder."""
        descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if not any(_lock(descriptor, pause) for pause in TRIES_S):
                raise OptionError(self._refusal())
        except OptionError:
            os.close(descriptor)
            raise
        os.set_inheritable(descriptor, inheritable)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, b"%d\n" % os.getpid())
        self._descriptor = descriptor

    def refuse_second(self) -> None:
        """OptionError if another process holds the lock; does not take it."""
        if self.holder() is not None:
            raise OptionError(self._refusal())

    def publish(self, facts: Mapping[str, Any]) -> None:
        """Publish `facts`, replaced as a whole so that no reader sees half of it."""
        draft = self.file.with_name(f".svc-tmp-{self.name}-{os.getpid()}")
        draft.touch(mode=0o600)
        draft.write_bytes(orjson.dumps({"pid": os.getpid(), **facts}))
        draft.replace(self.file)

    def release(self) -> None:
        if self._descriptor is not None:
            self.file.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = None

    def holder(self) -> dict[str, Any] | None:
        """What the living holder published, only its pid before that; None if there is none."""
        try:
            descriptor = os.open(self._lock, os.O_RDWR)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return self._holder_facts(os.read(descriptor, 32))
        except OSError:
            return None  # a disk without locks: no process can hold it
        finally:
            os.close(descriptor)
        return None

    def _holder_facts(self, pid: bytes) -> dict[str, Any]:
        known = {"pid": int(pid)} if pid.strip().isdigit() else {}
        try:
            told: dict[str, Any] = orjson.loads(opening.contents(self.file))
        except (OSError, ValueError):
            return known
        return told if told.get("pid") == known.get("pid") else known

    def _refusal(self) -> str:
        facts = Instance(self.data_dir, "server").holder() or self.holder() or {}
        port = facts.get("ports", {}).get("main")
        where = f", port {port}" if port else ""
        return (
            f"another svc serves {self.data_dir} already "
            f"(pid {facts.get('pid', 'unknown')}{where}); "
            "stop it, or set SVC_DATA_DIR to another directory"
        )


def hold_projects() -> int | None:
    """Lock the projects directory for this data directory, or raise OptionError naming the holder:
    on SQLite each data directory has its own ledger, so two would both fire every trigger.

    Returns the descriptor. The directory itself is locked, so nothing is written into it. None
    where a lock is of no use: a database for many hosts, a disk without locks."""
    if settings.SVC.database_url:
        return None
    descriptor = os.open(settings.PROJECTS_DIR, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if any(_lock(descriptor, pause) for pause in TRIES_S):
            return descriptor
    except OptionError:
        os.close(descriptor)
        return None
    os.close(descriptor)
    who = _served_by(settings.PROJECTS_DIR)
    raise OptionError(
        f"another svc serves the projects in {settings.PROJECTS_DIR} already{who}; "
        "stop it, or set SVC_PROJECTS_DIR to another directory"
    )


def refuse_projects() -> None:
    """OptionError if another data directory holds the projects directory; does not take it."""
    ours = (Instance(settings.DATA_DIR, name).holder() for name in ("up", "server"))
    descriptor = None if any(one is not None for one in ours) else hold_projects()
    if descriptor is not None:
        os.close(descriptor)


def _served_by(projects_dir: Path) -> str:
    """The holder's data directory (that of its other locks) and pid; "" where /proc hides it."""
    try:
        locks = map(str.split, Path("/proc/locks").read_text().splitlines())
        end = f":{projects_dir.stat().st_ino}"
        pid = next(words[4] for words in locks if words[1] == "FLOCK" and words[5].endswith(end))
        opened = [link.readlink() for link in Path(f"/proc/{pid}/fd").iterdir()]
        state = next(path.parent for path in opened if path.name in ("up.lock", "server.lock"))
    except (OSError, StopIteration):
        return ""
    return f" (data directory {state.parent}, pid {pid})"


def _lock(descriptor: int, pause: float) -> bool:
    time.sleep(pause)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise OptionError(
            f"SVC_DATA_DIR lies on a disk without file locks ({error.strerror}); "
            "set it to a directory on a local disk"
        ) from error
    return True


@contextmanager
def stopped(data_dir: Path) -> Iterator[None]:
    """Keep servers from starting inside the block; OptionError if a server or qcluster runs."""
    instance = Instance(data_dir, "server")
    instance.acquire()
    try:
        _refuse_scheduler(data_dir / "state" / "qcluster.lock")
        yield
    finally:
        instance.release()


def _refuse_scheduler(path: Path) -> None:
    """OptionError if a qcluster runs; one that runs by itself holds its own lock."""
    path.touch(mode=0o600)
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OptionError("a qcluster runs on this data directory; stop it first") from None
