"""S3 and figures 2, 5, 8, 9 of engine.md 13: lists, reads, starts, forks and streams of chats.

One real service with its cluster. A null request is the same tool where there is nothing to show
(a project without chats, a chat without messages): same stack, no work.
"""

from __future__ import annotations

import http.client
import json
import os
import selectors
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import Any

from bench.figures import Figure, compared
from tests.service import ROOT, Service, until
from workspace import ids
from workspace.chats import transcript

TOKEN = "svc_bench_" + "0123456789abcdef" * 3
CONFIG = {
    "managementApi": {
        "instanceId": "bench",
        "publicUrl": "http://localhost:1",
        "clients": {"bench": {"auth": {"ref": "env:BENCH_TOKEN"}}},
    }
}
CHATS, ROUNDS, STARTS, TURNS = 300, 200, 30, 20
CLIENTS, LINES = 20, 60
FORK_BYTES = 50 * 1024 * 1024
QUICK = '#!runbook\n```TodoWrite\n{"todos": []}\n```\n'


def main() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        service = Service(Path(folder), config=CONFIG, env={"BENCH_TOKEN": TOKEN})
        with service:
            service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
            return [
                *_starts(service),
                *_burst(service),
                *reads(service),
                *_fork(service),
                *_stream(service),
            ]


def _milliseconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def _spawn() -> float:
    """S of engine.md 13, in ms."""
    command = [sys.executable, "-c", "import asyncio, json"]
    return statistics.median(
        _milliseconds(lambda: subprocess.run(command, cwd=ROOT, check=True)) for _ in range(20)
    )


def _chat(service: Service, prompt: str | None = None) -> str:
    body = {} if prompt is None else {"prompt": prompt}
    answer = service.http.post("/api/projects/alpha/chats", json=body)
    answer.raise_for_status()
    return str(answer.json()["chat"]["sessionId"])


def _records(service: Service, chat: str, kind: str) -> list[dict[str, Any]]:
    path = service.projects / "alpha" / ".chats" / f"{chat}.jsonl"
    return [record for _, record in transcript.read(str(path)) if record["type"] == kind]


def _starts(service: Service) -> list[Figure]:
    """Figure 2: from the request to turn_start on disk, nothing else going on."""
    waits = []
    for _ in range(STARTS):
        asked = time.time()
        chat = _chat(service, QUICK)
        until(lambda chat=chat: _records(service, chat, "turn_end"), seconds=30)  # type: ignore[misc]
        waits.append((_seconds(_records(service, chat, "turn_start")[0]["ts"]) - asked) * 1000)
    spawn = _spawn()
    p50, worst = statistics.median(waits), max(waits)
    target = 3 * spawn + 50
    return [
        Figure("E2", "send → turn_start on disk, p50 : 3 S + 50 ms", f"{p50:.0f} ms",
               f"{target:.0f} ms", p50 / target, "<= 1 x", p50 <= target),
        Figure("E2", "the same, slowest of 30", f"{worst:.0f} ms", "1000 ms", worst / 1000,
               "<= 1 s", worst <= 1000),
    ]  # fmt: skip


def _seconds(stamp: str) -> float:
    from datetime import datetime

    return datetime.fromisoformat(stamp).timestamp()


def _burst(service: Service) -> list[Figure]:
    """Figure 5: twenty turns in twenty chats at once, four workers."""
    spawn = _spawn()
    began = time.perf_counter()
    chats = [_chat(service, QUICK) for _ in range(TURNS)]
    until(lambda: all(_records(service, chat, "turn_end") for chat in chats), seconds=60)
    took = (time.perf_counter() - began) * 1000
    target = ceil(TURNS / (os.cpu_count() or 1)) * 3 * spawn + 1000
    ok = all(_records(service, chat, "turn_end")[0]["status"] == "ok" for chat in chats)
    return [
        Figure("E5", f"{TURNS} turns at once : ceil({TURNS}/cores) 3 S + 1 s", f"{took:.0f} ms",
               f"{target:.0f} ms", took / target, "<= 1 x", ok and took <= target)
    ]  # fmt: skip


def reads(service: Service) -> list[Figure]:
    """S3: both tools beside the same call on nothing, over one kept connection."""
    folder = service.projects / "alpha" / ".chats"
    folder.mkdir(exist_ok=True)
    for number in range(CHATS - len(list(folder.glob("*.yaml")))):
        written(folder, f"Chat {number}", turns=2)
    long = written(folder, "Long", turns=20)
    endpoint = Endpoint(service)
    service.http.post("/api/projects", json={"name": "Empty"}).raise_for_status()
    blank = _chat(service)
    calls = {
        "no list": lambda: endpoint.tool("list_chats", project="empty", limit=CHATS),
        "no read": lambda: endpoint.tool("read_chat", project="alpha", session_id=blank, limit=40),
        "list": lambda: endpoint.tool("list_chats", project="alpha", limit=CHATS),
        "read": lambda: endpoint.tool("read_chat", project="alpha", session_id=long, limit=40),
    }
    assert len(calls["list"]()["chats"]) == CHATS
    assert len(calls["read"]()["messages"]) == 40
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            times[name].append(_milliseconds(call))
    p50 = {name: statistics.median(found) for name, found in times.items()}
    return [
        Figure("S3", f"list_chats over {CHATS} chats, p50 : over none", f"{p50['list']:.2f} ms",
               f"{p50['no list']:.2f} ms", p50["list"] / p50["no list"], "< 3 ms and <= 3 x",
               p50["list"] < 3 and p50["list"] <= 3 * p50["no list"]),
        Figure("S3", "read_chat of 40 messages, p50 : of none", f"{p50['read']:.2f} ms",
               f"{p50['no read']:.2f} ms", p50["read"] / p50["no read"], "< 2 ms and <= 3 x",
               p50["read"] < 2 and p50["read"] <= 3 * p50["no read"]),
    ]  # fmt: skip


