"""Two servers on one PostgreSQL and one Redis: tasks and events of one reach the other."""

from __future__ import annotations

import queue
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.utils.module_loading import import_string

from config.stores import channel_layers
from config.web.relay import GROUP
from tests.postgres import Cluster, postgres  # noqa: F401 - a fixture
from tests.promises.rings import few
from tests.redis import Redis, redis  # noqa: F401 - a fixture
from tests.service import Service, until

HELLO = {"prompt": '#!runbook\n```TodoWrite\n{"todos": []}\n```\nhello\n'}
Make = Callable[..., Service]


@pytest.fixture
def make(tmp_path: Path, postgres: Cluster, redis: Redis) -> Iterator[Make]:  # noqa: F811
    """Servers on the same stores, with the same secret, that end with the test."""
    stores = {"SVC_DATABASE_URL": postgres.copy_of_migrated(), "SVC_REDIS_URL": redis.url}
    secret = tmp_path / "secret"
    with ExitStack() as running:

        def started(name: str, *, scheduler: bool = False, **env: str) -> Service:
            service = Service(tmp_path / name, env=stores | env, scheduler=scheduler)
            state = service.data / "state"
            state.mkdir()
            if secret.exists():
                shutil.copy(secret, state / "secret")
            running.enter_context(service)
            shutil.copy(state / "secret", secret)
            return service

        yield started


class Stream:
    """The events of a server, as a client that stays connected gets them."""

    def __init__(self, service: Service) -> None:
        self.events: queue.Queue[str] = queue.Queue()
        opened = threading.Event()
        arguments = (service.url, opened)
        threading.Thread(target=self._read, args=arguments, daemon=True).start()
        assert opened.wait(20)

    def _read(self, url: str, opened: threading.Event) -> None:
        with (
            suppress(httpx.HTTPError),  # the server ends before its client
            httpx.stream("GET", f"{url}/api/events", timeout=None, trust_env=False) as answer,
        ):
            for line in answer.iter_lines():
                opened.set()
                self.events.put(line)
        self.events.put("ended")

    def next(self, *, holding: str) -> str:
        while holding not in (line := self.events.get(timeout=30)):
            assert line != "ended"
        return line


@pytest.mark.slow
def test_a_stream_of_one_server_tells_what_the_other_changed(make: Make):
    """Each has projects of its own here, so that no file and no row tells it."""
    a, b = make("a"), make("b")
    stream = Stream(a)
    until(lambda: heard(b, stream), seconds=30, what="both have joined")

    b.http.patch("/api/projects/alpha", json={"summary": "told"}).raise_for_status()

    assert stream.next(holding='"slug":"alpha"')


async def test_services_on_two_numbers_of_one_redis_hear_nothing_of_each_other(
    redis: Redis,  # noqa: F811
):
    server = redis.url.rpartition("/")[0]
    mine, theirs = layer(f"{server}/0"), layer(f"{server}/1")
    channel = await mine.new_channel()
    await mine.group_add(GROUP, channel)

    await theirs.group_send(GROUP, {"by": "theirs"})
    await mine.group_send(GROUP, {"by": "mine"})

    assert await mine.receive(channel) == {"by": "mine"}
    await mine.flush()
    await theirs.flush()


def layer(url: str) -> Any:
    made = channel_layers(url)["default"]
    return import_string(made["BACKEND"])(**made["CONFIG"])


def heard(b: Service, stream: Stream) -> bool:
    b.http.post("/api/projects", json={"name": "Alpha"})
    b.http.patch("/api/projects/alpha", json={"summary": f"{stream.events.qsize()}"})
    return any('"slug":"alpha"' in line for line in [*stream.events.queue])


@pytest.mark.slow
def test_a_message_sent_through_one_server_is_run_by_the_other(make: Make, tmp_path: Path):
    shared = str(tmp_path / "shared")
    a = make("a", SVC_PROJECTS_DIR=shared)
    make("b", SVC_PROJECTS_DIR=shared, scheduler=True)
    a.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
    free = {"permissionMode": "bypassPermissions"}
    a.http.patch("/api/projects/alpha", json=free).raise_for_status()

    chat = a.http.post("/api/projects/alpha/chats", json=HELLO).raise_for_status()

    path = f"/api/projects/alpha/chats/{chat.json()['chat']['sessionId']}/messages"
    until(lambda: "hello" in str(a.http.get(path).json()["messages"][1:]),
          seconds=60, what="the answer, read through the first server")  # fmt: skip
    assert a.rows("SELECT count(*) FROM django_q_ormq") == [(0,)]


@pytest.mark.slow
def test_while_redis_is_gone_streams_stay_and_are_told_to_look_when_it_is_back(
    make: Make,
    redis: Redis,  # noqa: F811
):
    a = make("a")
    stream = Stream(a)
    a.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
    stream.next(holding='"slug":"alpha"')
    redis.stop()

    sent = a.http.post("/api/projects/alpha/chats", json=HELLO)
    assert sent.status_code == 201  # a row, which the sweep hands over
    assert a.rows("SELECT state FROM workspace_turn") == [("queued",)]
    until(lambda: "are not heard" in a.log(), seconds=30, what="the relay has noticed")
    redis.start()

    assert stream.next(holding="resync")


@pytest.mark.parametrize("command", few(["up", "runserver", "qcluster"], 1))
def test_a_start_without_its_redis_ends_with_one_sentence(
    tmp_path: Path,
    postgres: Cluster,  # noqa: F811
    redis: Redis,  # noqa: F811
    command: str,
):
    redis.stop()
    env = {"SVC_DATABASE_URL": postgres.copy_of_migrated(), "SVC_REDIS_URL": redis.url}
    done = Service(tmp_path / "a", env=env).run(command)

    assert done.returncode == 2
    assert done.stderr.startswith("not starting: the Redis on 127.0.0.1 does not answer")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_a_redis_of_servers_with_another_secret_is_refused(make: Make, tmp_path: Path):
    a = make("a")
    stranger = Service(tmp_path / "b", env=a.env | {"SVC_DATA_DIR": str(tmp_path / "b" / "data")})

    done = stranger.run("runserver", "--noreload")

    assert done.returncode == 2
    assert "copy <data>/state/secret" in done.stderr
