"""One server process per data directory, one data directory per projects directory on SQLite: a
second start names the first.

The lock is an open file's, so it is gone with its process, whatever ended it.
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

TRIES_S = (0.0, 0.02, 0.1)  # `holder`, which only looks who has it, takes it for a moment


class Instance:
    """The right to be the one `name` of a data directory, and what the others read about it.

    `state/<name>.lock` is held while it lives; `state/<name>.json` says who holds it.
    """

    def __init__(self, data_dir: Path, name: str) -> None:
        self.data_dir, self.name = data_dir, name
        self._lock = data_dir / "state" / f"{name}.lock"
        self.file = data_dir / "state" / f"{name}.json"
        self._descriptor: int | None = None

    def acquire(self, *, inheritable: bool = False) -> None:
        """Become the one, or OptionError naming who is."""
        descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if not any(_lock(descriptor, pause) for pause in TRIES_S):
                raise OptionError(self._taken())
        except OptionError:
            os.close(descriptor)
            raise
        os.set_inheritable(descriptor, inheritable)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, b"%d\n" % os.getpid())
        self._descriptor = descriptor

    def refuse_second(self) -> None:
        """OptionError when another process is the one; acquires nothing."""
        if self.holder() is not None:
            raise OptionError(self._taken())

    def publish(self, facts: Mapping[str, Any]) -> None:
        """Publish it for others: swapped in whole, so that no reader sees half of it."""
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
        """What the living holder says of itself; its pid before it said more; None: none lives."""
        try:
            descriptor = os.open(self._lock, os.O_RDWR)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return self._holder_facts(os.read(descriptor, 32))
        except OSError:
            return None  # nobody can hold it: a disk without locks
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

    def _taken(self) -> str:
        facts = Instance(self.data_dir, "server").holder() or self.holder() or {}
        port = facts.get("ports", {}).get("main")
        where = f", port {port}" if port else ""
        return (
            f"another svc serves {self.data_dir} already "
            f"(pid {facts.get('pid', 'unknown')}{where}); "
            "stop it, or set SVC_DATA_DIR to another directory"
        )


def hold_projects() -> int | None:
    """Have the projects directory, as the one of its data directory, or OptionError naming who has
    it: on SQLite each has a ledger of its own, and by each of them every time would fire.

    The lock is that of the directory itself, so nothing is written into it. None where it is of no
    use: a database for many hosts, a disk without locks."""
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
    """OptionError where another data directory has the projects; holds nothing."""
    ours = (Instance(settings.DATA_DIR, name).holder() for name in ("up", "server"))
    descriptor = None if any(one is not None for one in ours) else hold_projects()
    if descriptor is not None:
        os.close(descriptor)


def _served_by(projects_dir: Path) -> str:
    """Whose lock it is, where the system tells: its data directory is that of its other locks."""
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
    """Neither server nor qcluster runs on it, or OptionError; and no server starts meanwhile."""
    instance = Instance(data_dir, "server")
    instance.acquire()
    try:
        _refuse_scheduler(data_dir / "state" / "qcluster.lock")
        yield
    finally:
        instance.release()


def _refuse_scheduler(path: Path) -> None:
    """A qcluster that runs by itself holds a lock of its own."""
    path.touch(mode=0o600)
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise OptionError("a qcluster runs on this data directory; stop it first") from None
