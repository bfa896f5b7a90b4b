"""Rows 1-4, 6, 8 and 10-12: the real service, asked over a connection that is kept open."""

from __future__ import annotations

import http.client
import os
import selectors
import socket
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from bench.figures import Figure, compared
from bench.review import floors, forgetting
from bench.review.histories import History, git
from bench.review.timing import ROUNDS, Work, alternately, milliseconds
from bench.review.world import World
from config.kernel import fonts
from tests.service import Service, until

FIRST = 8  # files of a first screen
WARM_MS, LIST_MS, PICTURE_MS = 3, 20, 5
MORE_MIB = 64
EDITS, EVENT_MS, EVENT_MOST_MS = 20, 250, 1000
STREAMS, CALLS = 200, 100
BUFFER = 1 << 20
C = "/api/projects/{}/repos/r/commits/{}"


class Client:
    """One connection to the review port, and the service behind it."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.port = service.ports["review"]
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port)
        self.buffer = bytearray(BUFFER)

    def get(self, path: str) -> bytes:
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        body = answer.read()
        assert answer.status == 200, (path, answer.status, body[:300])
        return body

    def json(self, path: str) -> Any:
        return orjson.loads(self.get(path))

    def drain(self, path: str) -> int:
        """The same without keeping it: how many bytes came."""
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        assert answer.status == 200, (path, answer.status)
        size = 0
        while taken := answer.readinto(self.buffer):
            size += taken
        return size

    def forget(self) -> None:
        forgetting.forget(self.service.data)


def rows(made: World, client: Client) -> Sequence[Callable[[], list[Figure]]]:
    own = [partial(row, made, client) for row in (
        reviewing, listing, drawing, screening, streaming, noticing, crowding,
    )]  # fmt: skip
    return [*stacked(client, "s", made.work), *own]


def stacked(client: Client, slug: str, history: History) -> Sequence[Callable[[], list[Figure]]]:
    """The rows that a repository of one's own is measured by as well."""
    return [partial(detailing, client, slug, history), partial(opening, client, slug, history)]


def detailing(client: Client, slug: str, history: History) -> list[Figure]:
    """Row 1 (S6)."""
    path = f"/api/projects/{slug}"
    get = partial(client.get, path)
    (repo,) = client.json(path)["repos"]
    assert [one["sha"] for one in repo["commits"]] == history.commits, repo["errors"]
    assert all(one["additions"] is not None for one in repo["commits"])
    cold = alternately(get, partial(floors.log, history), before=client.forget)
    warm = alternately(get, partial(floors.spawn, history))
    what = f"project detail of {slug}, {len(history.commits)} commits"
    return [
        compared("C1", f"{what}, cold (S6) : git log --numstat -M", *cold, unit="ms", most=1.5),
        compared("C1", f"{what}, warm (S6) : spawn of git rev-parse", *warm, unit="ms", most=5),
    ]


def opening(client: Client, slug: str, history: History) -> list[Figure]:
    """Row 2: the newest commit of at most 50 files and 1 MB."""
    for sha in reversed(history.commits):
        pairs = floors.pairs(history, sha)
        path = C.format(slug, sha)
        size = len(client.get(path))
        if 0 < len(pairs) <= 50 and size <= 1 << 20:
            break
    else:
        return []
    answer = client.json(path)
    get = partial(client.get, path)
    least = partial(floors.commit, history, sha, pairs)
    cold = alternately(get, least, before=client.forget)
    warm, dump = alternately(get, partial(floors.dump, answer))
    what = f"commit detail of {slug}, {len(pairs)} files, {size // 1000} KB"
    return [
        compared("C2", f"{what}, cold : diff-tree --numstat + cat-file --batch", *cold,
                 unit="ms", most=2),
        compared("C2", f"{what}, warm : {WARM_MS} ms + dump of the same JSON", warm,
                 WARM_MS + dump, unit="ms", most=1),
    ]  # fmt: skip


