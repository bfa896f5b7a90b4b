"""Identifies the current boot of the machine: pids of an earlier boot mean nothing."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import psutil

from config.process import table

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> str:
    """The kernel's boot id, if it has one, with the start time of the first process, which differs
    between containers."""
    return os.environ.get("SVC_TEST_BOOT_ID") or _kernel()


def booted_at() -> datetime:
    """When the first process started: the machine's boot, or the container's."""
    return datetime.fromtimestamp(psutil.Process(1).create_time(), UTC)


@cache
def _kernel() -> str:
    first = table.living(1)
    boot = BOOT_ID.read_text().strip() if BOOT_ID.exists() else "boot"
    return f"{boot}-{first.started}" if first else boot
