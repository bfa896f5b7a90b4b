"""Where Linux's own calls are missing the service starts, works and ends all the same."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest
from playwright.sync_api import Browser, expect

from tests.portable.conftest import Elsewhere
from tests.service import free_port, until

pytestmark = pytest.mark.service
TRIED = """
import ctypes, os, select, signal, socket
print(*(hasattr(*one) for one in (
    (os, "pidfd_open"), (os, "memfd_create"), (select, "epoll"), (socket, "AF_NETLINK"),
    (signal, "pidfd_send_signal"), (ctypes.CDLL(None), "prctl"), (ctypes.CDLL(None), "renameat2"),
)), os.path.exists("/proc/self"), os.path.exists("/sys"))
for path in ("/proc/self/stat", "/sys/kernel"):
    try:
        os.close(os.open(path, os.O_RDONLY))
    except FileNotFoundError:
        print("no", path)
"""


def turn(service: Elsewhere, project: str, prompt: str) -> str:
    """The address of a new chat whose first message is on its way."""
    service.http.post("/api/projects", json={"slug": project, "name": project})
    made = service.http.post(f"/api/projects/{project}/chats", json={"prompt": f"#!runbook\n{prompt}"})
    made.raise_for_status()
    return f"/api/projects/{project}/chats/{made.json()['id']}"


def test_the_calls_are_gone_from_every_process_of_the_service(elsewhere):
    done = subprocess.run(
        [elsewhere.python, "-c", TRIED], capture_output=True, text=True, check=True, env={}
    )

    assert done.stdout.split() == ["False"] * 9 + ["no", "/proc/self/stat", "no", "/sys/kernel"]
    mine = [one for one in elsewhere.family() if "python" in one.name()]
    assert len(mine) > 3
    assert {one.cmdline()[0] for one in mine} == {elsewhere.python}
