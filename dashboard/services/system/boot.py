"""Which boot of the machine this is: pids of another boot mean nothing now."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import psutil

from config.process import table

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> str:
    """The kernel's boot id, where it has one, with the first process's start time, which differs
    in containers."""
    return os.environ.get("SVC_TEST_BOOT_ID") or _kernel()


def booted_at() -> datetime:
    """When the first process started: the machine's boot, or the container's."""
    return datetime.fromtimestamp(psutil.Process(1).create_time(), UTC)


@cache
def _kernel() -> str:
    first = table.living(1)
    boot = BOOT_ID.read_text().strip() if BOOT_ID.exists() else "boot"
    return f"{boot}-{first.started}" if first else boot
