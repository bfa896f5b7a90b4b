"""S1 and S2: what a request to /mcp costs, beside a Node server that builds an SDK server each.

Both servers are measured in the same run, in turns, with the same load. CPU is user plus system
time of the server process from /proc; the load generator's own is not counted. Other work on the
machine only ever adds, so each server is judged by its own quietest round.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench import node
from bench.figures import Figure, compared
from bench.stores.cpu import spent

ROOT = Path(__file__).resolve().parent.parent
TOKEN = "svc_bench_" + "0123456789abcdef" * 3
REQUESTS, ROUNDS, WARM_UP, CONNECTIONS = 800, 8, 300, 16
TICKS = os.sysconf("SC_CLK_TCK")
START_S = 60.0


@dataclass(frozen=True, slots=True)
class Server:
    """A running server."""

    pid: int
    port: int
    tool: str
    beside: Callable[[], Iterable[int]] = tuple  # processes that work for it

    def cpu_s(self) -> float:
        fields = Path(f"/proc/{self.pid}/stat").read_text().rsplit(") ", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS + spent(self.beside())

    def request(self, method: str) -> bytes:
        params = {"name": self.tool, "arguments": {"project": "alpha"}}
        if self.tool == "list_projects":
            params["arguments"] = {}
        body = json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": method}
            | ({"params": params} if method == "tools/call" else {})
        ).encode()
        head = (
            f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\nAuthorization: Bearer {TOKEN}"
            "\r\nAccept: application/json, text/event-stream\r\nContent-Type: application/json"
            f"\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


@contextmanager
def ours(
    environment: Mapping[str, str] | None = None, beside: Callable[[], Iterable[int]] = tuple
) -> Iterator[Server]:
    """The service with one project and one client that may list."""
    with tempfile.TemporaryDirectory(prefix="svc-bench-") as folder:
        data = Path(folder)
        port = _free_port()
        (data / "projects/alpha").mkdir(parents=True)
        (data / "projects/alpha/project.yaml").write_text("name: Alpha\n")
        (data / "svc.config.yaml").write_text(
            "managementApi:\n  instanceId: bench\n  publicUrl: http://localhost\n"
            "  clients: {bench: {auth: {ref: 'env:BENCH'}, scope: {allow: ['*']}}}\n"
        )
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
        environ = kept | {
            "SVC_DATA_DIR": folder, "SVC_PORT": str(port), "SVC_REVIEW_PORT": "off",
            "SVC_DASHBOARD_PORT": "off", "BENCH": TOKEN, **(environment or {}),
        }  # fmt: skip
        manage = [sys.executable, str(ROOT / "manage.py")]
        subprocess.run([*manage, "migrate", "-v0"], env=environ, check=True, cwd=ROOT)
        command = [*manage, "runserver", "--noreload"]
        with _running(command, environ, data / "log") as process:
            _wait(port)
            yield Server(process.pid, port, "list_projects", beside)


@contextmanager
def peer() -> Iterator[Server]:
    environ = os.environ | {"TOKEN": TOKEN, "SDK_FOLDER": str(node.folder())}
    with tempfile.TemporaryDirectory(prefix="svc-bench-peer-") as folder:
        log = Path(folder) / "log"
        command = ["node", str(ROOT / "bench/mcp_peer.mjs")]
        with _running(command, environ, log) as process:
            deadline = time.monotonic() + START_S
            while not log.read_text().endswith("\n") and time.monotonic() < deadline:
                time.sleep(0.02)
            yield Server(process.pid, int(log.read_text()), "tool_0")


@contextmanager
def _running(
    command: list[str], environ: dict[str, str], log: Path
) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as out:
        process = subprocess.Popen(command, env=environ, cwd=ROOT, stdout=out, stderr=out)
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(port: int) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("the server did not start")


async def _load(server: Server, method: str, total: int, connections: int) -> list[float]:
    """Seconds each of `total` requests took, over that many kept-alive connections."""
    request, taken = server.request(method), []

    async def drive(count: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        for _ in range(count):
            began = time.perf_counter()
            writer.write(request)
            answer = await _answer(reader)
            taken.append(time.perf_counter() - began)
            assert b'"result":' in answer, answer
        writer.close()

    await asyncio.gather(*(drive(total // connections) for _ in range(connections)))
    return taken


async def _answer(reader: asyncio.StreamReader) -> bytes:
    """One body: the peer counts it, ours is chunked."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    _, counted, rest = head.partition(b"content-length: ")
    if counted:
        return await reader.readexactly(int(rest.split(b"\r\n", 1)[0]))
    return await reader.readuntil(b"\r\n0\r\n\r\n")


@dataclass(slots=True)
class Measured:
    """The quietest round."""

    cpu_ms: float
    p99_ms: float


def measure(servers: list[Server], method: str) -> list[Measured]:
    """Each server in turn, several rounds, so that drift of the machine meets both."""
    cpu: dict[int, list[float]] = {server.pid: [] for server in servers}
    p99: dict[int, list[float]] = {server.pid: [] for server in servers}
    for server in servers:
        asyncio.run(_load(server, method, WARM_UP, 1))
    for _ in range(ROUNDS):
        for server in servers:
            before = server.cpu_s()
            taken = asyncio.run(_load(server, method, REQUESTS, CONNECTIONS))
            cpu[server.pid].append((server.cpu_s() - before) / len(taken) * 1000)
            p99[server.pid].append(statistics.quantiles(taken, n=100)[98] * 1000)
    return [Measured(min(cpu[server.pid]), min(p99[server.pid])) for server in servers]


def main() -> list[Figure]:
    """Measure and compare. Raises bench.node.NoNode where there is no peer."""
    return beside_peer(ours())


def beside_peer(started: AbstractContextManager[Server]) -> list[Figure]:
    figures = []
    with started as us, peer() as them:
        for method in ("tools/list", "tools/call"):
            mine, theirs = measure([us, them], method)
            what = f"/mcp {method}, CPU per request"
            figures.append(compared("S1", what, mine.cpu_ms, theirs.cpu_ms, unit="ms", most=0.6))
            what = f"/mcp {method}, p99 at {CONNECTIONS} connections"
            figures.append(compared("S2", what, mine.p99_ms, theirs.p99_ms, unit="ms", most=0.5))
    return figures
