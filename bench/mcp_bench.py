"""S1 and S2: what a request to /mcp costs, beside a Node server that builds an SDK server each.

Both servers are measured in the same run, in turns, with the same load. CPU is that of the server
process; the load generator's own is not counted. Other work on the machine only ever adds, so each
server is judged by its own quietest round.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Figure, compared, percentile
from bench.timing import spent
from tests.clients import node
from tests.service import ROOT, Service

TOKEN = "svc_bench_" + "0123456789abcdef" * 3
CONFIG = {
    "managementApi": {
        "instanceId": "bench",
        "publicUrl": "http://localhost:1",
        "clients": {"bench": {"auth": {"ref": "env:BENCH_TOKEN"}}},
    }
}
HEADERS = {
    "Authorization": f"Bearer {TOKEN}",
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
}
REQUESTS, ROUNDS, WARM_UP, CONNECTIONS = 800, 8, 300, 16


@dataclass(frozen=True, slots=True)
class Server:
    """A running server."""

    pid: int
    port: int
    tool: str
    beside: Callable[[], Iterable[int]] = tuple  # processes that work for it

    def cpu_s(self) -> float:
        return spent([self.pid, *self.beside()])

    def request(self, method: str) -> bytes:
        arguments = {} if self.tool == "list_projects" else {"project": "alpha"}
        params = {"params": {"name": self.tool, "arguments": arguments}}
        asked = {"jsonrpc": "2.0", "id": 1, "method": method}
        body = json.dumps(asked | (params if method == "tools/call" else {})).encode()
        lines = {"Host": f"127.0.0.1:{self.port}", **HEADERS, "Content-Length": str(len(body))}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        return f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body


@contextmanager
def ours(
    stores: Mapping[str, str] | None = None, beside: Callable[[], Iterable[int]] = tuple
) -> Iterator[Server]:
    """The service with one project and one client that may list."""
    env = {"BENCH_TOKEN": TOKEN, "SVC_REVIEW_PORT": "off", "SVC_DASHBOARD_PORT": "off"}
    with tempfile.TemporaryDirectory(prefix="svc-bench-") as folder:
        service = Service(
            Path(folder), config=CONFIG, env=env | dict(stores or {}), scheduler=False
        )
        (service.projects / "alpha").mkdir(parents=True)
        (service.projects / "alpha/project.yaml").write_text("name: Alpha\n")
        with service:
            yield Server(service.pid, service.ports["main"], "list_projects", beside)


@contextmanager
def peer() -> Iterator[Server]:
    """Raises tests.clients.node.NoNode where there is no peer."""
    environ = os.environ | {"TOKEN": TOKEN, "SDK_FOLDER": str(node.folder())}
    command = ["node", str(ROOT / "bench/mcp_peer.mjs")]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Server(process.pid, int(process.stdout.readline()), "tool_0")
        finally:
            process.kill()


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


def measure(servers: list[Server], method: str) -> list[tuple[float, float]]:
    """CPU and p99 in ms of each server's quietest round; each in turn, so that drift of the
    machine meets both."""
    found: dict[int, list[tuple[float, float]]] = {server.pid: [] for server in servers}
    for server in servers:
        asyncio.run(_load(server, method, WARM_UP, 1))
    for _ in range(ROUNDS):
        for server in servers:
            before = server.cpu_s()
            taken = asyncio.run(_load(server, method, REQUESTS, CONNECTIONS))
            cpu = (server.cpu_s() - before) / len(taken)
            found[server.pid].append((cpu * 1000, percentile(taken, 0.99) * 1000))
    return [
        (min(cpu), min(p99)) for cpu, p99 in (zip(*found[one.pid], strict=True) for one in servers)
    ]


def main() -> list[Figure]:
    return beside_peer(ours())


def beside_peer(started: AbstractContextManager[Server]) -> list[Figure]:
    figures = []
    with started as us, peer() as them:
        for method in ("tools/list", "tools/call"):
            cpu, p99 = zip(*measure([us, them], method), strict=True)
            what = f"/mcp {method}, CPU per request"
            figures.append(compared("S1", what, *cpu, unit="ms", most=0.6))
            what = f"/mcp {method}, p99 at {CONNECTIONS} connections"
            figures.append(compared("S2", what, *p99, unit="ms", most=0.5))
    return figures