def screening(made: World, client: Client) -> list[Figure]:
    """Row 3 (S7)."""
    history = made.wide
    path = C.format("w", history.head) + f"?contents={FIRST}"
    answer = client.json(path)
    paths = [one["path"] for one in answer["files"][:FIRST]]
    assert len(answer["files"]) == 2000
    assert all(one["new"] for one in answer["files"][:FIRST])
    get = partial(client.get, path)
    least = partial(floors.first_screen, history, history.head, paths)
    cold = alternately(get, least, before=client.forget)
    warm = alternately(get, least)
    what = f"first {FIRST} of {len(answer['files'])} files (W)"
    floor = f"diff-tree --raw + diff of {FIRST} files"
    return [
        compared("C3", f"{what}, cold (S7) : {floor}", *cold, unit="ms", most=3),
        compared("C3", f"{what}, warm (S7) : {floor}", *warm, unit="ms", most=3),
    ]


def streaming(made: World, client: Client) -> list[Figure]:
    """Row 4, and how much memory of the service it takes at most."""
    history = made.wide
    pairs = floors.pairs(history, history.head)
    path = C.format("w", history.head)
    before = _memory(client.service.pid, "VmRSS")
    Path(f"/proc/{client.service.pid}/clear_refs").write_text("5")  # forget the peak
    size = client.drain(path)
    more = (_memory(client.service.pid, "VmHWM") - before) / 1024
    assert size > 60_000_000, size
    cold = alternately(
        partial(client.drain, path), partial(floors.everything, history, pairs),
        before=client.forget,
    )  # fmt: skip
    return [
        compared("C4", f"all {len(pairs)} files (W), {size // 1_000_000} MB, cold : "
                 "cat-file --batch + orjson dump", *cold, unit="ms", most=1.3),
        Figure("C4", "the same: memory of the service", f"+ {more:.0f} MiB", f"{MORE_MIB} MiB",
               more / MORE_MIB, f"<= {MORE_MIB} MiB", more <= MORE_MIB),
    ]  # fmt: skip


def reviewing(made: World, client: Client) -> list[Figure]:
    """Row 6."""
    path = C.format("reviewed", made.work.head) + "/review"
    answer = client.json(path)
    threads = answer["threads"]
    files = sorted({one["path"] for one in threads})
    assert all(one["line"] for one in threads), answer["warnings"]
    pairs = [
        (_oid(made.work, made.work.base, file), _oid(made.work, made.work.head, file))
        for file in files
    ]

    def least() -> None:
        floors.load(made.reviewed)
        floors.diffs(made.work, pairs)

    get = partial(client.get, path)
    cold = alternately(get, least, before=client.forget)
    warm, dump = alternately(get, partial(floors.dump, answer))
    what = f"GET review, {len(threads)} threads in {len(files)} files"
    return [
        compared("C6", f"{what}, cold : C-parser load + a -U0 diff per file pair", *cold,
                 unit="ms", most=2),
        compared("C6", f"{what}, warm : {WARM_MS} ms + dump", warm, WARM_MS + dump,
                 unit="ms", most=1),
    ]  # fmt: skip


def listing(made: World, client: Client) -> list[Figure]:
    """The time of row 8; what is parsed meanwhile is counted in process."""
    client.get("/api/projects")
    files = made.indexed
    ours, stats = alternately(partial(client.get, "/api/projects"), partial(floors.stats, files))
    return [
        Figure("C8", f"project list, 50 projects, warm : stat of {len(files)} files",
               f"{ours:.3g} ms", f"{stats:.3g} ms", ours / stats, f"<= {LIST_MS} ms",
               ours <= LIST_MS)
    ]  # fmt: skip


def drawing(made: World, client: Client) -> list[Figure]:
    """Row 10."""
    svg = client.get("/api/projects/s/stack.svg").decode()
    get = partial(client.get, "/api/projects/s/stack.png")
    least = partial(floors.render, svg, [str(font) for font in fonts.FILES])
    cold = alternately(get, least, before=client.forget)
    warm, _ = alternately(get, least)
    return [
        compared("C10", "stack.png of S, cold : bare resvg of the same SVG", *cold,
                 unit="ms", most=1.5),
        Figure("C10", "the same, warm", f"{warm:.3g} ms", f"{PICTURE_MS} ms", warm / PICTURE_MS,
               f"<= {PICTURE_MS} ms", warm <= PICTURE_MS),
    ]  # fmt: skip


