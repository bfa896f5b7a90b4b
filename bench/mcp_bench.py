"""S1 and S2: what a request to /mcp costs, beside Node servers that build an SDK server for each.

The whole service is up. All servers are measured in the same run, alternately, with the same load;
a figure is the median of its rounds. CPU is that of the server process, including what it still
writes after its answers; the load generator's own CPU is not counted.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Figure, medians, percentile
from bench.timing import cpu_seconds
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
REQUESTS, ROUNDS, WARM_UP, CONNECTIONS = 1000, 5, 2000, 16
SETTLE_S = 1.0  # until the work after the answers is done, such as writing the audit's rows
PEERS = {"lean": "a lean Node server", "registered": "one that registers its tools"}


@dataclass(frozen=True, slots=True)
class Server:
    """A running server."""

    pid: int
    port: int
    tool: str
    beside: Callable[[], Iterable[int]] = tuple  # further processes that do its work

    def cpu_s(self) -> float:
        return cpu_seconds([self.pid, *self.beside()])

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
    env = {"BENCH_TOKEN": TOKEN, **(stores or {})}
    with tempfile.TemporaryDirectory(prefix="svc-bench-") as folder:
        service = Service(Path(folder), config=CONFIG, env=env, dashboard={})
        (service.projects / "alpha").mkdir(parents=True)
        (service.projects / "alpha/project.yaml").write_text("name: Alpha\n")
        with service:
            yield Server(service.pid, service.ports["main"], "list_projects", beside)


@contextmanager
def peer(kind: str) -> Iterator[Server]:
    """One of PEERS. Raises tests.clients.node.NoNode when there is no Node."""
    environ = os.environ | {"TOKEN": TOKEN, "SDK_FOLDER": str(node.folder())}
    command = ["node", str(ROOT / "bench/mcp_peer.mjs"), kind]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield Server(process.pid, int(process.stdout.readline()), "tool_0")
        finally:
            process.kill()


async def _load(server: Server, method: str, total: int, connections: int) -> list[float]:
    """Seconds that each of `total` requests took, over this many kept-alive connections."""
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
    """Read one body: the peer sends Content-Length, our service sends chunks."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    _, counted, rest = head.partition(b"content-length: ")
    if counted:
        return await reader.readexactly(int(rest.split(b"\r\n", 1)[0]))
    return await reader.readuntil(b"\r\n0\r\n\r\n")


def measure(servers: list[Server], method: str) -> list[tuple[list[float], list[float]]]:
    """CPU and p99 in ms of each server's rounds; the servers take turns, so that drift of the
    machine affects all of them."""
    found: list[list[tuple[float, float]]] = [[] for _ in servers]
    for server in servers:
        asyncio.run(_load(server, method, WARM_UP, CONNECTIONS))
    for _ in range(ROUNDS):
        for server, rounds in zip(servers, found, strict=True):
            time.sleep(SETTLE_S)
            before = server.cpu_s()
            taken = asyncio.run(_load(server, method, REQUESTS, CONNECTIONS))
            time.sleep(SETTLE_S)
            cpu = (server.cpu_s() - before) / len(taken)
            rounds.append((cpu * 1000, percentile(taken, 0.99) * 1000))
    return [([cpu for cpu, _ in rounds], [p99 for _, p99 in rounds]) for rounds in found]


def main() -> list[Figure]:
    return beside_peers(ours())


def beside_peers(started: AbstractContextManager[Server]) -> list[Figure]:
    figures = []
    with ExitStack() as stack:
        servers = [stack.enter_context(one) for one in (started, *map(peer, PEERS))]
        for method, shown in (("tools/list", "tools/list"), ("tools/call", "list_projects")):
            (cpu, p99), *others = measure(servers, method)
            for (their_cpu, their_p99), name in zip(others, PEERS.values(), strict=True):
                what = f"/mcp {shown}, CPU per request : {name}"
                figures.append(medians("S1", what, cpu, their_cpu, unit="ms", most=0.6))
                what = f"/mcp {shown}, p99 at {CONNECTIONS} connections : {name}"
                figures.append(medians("S2", what, p99, their_p99, unit="ms", most=0.5))
    return figures
