"""PostgreSQL and Redis that accept and never answer: at the start, and while everything runs."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.config.test_several_servers import Stream
from tests.config.test_stores import HELLO, answered, chat_of
from tests.postgres import Cluster, postgres  # noqa: F401 - a fixture
from tests.promises.rings import WHOLE, few
from tests.redis import Redis, redis  # noqa: F401 - a fixture
from tests.service import Service, free_port, until
from tests.silence import Proxy, mute, swallowing

# A kind of silence, what is started, at how many such addresses.
STARTS = [
    (mute, "up", 1), (swallowing, "up", 1), (mute, "qcluster", 1), (swallowing, "qcluster", 1),
    (mute, "up", 5),
]  # fmt: skip
# The harder end of a silence; the whole ring tries the easy one, too.
HEALS = {"another is there": Proxy.lose} | ({"it goes on": Proxy.thaw} if WHOLE else {})
START_S = 10.0  # beside what a busy machine takes to load Django, which each test measures


def took(service: Service, command: str) -> tuple[float, str]:
    """Seconds until a start was refused, and with what sentence."""
    began = time.monotonic()
    done = service.run(command, timeout=120)
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    return time.monotonic() - began, done.stderr


def soon(seconds: float, floor: float, again: Callable[[], tuple[float, str]]) -> bool:
    """Within ten seconds beside the floor, measured again before a start is called slow."""
    return seconds < START_S + 3 * floor or seconds < START_S + 3 * again()[0]


def stands(tmp_path: Path, **env: str) -> Service:
    return Service(tmp_path, env={f"SVC_{name}": value for name, value in env.items()})


def at(*ports: int, database: str = "svc") -> str:
    return f"postgres://svc@{','.join(f'127.0.0.1:{port}' for port in ports)}/{database}"


def redis_at(port: int) -> str:
    return f"redis://127.0.0.1:{port}/0"


@pytest.fixture(scope="module")
def starts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., str]]:
    """What each of these starts was refused with, once: they go on at once, for each only waits."""
    pytest.importorskip("psycopg", reason="pip install -r requirements-cluster.txt")
    folder = tmp_path_factory.mktemp("starts")
    refused = partial(took, stands(folder / "floor", DATABASE_URL=at(free_port())), "up")
    floor, _ = refused()
    with ExitStack() as stack:
        pool = stack.enter_context(ThreadPoolExecutor(len(STARTS)))
        begun = {}
        for number, (silent, command, addresses) in enumerate(STARTS):
            ports = [stack.enter_context(silent()) for _ in range(addresses)]
            service = stands(folder / str(number), DATABASE_URL=at(*ports))
            begun[silent, command, addresses] = pool.submit(took, service, command)

        def told(*start: Any) -> str:
            seconds, sentence = begun[start].result()
            assert soon(seconds, floor, refused)
            return sentence

        yield told


@pytest.mark.slow
@pytest.mark.parametrize("silent", [mute, swallowing], ids=["mute", "swallowing"])
@pytest.mark.parametrize("command", few(["up", "qcluster"], 1))
def test_a_start_with_a_silent_postgresql_ends_within_ten_seconds(starts, silent, command):
    told = starts(silent, command, 1)

    assert told.startswith("not starting: the PostgreSQL database svc on 127.0.0.1")
    assert "does not answer" in told


def test_five_silent_addresses_take_no_longer_than_one(starts):
    assert "does not answer within" in starts(mute, "up", 5)


@pytest.mark.slow
def test_a_silent_address_is_passed_over_for_one_that_answers(tmp_path, postgres: Cluster):  # noqa: F811
    name = postgres.copy_of_migrated().split("/")[3].split("?")[0]
    with ExitStack() as stack:
        port = stack.enter_context(mute())
        proxy = stack.enter_context(closing(Proxy(f"{postgres.folder}/.s.PGSQL.5432")))
        url = at(port, proxy.port, database=name)
        service = stack.enter_context(stands(tmp_path, DATABASE_URL=url))

        assert service.http.post("/api/projects", json={"name": "A"}).status_code == 201


@pytest.mark.slow
def test_a_start_with_a_silent_redis_ends_within_ten_seconds(tmp_path, postgres: Cluster):  # noqa: F811
    pytest.importorskip("redis", reason="pip install -r requirements-cluster.txt")
    url = postgres.copy_of_migrated()
    refused = partial(
        took, stands(tmp_path, DATABASE_URL=url, REDIS_URL=redis_at(free_port())), "up"
    )
    floor, _ = refused()

    with mute() as port:
        seconds, told = took(
            stands(tmp_path, DATABASE_URL=url, REDIS_URL=f"redis://127.0.0.1:{port}/0"), "up"
        )

    assert soon(seconds, floor, refused)
    assert told.startswith("not starting: the Redis on 127.0.0.1 does not answer")


@pytest.fixture
def proxy(postgres: Cluster) -> Iterator[Proxy]:  # noqa: F811
    with closing(Proxy(f"{postgres.folder}/.s.PGSQL.5432")) as made:
        yield made


@pytest.fixture
def served(tmp_path: Path, postgres: Cluster, proxy: Proxy) -> Iterator[Service]:  # noqa: F811
    name = postgres.copy_of_migrated().split("/")[3].split("?")[0]
    with stands(tmp_path, DATABASE_URL=at(proxy.port, database=name)) as service:
        yield service


@pytest.mark.slow
@pytest.mark.parametrize("heal", HEALS.values(), ids=HEALS)
def test_while_the_database_is_silent_files_are_read_and_it_heals(served, proxy, heal):
    """Every request is answered within the client's 30 s; most are at once."""
    chat = chat_of(served)
    page, pid = f"/api/projects/alpha/chats/{chat}", served.pid
    with served.http.stream("GET", "/api/events") as stream:
        events = stream.iter_lines()
        proxy.freeze()

        sent = served.http.post(f"{page}/messages", json=HELLO)
        assert (sent.status_code, sent.headers["retry-after"]) == (503, "1")
        messages, review = f"{page}/messages", "/review/api/projects"
        for path in ("/api/health", "/api/projects", "/api/projects/alpha", page, messages,
                     review, "/dashboard/api/state", "/"):  # fmt: skip
            assert (path, served.http.get(path).status_code) == (path, 200)
        changed = served.http.patch("/api/projects/alpha", json={"summary": "while it was silent"})
        assert changed.status_code == 200

        heal(proxy)
        until(lambda: served.http.post(f"{page}/messages", json=HELLO).status_code == 202,
              seconds=60, what="a message is taken again")  # fmt: skip
        assert next(line for line in events if line == "event: project")
    until(lambda: answered(served, chat) >= 2, seconds=90, what="the answer of the second message")
    assert served.pid == pid


@pytest.mark.slow
@pytest.mark.parametrize("heal", HEALS.values(), ids=HEALS)
def test_while_redis_is_silent_messages_are_accepted_and_streams_hear_again(
    tmp_path: Path,
    postgres: Cluster,  # noqa: F811
    redis: Redis,  # noqa: F811
    heal: Callable[[Proxy], None],
):
    with ExitStack() as stack:
        proxy = stack.enter_context(closing(Proxy(("127.0.0.1", redis.port))))
        stores = {"DATABASE_URL": postgres.copy_of_migrated(), "REDIS_URL": redis_at(proxy.port)}
        service = stack.enter_context(stands(tmp_path, **stores))
        service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
        stream = Stream(service)
        proxy.freeze()

        assert service.http.post("/api/projects/alpha/chats", json=HELLO).status_code == 201
        until(lambda: "are not heard" in service.log(), seconds=60, what="the relay has noticed")
        heal(proxy)

        stream.next(holding="resync")
        (chat,) = service.http.get("/api/projects/alpha/chats").json()["chats"]
        assert chat["sessionId"]