def written(folder: Path, name: str, *, turns: int) -> str:
    """A chat as files only, as one that was copied in."""
    chat = ids.session_id()
    with transcript.Writer(str(folder / f"{chat}.jsonl")) as writer:
        for number in range(turns):
            turn = ids.turn_id()
            writer.append("turn_start", turn, engine="runbook")
            writer.append("user", turn, text=f"Question {number}", sender={"kind": "user"})
            writer.append("assistant", turn, text="An answer of some length. " * 8, block="1")
            writer.append("turn_end", turn, status="ok", reason=None, text=None)
    (folder / f"{chat}.yaml").write_text(
        f"v: 1\nname: {name}\norigin: human\ndepth: 0\ncreated: '2026-01-31T09:00:00.000Z'\n"
    )
    return chat


class Endpoint:
    """/mcp over one kept connection."""

    def __init__(self, service: Service) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", service.ports["main"])
        self.headers = {
            "Authorization": f"Bearer {TOKEN}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }

    def call(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        self.connection.request("POST", "/mcp", body, self.headers)
        answer = self.connection.getresponse().read()
        result: dict[str, Any] = json.loads(answer.split(b"data: ", 1)[1])["result"]
        return result

    def tool(self, tool: str, **arguments: Any) -> dict[str, Any]:
        found = self.call("tools/call", {"name": tool, "arguments": arguments})
        content: dict[str, Any] = found["structuredContent"]
        return content


def _fork(service: Service) -> list[Figure]:
    """Figure 8: a fork of 50 MB beside a copy of the same file, both on the disk."""
    folder = service.projects / "alpha" / ".chats"
    chat = _chat(service)
    path = folder / f"{chat}.jsonl"
    with transcript.Writer(str(path)) as writer:
        while path.stat().st_size < FORK_BYTES:
            turn = ids.turn_id()
            for _ in range(50):
                writer.append("assistant", turn, text="x" * 20_000, block="1")
            writer.append("turn_end", turn, status="ok", reason=None, text=None)
    service.http.get(f"/api/projects/alpha/chats/{chat}").raise_for_status()

    def fork() -> None:
        service.http.post(f"/api/projects/alpha/chats/{chat}/fork", json={}).raise_for_status()

    # In turns, so that both see the same disk.
    pairs = [(_milliseconds(fork), _milliseconds(lambda: _copy(path))) for _ in range(7)]
    ours, floor = (statistics.median(times) for times in zip(*pairs, strict=True))
    return [compared("E8", "fork of 50 MB : cp + fsync", ours, floor, unit="ms", most=3)]


def _copy(path: Path) -> None:
    target = path.with_suffix(".copy")
    with path.open("rb") as source, target.open("wb") as copy:
        shutil.copyfileobj(source, copy, 1024 * 1024)
        copy.flush()
        os.fsync(copy.fileno())
    target.unlink()


def _stream(service: Service) -> list[Figure]:
    """Figure 9: a line appended until each of twenty clients has it."""
    chat = _chat(service)
    sockets = [_listen(service, chat) for _ in range(CLIENTS)]
    waits: list[float] = []
    with transcript.Writer(str(service.projects / "alpha" / ".chats" / f"{chat}.jsonl")) as writer:
        for _ in range(LINES):
            began = time.perf_counter()
            writer.append("assistant", "msg_x", text="line", block="1")
            waits += _received(sockets, b"id: %d\n" % writer.end, began)
    for one in sockets:
        one.close()
    p99 = statistics.quantiles(waits, n=100)[98] * 1000
    return [
        Figure("E9", f"append → {CLIENTS} clients, p99", f"{p99:.0f} ms", "250 ms", p99 / 250,
               "<= 250 ms", p99 <= 250)
    ]  # fmt: skip


def _listen(service: Service, chat: str) -> socket.socket:
    one = socket.create_connection(("127.0.0.1", service.ports["main"]), timeout=10)
    path = f"/api/projects/alpha/chats/{chat}/events"
    one.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    seen = b""
    while b"event: state" not in seen:
        seen += one.recv(65536)
    one.setblocking(False)
    return one


def _received(sockets: list[socket.socket], mark: bytes, began: float) -> list[float]:
    """When each client has read the mark, in seconds after `began`."""
    buffers = dict.fromkeys(sockets, b"")
    waits = []
    with selectors.DefaultSelector() as selector:
        for one in sockets:
            selector.register(one, selectors.EVENT_READ)
        while buffers and time.perf_counter() - began < 10:
            for key, _ in selector.select(1):
                one = next(s for s in sockets if s is key.fileobj)
                buffers[one] += one.recv(65536)
                if mark in buffers[one]:
                    waits.append(time.perf_counter() - began)
                    selector.unregister(one)
                    del buffers[one]
    return waits + [10.0] * len(buffers)
