"""S4 (1,000 event streams), S12 (idle memory, warm start) and S13 (idle CPU) of the service."""

from __future__ import annotations

import asyncio
import contextlib
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import psutil

from bench.figures import Figure
from tests.service import Service

CLIENTS = 1000
EVENTS = 20
IDLE_S = 60.0


def main() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        service = Service(Path(folder))
        service.start()
        try:
            service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
            service.stop()
            started = warm_start(service)
            return [started, *idle(service), *streams(service)]
        finally:
            service.stop()


def bare_start() -> float:
    """The floor of any start: this interpreter with Django and Twisted imported."""
    began = time.perf_counter()
    code = "import django, rest_framework, twisted.internet.reactor"
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - began


def warm_start(service: Service) -> Figure:
    floor = min(bare_start() for _ in range(3))
    began = time.perf_counter()
    service.start()
    took = time.perf_counter() - began
    return Figure(
        "S12", "start to healthy, warm; beside a bare import", f"{took:.2f} s", f"{floor:.2f} s",
        took / floor, "< 3 s", took < 3,
    )  # fmt: skip


def idle(service: Service) -> list[Figure]:
    """One page open, no app, no trigger: memory, then CPU over a minute."""
    with service.http.stream("GET", "/api/events", headers={"accept": "text/event-stream"}):
        time.sleep(5)  # what the start left to do
        family = service.family()
        before = cpu(family)
        time.sleep(IDLE_S)
        share = (cpu(family) - before) / IDLE_S * 100
    supervisor, rest = family[0], family[1:]
    counted = pss(rest)
    return [
        Figure(
            "S12", f"idle memory, server + qcluster, 4 turn workers, PSS ({len(rest)} processes,"
            f" `up` itself {pss([supervisor]):.0f} MB more)", f"{counted:.0f} MB", "260 MB",
            counted / 260, "<= 260 MB", counted <= 260,
        ),
        Figure(
            "S13", "idle CPU of everything over 60 s, one page open", f"{share:.2f} % of a core",
            "1 %", share, "<= 1 %", share <= 1,
        ),
    ]  # fmt: skip


def cpu(processes: Iterable[psutil.Process]) -> float:
    times = [process.cpu_times() for process in processes]
    return sum(each.user + each.system for each in times)


def pss(processes: Iterable[psutil.Process]) -> float:
    return sum(process.memory_full_info().pss for process in processes) / 1e6


def streams(service: Service) -> list[Figure]:
    resource.setrlimit(
        resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
    )
    connect, lateness = asyncio.run(_streams(service))
    p99 = sorted(lateness)[int(len(lateness) * 0.99)] * 1000
    return [
        Figure("S4", f"{CLIENTS} streams: all connected", f"{connect:.2f} s", "2 s", connect / 2,
               "< 2 s", connect < 2),
        Figure("S4", f"{CLIENTS} streams: publish to each client, p99 over {EVENTS} events",
               f"{p99:.0f} ms", "120 ms", p99 / 120, "< 120 ms", p99 < 120),
    ]  # fmt: skip


async def _streams(service: Service) -> tuple[float, list[float]]:
    """Every change of a project is one event; its lateness is measured from the answer's start."""
    port = service.ports["main"]
    began = time.perf_counter()
    readers = await asyncio.gather(*(_connect(port) for _ in range(CLIENTS)))
    connected = time.perf_counter() - began
    lateness: list[float] = []
    for number in range(EVENTS):
        waits = [asyncio.create_task(_event(reader)) for reader, _ in readers]
        sent = time.perf_counter()
        await asyncio.to_thread(_touch, service, number)
        arrived = await asyncio.gather(*waits)
        first = min(arrived)
        lateness += [each - first for each in arrived]
        assert first > sent
    for _, writer in readers:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
    return connected, lateness


async def _connect(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(
        b"GET /api/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n"
    )
    await reader.readuntil(b"event: hello")
    await reader.readuntil(b"\n\n")
    return reader, writer


async def _event(reader: asyncio.StreamReader) -> float:
    await reader.readuntil(b"event: project")
    arrived = time.perf_counter()
    await reader.readuntil(b"\n\n")
    return arrived


def _touch(service: Service, number: int) -> None:
    body = {"summary": f"change {number}"}
    service.http.patch("/api/projects/alpha", json=body).raise_for_status()
