"""S1, S3, S4 and S12 in one mode: the pieces of the other parts with another environment."""

from __future__ import annotations

import selectors
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from bench import chats_bench, events_bench, idle_bench, mcp_bench
from bench.figures import Figure
from bench.stores.modes import Mode
from tests.service import Service
from tests.wire import EventClient


def figures(mode: Mode) -> list[Figure]:
    peer = mcp_bench.beside_peer(mcp_bench.ours(mode.environment(), mode.pids))
    with tempfile.TemporaryDirectory() as folder:
        idle = rest(mode, Path(folder) / "idle")
        env = mode.environment() | {"BENCH_TOKEN": chats_bench.TOKEN}
        service = Service(Path(folder) / "a", config=chats_bench.CONFIG, env=env).start()
        try:
            service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
            chats = chats_bench.reads(service)
            with other(mode, service, Path(folder) / "b") as listening:
                streams = events(service, listening)
            return [*peer, *chats, *streams, *idle, *connections(mode)]
        finally:
            service.kill9()


def rest(mode: Mode, folder: Path) -> list[Figure]:
    """S12 without clients of /mcp, and what the servers of the store take beside it."""
    service, beside = Service(folder, env=mode.environment()), mode.memory()
    with idle_bench.resting(service) as figures:
        added = f"{mode.memory() - beside:.0f} MB" if mode.cluster else "0 MB"
    name = "idle memory of the servers of the store, added by it"
    return [*figures, Figure("S12", name, added, "", None, "", True)]


@contextmanager
def other(mode: Mode, first: Service, folder: Path) -> Iterator[Service]:
    """Where the streams are: with Redis at a second server, else at the first."""
    if mode.redis is None:
        yield first
        return
    shared = {"SVC_PROJECTS_DIR": str(first.projects), "SVC_SCHEDULER": "off"}
    stores = {name: first.env[name] for name in ("SVC_DATABASE_URL", "SVC_REDIS_URL")}
    second = Service(folder, env=shared | stores)
    state = second.data / "state"
    state.mkdir(mode=0o700)
    shutil.copy(first.data / "state" / "secret", state)
    try:
        yield second.start()
    finally:
        second.kill9()


def events(changed: Service, listening: Service) -> list[Figure]:
    """S4 from one stream beside the change to the last of all others."""
    first = EventClient(changed.ports["main"], "/api/events")
    first.connect()
    number = 0

    def publish(streams: selectors.DefaultSelector) -> float:
        nonlocal number
        number += 1
        changed.http.patch("/api/projects/alpha", json={"summary": f"{number}"}).raise_for_status()
        while b"event: project" not in first.socket.recv(65536):
            pass
        began = time.perf_counter()
        events_bench.each_reads(streams, b"event: project")
        return time.perf_counter() - began

    try:
        return events_bench.streamed(listening.ports["main"], "/api/events", publish)
    finally:
        first.close()


def connections(mode: Mode) -> list[Figure]:
    """What a server and its qcluster hold open after all of this."""
    if mode.cluster is None:
        return []
    asked = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
    held = int(mode.cluster.sql(asked)[0][0]) - 1
    redis = len(psutil.Process(mode.redis.pid).net_connections("tcp")) - 1 if mode.redis else 0
    words = f"{held} to PostgreSQL" + (f", {redis} to Redis" if mode.redis else "")
    return [Figure("S12", "connections of all that ran", words, "", None, "", True)]
