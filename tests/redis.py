"""A private Redis for tests: Debian's redis-server on a free port, nothing kept on disk."""

from __future__ import annotations

import ctypes
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import pytest

from tests.postgres import afterwards
from tests.service import free_port, until

MISSING = "Redis is not installed: apt-get install redis-server"
NUMBERS = 10_000  # databases: each service of a run takes one of its own


def choose() -> str:
    """The Redis of a run with SVC_STORE=postgres+redis: its address, up to the number.

    It is no descendant of this process, as the PostgreSQL of such a run (tests/postgres.py).
    """
    folder, port = tempfile.mkdtemp(prefix="svc-redis-"), free_port()
    kept = ["--dir", folder, "--pidfile", f"{folder}/pid", "--daemonize", "yes"]
    subprocess.run(
        [*_command(port), "--databases", str(NUMBERS), *kept],
        stdout=subprocess.DEVNULL, check=True,
    )  # fmt: skip
    afterwards(f"kill $(cat {folder}/pid); rm -rf {folder}")
    until(lambda: _answers(port), seconds=20, what="Redis answers")
    return f"redis://127.0.0.1:{port}"


def _command(port: int, listen: str = "127.0.0.1") -> list[str]:
    place = ["--port", str(port), "--bind", listen, "--protected-mode", "no"]
    return ["redis-server", *place, "--save", ""]


def _answers(port: int, listen: str = "127.0.0.1", inside: Sequence[str] = ()) -> bool:
    if not inside:
        with socket.socket() as probe:
            return probe.connect_ex((listen, port)) == 0
    ask = [*inside, "redis-cli", "-h", listen, "-p", str(port), "ping"]
    return subprocess.run(ask, capture_output=True, check=False).returncode == 0


class Redis:
    """One server, which may be stopped and started again on its port.

    `listen`: its address, `inside`: what to start a program with where it is."""

    def __init__(
        self, folder: Path, *, listen: str = "127.0.0.1", inside: Sequence[str] = ()
    ) -> None:
        self.folder, self.port = folder, free_port()
        self.listen, self._inside = listen, [*inside]
        self.url = f"redis://{listen}:{self.port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> Self:
        argv = [*self._inside, *_command(self.port, self.listen)]
        self._process = subprocess.Popen(
            argv, cwd=self.folder, stdout=subprocess.DEVNULL, preexec_fn=_end_with_parent
        )
        until(
            lambda: _answers(self.port, self.listen, self._inside), seconds=20, what="Redis answers"
        )
        return self

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)
            self._process = None


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Redis]:
    """A server of the test's own; skipped where there is none to start."""
    pytest.importorskip("redis", reason="pip install -r requirements-cluster.txt")
    if shutil.which("redis-server") is None:
        pytest.skip(MISSING)
    server = Redis(tmp_path).start()
    yield server
    server.stop()
