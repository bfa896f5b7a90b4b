"""Real servers that tests start, each in a process group of its own that ends with the test."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from dashboard.listeners.scan import Listener, Scanner
from tests.service import ROOT, free_port, until

SCANNER = Scanner()


def on(port: int, scanner: Scanner = SCANNER) -> list[Listener]:
    """What listens on a port now."""
    return [one for one in scanner.scan().listeners if one.port == port]


class Servers:
    """The servers of one test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: list[subprocess.Popen[str]] = []

    def run(
        self, *argv: str, cwd: Path | None = None, env: dict[str, str] | None = None
    ) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            argv,
            cwd=cwd or self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )
        self.running.append(process)
        return process

    def listening(self, kind: str, port: int = 0, *more: str, cwd: Path | None = None) -> int:
        """A process of tests/dashboard/listeners/listening.py; the port it is ready on.

        `more` are arguments it does not look at.
        """
        script = [sys.executable, "-m", "tests.dashboard.listeners.listening"]
        process = self.run(*script, kind, str(port), *more, cwd=cwd)
        assert process.stdout is not None
        word, told = process.stdout.readline().split()
        assert word == "ready"
        return int(told)

    def http(self, *, cwd: Path | None = None, bind: str = "127.0.0.1", port: int = 0) -> int:
        """`python -m http.server`, listening."""
        port = port or free_port()
        self.run(sys.executable, "-m", "http.server", str(port), "--bind", bind, cwd=cwd)
        until(lambda: on(port), what=f"http.server on {port}")
        return port

    @property
    def last(self) -> subprocess.Popen[str]:
        return self.running[-1]

    def stop(self, process: subprocess.Popen[str]) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=10)


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[Servers]:
    made = Servers(tmp_path)
    yield made
    for process in made.running:
        made.stop(process)