# -- events --------------------------------------------------------------------------------------


def noticing(made: World, client: Client) -> list[Figure]:
    """Row 11: one edit after the other, each when the event of the last one has come."""
    waits = []
    with _streams(client.port, 1) as (stream,):
        for number in range(2 * EDITS):
            data = made.posted.read_bytes()
            edited = data.replace(b"resolved: false", b"resolved: true", 1)
            if number % 4 > 1:
                edited = data.replace(b"resolved: true", b"resolved: false", 1)
            save = _renamed if number % 2 else _in_place
            waits.append(_noticed(stream, partial(save, made.posted, edited)))
            time.sleep(0.15)  # past the time in which edits are told together
    most = sorted(waits)
    p95 = most[int(len(most) * 0.95) - 1]
    what = f"file edit → event, {EDITS} renames and {EDITS} in-place saves"
    return [
        Figure("C11", f"{what}: 95 %", f"{p95:.0f} ms", "", None, f"<= {EVENT_MS} ms",
               p95 <= EVENT_MS),
        Figure("C11", f"{what}: all", f"{most[-1]:.0f} ms", "", None, f"< {EVENT_MOST_MS} ms",
               most[-1] < EVENT_MOST_MS),
    ]  # fmt: skip


def crowding(made: World, client: Client) -> list[Figure]:
    """Row 12."""
    times: list[tuple[float, float]] = []
    for _ in range(ROUNDS):
        alone = _health(client)
        with _streams(client.port, STREAMS):
            times.append((_health(client), alone))
    ours, least = map(min, zip(*times, strict=True))
    return [
        compared("C12", f"GET health beside {STREAMS} event streams : alone", ours, least,
                 unit="ms", most=2)
    ]  # fmt: skip


def _health(client: Client) -> float:
    return statistics.median(milliseconds(partial(client.get, "/api/health")) for _ in range(CALLS))


@contextmanager
def _streams(port: int, count: int) -> Iterator[list[socket.socket]]:
    """Open event streams, each greeted."""
    head = b"GET /api/events HTTP/1.0\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n"
    opened = []
    try:
        for _ in range(count):
            one = socket.create_connection(("127.0.0.1", port), timeout=10)
            opened.append(one)
            one.sendall(head)
        for one in opened:
            seen = b""
            while b"retry:" not in seen:
                seen += one.recv(4096)
        yield opened
    finally:
        for one in opened:
            one.close()


def _noticed(stream: socket.socket, save: Work) -> float:
    """Milliseconds from the end of the save until an event is read."""
    save()
    began = time.perf_counter()
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while selector.select(2):
            if b'"review"' in stream.recv(65536):
                return (time.perf_counter() - began) * 1000
    return 2000.0


def _renamed(file: Path, data: bytes) -> None:
    beside = file.with_suffix(".new")
    beside.write_bytes(data)
    os.replace(beside, file)  # noqa: PTH105


def _in_place(file: Path, data: bytes) -> None:
    file.write_bytes(data)


def _memory(pid: int, name: str) -> int:
    """A line of the process's status, in KiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def _oid(history: History, sha: str, path: str) -> str:
    return git(history.path, "rev-parse", f"{sha}:{path}").decode().strip()


@contextmanager
def client(folder: Path, projects: Path) -> Iterator[Client]:
    """A service of these projects, when it has settled."""
    env = {
        "SVC_PROJECTS_DIR": str(projects),
        "DJANGO_SETTINGS_MODULE": "bench.review.settings",
    }
    with Service(folder, env=env, scheduler=False) as service:
        until(Path(forgetting.address(service.data)).exists)
        yield Client(service)
