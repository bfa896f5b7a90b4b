"""Whether a scheduler serves this data directory: a shared lock that every supervisor holds.

A lock, not a pid: it is released the moment its holder dies, in whatever way.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

import orjson
from django.conf import settings

from config import __version__


def _state(name: str) -> Path:
    return Path(settings.DATA_DIR) / "state" / name


def facts() -> Path:
    """The file with the pid and version of the newest scheduler."""
    return _state("qcluster.json")


def hold() -> int:
    """Mark this process, or what it becomes by exec, as a scheduler. Returns the lock's descriptor.

    The lock is shared: several schedulers may serve one data directory."""
    descriptor = os.open(_state("qcluster.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    os.set_inheritable(descriptor, True)
    draft = _state(f".svc-tmp-qcluster-{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_bytes(orjson.dumps({"pid": os.getpid(), "version": __version__}))
    draft.replace(facts())
    return descriptor


def scheduler_alive() -> bool:
    """Whether any `manage.py qcluster` runs on this data directory now."""
    try:
        with _state("qcluster.lock").open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
