"""S3, E2, E5, E8 and E9: lists, reads, starts, forks and streams of chats.

One real service with its cluster. A null request calls the same tool where there is nothing to
show (a project without chats, a chat without messages): the same stack, without the work.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from math import ceil
from pathlib import Path
from typing import Any

from bench.figures import Figure, bounded_figure, percentile, ratio_figure
from bench.mcp_bench import CONFIG, HEADERS, TOKEN
from bench.timing import Connection, milliseconds
from tests.service import ROOT, Service, until
from tests.wire import EventClient
from workspace import ids
from workspace.chats import transcript

CHATS, ROUNDS, STARTS, TURNS = 300, 200, 30, 20
CLIENTS, LINES, FORK_BYTES = 20, 60, 50 * 1024 * 1024
FORKS, FORKED_BYTES = 300, 1024 * 1024  # one after the other
FORKING = {
    "managementApi": CONFIG["managementApi"]
    | {"clients": {"bench": {"auth": {"ref": "env:BENCH_TOKEN"}, "scope": {"allow": ["*"]}}}}
}
QUICK = '#!runbook\n```TodoWrite\n{"todos": []}\n```\n'


def main() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        service = Service(Path(folder), config=FORKING, env={"BENCH_TOKEN": TOKEN})
        with service:
            service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
            return [
                *_starts(service),
                *_burst(service),
                *reads(service),
                *_fork(service),
                *_stream(service),
            ]


def _spawn() -> float:
    """S, the unit of the E figures: p50 of a bare start of Python with two imports, in ms."""
    command = [sys.executable, "-c", "import asyncio, json"]
    return statistics.median(
        milliseconds(lambda: subprocess.run(command, cwd=ROOT, check=True)) for _ in range(20)
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
    """E2: from the request to turn_start on disk, while nothing else runs."""
    waits = []
    for _ in range(STARTS):
        asked = time.time()
        chat = _chat(service, QUICK)
        until(lambda chat=chat: _records(service, chat, "turn_end"), seconds=30)  # type: ignore[misc]
        began = datetime.fromisoformat(_records(service, chat, "turn_start")[0]["ts"])
        waits.append((began.timestamp() - asked) * 1000)
    spawn, p50, worst = _spawn(), statistics.median(waits), max(waits)
    what = "send → turn_start on disk, p50 : 3 S + 50 ms"
    return [
        ratio_figure("E2", what, p50, 3 * spawn + 50, unit="ms", most=1),
        bounded_figure("E2", f"the same, slowest of {STARTS}", worst, 1000, unit="ms"),
    ]


def _burst(service: Service) -> list[Figure]:
    """E5: twenty turns in twenty chats at once, four workers."""
    spawn = _spawn()
    began = time.perf_counter()
    chats = [_chat(service, QUICK) for _ in range(TURNS)]
    until(lambda: all(_records(service, chat, "turn_end") for chat in chats), seconds=60)
    took = (time.perf_counter() - began) * 1000
    target = ceil(TURNS / (os.cpu_count() or 1)) * 3 * spawn + 1000
    assert all(_records(service, chat, "turn_end")[0]["status"] == "ok" for chat in chats)
    what = f"{TURNS} turns at once : ceil({TURNS}/cores) 3 S + 1 s"
    return [ratio_figure("E5", what, took, target, unit="ms", most=1)]


def reads(service: Service) -> list[Figure]:
    """S3: both tools beside the same call on nothing, over one kept connection, to the last byte
    of the answer; what the caller does with the answer is not measured. The service is otherwise
    idle. A chat that was read is cached, so a chat that has received another message since is
    measured too."""
    folder = service.projects / "alpha" / ".chats"
    folder.mkdir(exist_ok=True)
    for number in range(CHATS - len(list(folder.glob("*.yaml")))):
        write_chat(folder, f"Chat {number}", turns=2)
    long = write_chat(folder, "Long", turns=20)
    endpoint = Endpoint(service)
    service.http.post("/api/projects", json={"name": "Empty"}).raise_for_status()
    blank = _chat(service)
    calls = {
        "no list": lambda: endpoint.tool("list_chats", project="empty", limit=CHATS),
        "no read": lambda: endpoint.tool("read_chat", project="alpha", session_id=blank, limit=40),
        "list": lambda: endpoint.tool("list_chats", project="alpha", limit=CHATS),
        "read": lambda: endpoint.tool("read_chat", project="alpha", session_id=long, limit=40),
    }
    until(lambda: _is_indexed(service), seconds=60)
    assert len(_content(calls["list"]())["chats"]) == CHATS
    assert len(_content(calls["read"]())["messages"]) == 40
    times: dict[str, list[float]] = {name: [] for name in (*calls, "anew")}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            times[name].append(milliseconds(call))
    with transcript.Writer(str(folder / f"{long}.jsonl")) as writer:
        for _ in range(ROUNDS):
            writer.append("user", "", text="And then?", sender={"kind": "user"})
            times["anew"].append(milliseconds(calls["read"]))
    p50 = {name: statistics.median(found) for name, found in times.items()}
    return [
        Figure("S3", f"list_chats over {CHATS} chats, p50 : over none", f"{p50['list']:.2f} ms",
               f"{p50['no list']:.2f} ms", p50["list"] / p50["no list"], "< 3 ms and <= 3 x",
               p50["list"] < 3 and p50["list"] <= 3 * p50["no list"]),
        Figure("S3", "read_chat of 40 messages, p50 : of none", f"{p50['read']:.2f} ms",
               f"{p50['no read']:.2f} ms", p50["read"] / p50["no read"], "< 2 ms and <= 1.5 x",
               p50["read"] < 2 and p50["read"] <= 1.5 * p50["no read"]),
        bounded_figure("S3", "the same, a message later", p50["anew"], 2, unit="ms",
                       floor=p50["no read"]),
    ]  # fmt: skip


def _is_indexed(service: Service) -> bool:
    """Whether the search has indexed what was written: it reads each new chat once."""
    return not service.http.get("/api/search", params={"q": "Question"}).json()["indexing"]


def write_chat(folder: Path, name: str, *, turns: int) -> str:
    """Write a chat as files only, as if it had been copied in. Returns its id."""
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
        self._connection = Connection(service.ports["main"])

    def tool(self, tool: str, **arguments: Any) -> bytes:
        params = {"name": tool, "arguments": arguments}
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        return self._connection.post("/mcp", json.dumps(asked).encode(), HEADERS)


def _content(answer: bytes) -> dict[str, Any]:
    result = json.loads(answer.split(b"data: ", 1)[1])["result"]
    content: dict[str, Any] = result["structuredContent"]
    return content


def _fork(service: Service) -> list[Figure]:
    """E8: fork_chat beside a copy of the same file, both on the disk: once for a large chat, and
    many times for one of usual size, which leaves a folder full of chats."""
    return [
        _fork_figure(service, "fork_chat of 50 MB : cp + fsync", FORK_BYTES, 7),
        _fork_figure(service, f"{FORKS} of 1 MB in a row, each", FORKED_BYTES, FORKS),
    ]


def _fork_figure(service: Service, what: str, size: int, times: int) -> Figure:
    chat = _chat(service)
    path = service.projects / "alpha" / ".chats" / f"{chat}.jsonl"
    with transcript.Writer(str(path)) as writer:
        while path.stat().st_size < size:
            turn = ids.turn_id()
            for _ in range(50):
                writer.append("assistant", turn, text="x" * 20_000, block="1")
            writer.append("turn_end", turn, status="ok", reason=None, text=None)
    service.http.get(f"/api/projects/alpha/chats/{chat}").raise_for_status()

    endpoint = Endpoint(service)

    def fork() -> None:
        answer = endpoint.tool("fork_chat", project="alpha", session_id=chat)
        assert _content(answer)["forked"]

    # Alternately, so that both see the same disk.
    pairs = [(milliseconds(fork), milliseconds(lambda: _copy(path))) for _ in range(times)]
    ours, floor = (statistics.median(times) for times in zip(*pairs, strict=True))
    return ratio_figure("E8", what, ours, floor, unit="ms", most=1.5)


def _copy(path: Path) -> None:
    """Copy as a fork does: under a name of its own."""
    target = path.with_name(f"{ids.session_id()}.copy")
    with path.open("rb") as source, target.open("wb") as copy:
        shutil.copyfileobj(source, copy, 1024 * 1024)
        copy.flush()
        os.fsync(copy.fileno())
    target.unlink()


def _stream(service: Service) -> list[Figure]:
    """E9: from appending a line until each of twenty clients, read in turn, has it."""
    chat = _chat(service)
    path = f"/api/projects/alpha/chats/{chat}/events"
    clients = [EventClient(service.ports["main"], path) for _ in range(CLIENTS)]
    for client in clients:
        client.connect()
        _read(client, b"event: state")
    waits: list[float] = []
    with transcript.Writer(str(service.projects / "alpha" / ".chats" / f"{chat}.jsonl")) as writer:
        for _ in range(LINES):
            began = time.perf_counter()
            writer.append("assistant", "msg_x", text="line", block="1")
            for client in clients:
                _read(client, b"id: %d\n" % writer.end)
                waits.append((time.perf_counter() - began) * 1000)
    p99 = percentile(waits, 0.99)
    return [bounded_figure("E9", f"append → {CLIENTS} clients, p99", p99, 250, unit="ms")]


def _read(client: EventClient, mark: bytes) -> None:
    """Read until the client has received the mark."""
    seen = b""
    while mark not in seen:
        seen += client.socket.recv(65536)
