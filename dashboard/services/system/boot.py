"""Which boot of the machine this is (section 10.2): pids of another boot mean nothing now."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import psutil

from dashboard.services.system import processes

BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


def boot_id() -> str:
    """The kernel's boot id with the first process's start time, which differs in containers."""
    return os.environ.get("SVC_TEST_BOOT_ID") or _kernel()


def booted_at() -> datetime:
    """When the first process started: the machine's boot, or the container's."""
    return datetime.fromtimestamp(psutil.Process(1).create_time(), UTC)


@cache
def _kernel() -> str:
    first = processes.living(1)
    try:
        boot = BOOT_ID.read_text().strip()
    except FileNotFoundError:
        told = subprocess.run(
            ["/usr/sbin/sysctl", "-n", "kern.bootsessionuuid"],
            capture_output=True,
            text=True,
            check=True,
            timeout=5,
        )
        boot = told.stdout.strip()
    return f"{boot}-{first.started}" if first else boot
