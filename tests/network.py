"""Hosts for tests: network namespaces on one bridge, and the stores they share in one more.
Their processes are real, their files are those of this machine.

Needs root and iproute2. Nothing leaves the namespaces, and they go with the test.
"""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import psutil
import pytest

from tests import postgres as pg
from tests import redis as rd
from tests.service import ROOT, Service, until

SKIPPED = "network namespaces cannot be made: they need root and iproute2"
NET = "10.77.5"


class Network:
    """A bridge in a namespace, with PostgreSQL and Redis there; hosts are plugged into it.

    `begin` gives a test empty stores, `end` ends its hosts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = f"svc-{secrets.token_hex(4)}"
        self.hosts: list[Host] = []
        self.stores = self.add("stores")
        _ip("-n", self.stores, "link", "add", "bridge", "type", "bridge")
        _ip("-n", self.stores, "addr", "add", f"{NET}.1/24", "dev", "bridge")
        _ip("-n", self.stores, "link", "set", "bridge", "up")
        inside = within(self.stores)
        self.postgres = pg.Cluster(listen=f"{NET}.1", inside=inside).start()
        self.redis = rd.Redis(folder, listen=f"{NET}.1", inside=inside).start()
        self.database, self._databases = "", 0
        self.secret = secrets.token_urlsafe(48)

    def begin(self, folder: Path) -> Self:
        self.folder, self.database = folder, self.postgres.copy_of_migrated()
        self._databases += 1
        return self

    @property
    def redis_url(self) -> str:
        return f"{self.redis.url.removesuffix('0')}{self._databases}"

    def add(self, name: str) -> str:
        made = f"{self.name}-{name}"
        _ip("netns", "add", made)
        _ip("-n", made, "link", "set", "lo", "up")
        return made

    def host(self, name: str, projects: Path) -> Host:
        """A host that sees this projects directory, plugged in; nothing runs on it yet."""
        made = Host(self, name, projects, 2 + len(self.hosts) + 10 * self._databases)
        self.hosts.append(made)
        return made

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return pg.ask(self.database, query)

    def end(self) -> None:
        for host in self.hosts:
            host.kill9()
            host.service.http.close()
            _ip("netns", "del", host.namespace)
        self.hosts.clear()

    def close(self) -> None:
        self.end()
        self.redis.stop()
        self.postgres.remove()
        _ip("netns", "del", self.stores)


class Host:
    """One host: a namespace, a data directory, and what runs there."""

    def __init__(self, network: Network, name: str, projects: Path, number: int) -> None:
        self.network, self.name = network, name
        self.namespace = network.add(name)
        self.port = f"h{number}"
        pair = ["link", "add", "eth0", "type", "veth", "peer", "name", self.port]
        _ip("-n", self.namespace, *pair, "netns", network.stores)
        _ip("-n", network.stores, "link", "set", self.port, "master", "bridge", "up")
        _ip("-n", self.namespace, "addr", "add", f"{NET}.{number}/24", "dev", "eth0")
        _ip("-n", self.namespace, "link", "set", "eth0", "up")
        env = {
            "SVC_DATABASE_URL": network.postgres.tcp(network.database),
            "SVC_REDIS_URL": network.redis_url,
            "SVC_PROJECTS_DIR": str(projects),
            "PYTHONPATH": str(ROOT),
        }
        self.service = Service(network.folder / name, env=env, scheduler=False)
        state = self.service.data / "state"
        state.mkdir()
        (state / "secret").write_text(network.secret)
        (self.service.data / "svc.config.yaml").write_text("engines: {network: host}\n")
        self.started: list[subprocess.Popen[str]] = []

    @property
    def address(self) -> str:
        """What a process on this host finds in /proc/self/ns/net, also in a `network: host`."""
        inode = Path(f"/run/netns/{self.namespace}").stat().st_ino
        return f"net:[{inode}]"

    def spawn(self, *argv: str, **pipes: Any) -> subprocess.Popen[str]:
        """A program of this Python, on this host."""
        with (self.service.data / "logs.txt").open("a") as log:
            process = subprocess.Popen(
                [*within(self.namespace), sys.executable, *argv],
                env=self.service.env, cwd=self.service.data, text=True, start_new_session=True,
                **{"stdout": log, "stderr": log} | pipes,
            )  # fmt: skip
        self.started.append(process)
        return process

    def qcluster(self) -> Self:
        """Start it, and wait until it has its three children."""
        process = self.spawn(str(ROOT / "manage.py"), "qcluster")
        top = psutil.Process(process.pid)
        until(lambda: len(top.children()) == 3, seconds=60, what=f"three children on {self.name}")
        return self

    def sweep(self) -> None:
        """Have its qcluster, or another one of its home, sweep now and not within 60 s."""
        code = "from workspace.triggers import runs; runs.hand_over('sweep')"
        assert self.spawn(str(ROOT / "manage.py"), "shell", "-c", code).wait(60) == 0, self.said()

    def said(self) -> str:
        return (self.service.data / "logs.txt").read_text()

    def cut(self) -> None:
        _ip("-n", self.network.stores, "link", "set", self.port, "down")

    def heal(self) -> None:
        _ip("-n", self.network.stores, "link", "set", self.port, "up")

    def kill9(self) -> None:
        """The power goes: everything on this host ends at once."""
        while pids := _on(self.namespace):
            for pid in pids:
                with suppress(ProcessLookupError):
                    os.kill(pid, 9)
            for process in self.started:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(0.2)
        for process in self.started:
            for pipe in filter(None, (process.stdin, process.stdout)):
                with suppress(BrokenPipeError):
                    pipe.close()
        self.started.clear()


def within(namespace: str) -> list[str]:
    """What to start a program with, for it to run there."""
    return ["ip", "netns", "exec", namespace]


def _on(namespace: str) -> list[int]:
    return [int(pid) for pid in _ip("netns", "pids", namespace).split()]


def _ip(*words: str) -> str:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"
    return done.stdout


def possible() -> bool:
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    probe = f"svc-{secrets.token_hex(4)}"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, check=False)
    if made.returncode == 0:
        _ip("netns", "del", probe)
    return made.returncode == 0


@pytest.fixture(scope="module")
def bridge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Network]:
    """A network of the module's own; skipped where there is none to make."""
    pytest.importorskip("psycopg", reason="pip install -r requirements-cluster.txt")
    pytest.importorskip("redis", reason="pip install -r requirements-cluster.txt")
    if pg.programs() is None:
        pytest.skip(pg.MISSING)
    if shutil.which("redis-server") is None:
        pytest.skip(rd.MISSING)
    if not possible():
        pytest.skip(SKIPPED)
    made = Network(tmp_path_factory.mktemp("network"))
    yield made
    made.close()


@pytest.fixture
def network(bridge: Network, tmp_path: Path) -> Iterator[Network]:
    """Empty stores for one test."""
    yield bridge.begin(tmp_path)
    bridge.end()
