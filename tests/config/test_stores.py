"""PostgreSQL instead of SQLite: how it is chosen, refused, reached, lost and found again."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from config import options, stores
from config.options import OptionError
from config.process import redis_client
from tests.postgres import Cluster, postgres  # noqa: F401 - a fixture
from tests.promises.rings import few
from tests.redis import Redis, redis  # noqa: F401 - a fixture
from tests.service import Service, until

HELLO = {"prompt": '#!runbook\n```TodoWrite\n{"todos": []}\n```\nhello\n'}


def refused(data: Path, **environ: str) -> str:
    with pytest.raises(OptionError) as error:
        options.load({"SVC_DATA_DIR": str(data), **environ})
    return str(error.value)


def test_an_address_of_another_kind_is_refused_and_not_repeated(tmp_path):
    said = refused(tmp_path, SVC_DATABASE_URL="mysql://me:hidden@host/svc")

    assert said == "SVC_DATABASE_URL must begin with postgres://"


def test_redis_without_postgresql_is_refused(tmp_path):
    assert "goes with SVC_DATABASE_URL" in refused(tmp_path, SVC_REDIS_URL="redis://localhost/0")


def test_without_an_address_the_rows_are_in_sqlite_and_no_driver_is_loaded(tmp_path):
    assert stores.database("", tmp_path)["NAME"] == tmp_path / "svc.sqlite3"
    assert list(tmp_path.iterdir()) == []


def test_a_missing_library_is_named_with_the_command_that_brings_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.setitem(sys.modules, "channels_redis", None)

    with pytest.raises(OptionError, match=r"SVC_DATABASE_URL needs .* -r requirements-cluster.txt"):
        stores.database("postgres://localhost/svc", tmp_path)
    with pytest.raises(OptionError, match=r"SVC_REDIS_URL needs .* -r requirements-cluster.txt"):
        stores.channel_layers("redis://localhost/0")


def test_a_redis_that_wants_a_password_says_so(redis: Redis, settings):  # noqa: F811
    admin = ["redis-cli", "-p", str(redis.port), "config", "set", "requirepass", "sesame"]
    subprocess.run(admin, check=True, capture_output=True)

    for password, told in (("", "it wants a password, as in redis://"), (":wrong@", "invalid")):
        url = redis.url.replace("redis://", f"redis://{password}")
        settings.SVC = dataclasses.replace(settings.SVC, redis_url=url)
        with pytest.raises(OptionError, match=told):
            redis_client.reach()


def test_an_address_keeps_every_option_of_libpq(tmp_path):
    pytest.importorskip("psycopg", reason="pip install -r requirements-cluster.txt")
    made = stores.database("postgres://kim:pw@db.example:5433/svc?sslmode=require", tmp_path)

    assert (made["NAME"], made["USER"], made["PASSWORD"]) == ("svc", "kim", "pw")
    assert (made["HOST"], made["PORT"]) == ("db.example", "5433")
    assert made["OPTIONS"]["sslmode"] == "require"


def test_the_server_is_asked_to_notice_within_seconds_that_a_host_is_gone(tmp_path):
    pytest.importorskip("psycopg", reason="pip install -r requirements-cluster.txt")
    made = stores.database("postgres://db.example/svc?options=-c%20work_mem%3D64MB", tmp_path)

    assert made["OPTIONS"]["options"].split(" -c ") == [
        "-c tcp_keepalives_idle=10", "tcp_keepalives_interval=5", "tcp_keepalives_count=3",
        "work_mem=64MB",
    ]  # fmt: skip


@pytest.mark.parametrize("url", ["postgres://localhost", "postgres://local host:x/svc"])
def test_an_address_that_names_no_database_is_refused(tmp_path, url):
    pytest.importorskip("psycopg", reason="pip install -r requirements-cluster.txt")
    with pytest.raises(OptionError, match="SVC_DATABASE_URL"):
        stores.database(url, tmp_path)


@pytest.mark.parametrize("command", few(["up", "runserver", "qcluster"], 1))
def test_a_start_without_its_database_ends_with_one_sentence(tmp_path, command):
    pytest.importorskip("psycopg", reason="pip install -r requirements-cluster.txt")
    url = f"postgres://kim:hidden@/svc?host={tmp_path}"
    stopped = Service(tmp_path, env={"SVC_DATABASE_URL": url})

    started = time.monotonic()
    done = stopped.run(command)

    assert time.monotonic() - started < 10 + 20  # a slow machine takes its time to load Django
    assert done.returncode == 2
    assert done.stderr.startswith("not starting: the PostgreSQL database svc on ")
    assert done.stderr.count("\n") == 1
    assert "hidden" not in done.stderr


def test_a_database_that_sorts_by_words_is_refused_with_the_command_that_makes_one(
    tmp_path,
    postgres: Cluster,  # noqa: F811
):
    postgres.sql("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    stopped = Service(tmp_path, env={"SVC_DATABASE_URL": postgres.url("latin")})

    done = stopped.run("up")

    assert done.returncode == 2
    assert "createdb -T template0 -E UTF8 -l C latin" in done.stderr


@pytest.fixture
def served(tmp_path: Path, postgres: Cluster) -> Iterator[Service]:  # noqa: F811
    with Service(tmp_path, env={"SVC_DATABASE_URL": postgres.copy_of_migrated()}) as running:
        yield running
        postgres.start()


def chat_of(served: Service) -> str:
    served.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
    free = {"permissionMode": "bypassPermissions"}
    served.http.patch("/api/projects/alpha", json=free).raise_for_status()
    made = served.http.post("/api/projects/alpha/chats", json=HELLO).raise_for_status()
    chat = str(made.json()["chat"]["sessionId"])
    until(lambda: answered(served, chat) == 1, seconds=30, what="the answer of the first message")
    return chat


def answered(served: Service, chat: str) -> int:
    page = served.http.get(f"/api/projects/alpha/chats/{chat}/messages").json()
    return sum(one["role"] == "tool" for one in page["messages"])


@pytest.mark.slow
def test_while_the_database_is_gone_files_are_read_and_the_rest_waits(
    served: Service,
    postgres: Cluster,  # noqa: F811
):
    chat = chat_of(served)
    page, pid = f"/api/projects/alpha/chats/{chat}", served.pid
    with served.http.stream("GET", "/api/events") as stream:
        events = stream.iter_lines()
        postgres.stop("immediate")

        for path in ("/api/health", "/api/projects", "/api/projects/alpha", page,
                     "/api/projects/alpha/chats", f"{page}/messages", "/review/api/projects",
                     "/dashboard/api/state", "/"):  # fmt: skip
            assert (path, served.http.get(path).status_code) == (path, 200)
        changed = served.http.patch("/api/projects/alpha", json={"summary": "while it was gone"})
        assert changed.status_code == 200
        assert "while it was gone" in (served.projects / "alpha" / "project.yaml").read_text()
        sent = served.http.post(f"{page}/messages", json=HELLO)
        assert (sent.status_code, sent.json()["code"]) == (503, "unavailable")
        assert sent.headers["retry-after"] == "1"

        postgres.start()
        until(lambda: served.http.post(f"{page}/messages", json=HELLO).status_code == 202,
              seconds=30, what="a message is taken again")  # fmt: skip
        assert next(line for line in events if line == "event: project")
    until(lambda: answered(served, chat) == 2, seconds=60, what="the answer of the second message")
    assert served.pid == pid
    until(lambda: told(served) == "while it was gone", seconds=30, what="the row follows its file")


def told(served: Service) -> Any:
    rows = served.rows("SELECT data FROM workspace_project WHERE slug = 'alpha'")
    data = rows[0][0]
    return (json.loads(data) if isinstance(data, str) else data).get("summary")


def test_the_default_loads_neither_driver_nor_client(tmp_path):
    code = (
        "import django, sys; django.setup(); import config.asgi, workspace.broker;"
        "print([name for name in ('psycopg', 'redis', 'channels_redis') if name in sys.modules])"
    )
    env = {name: value for name, value in os.environ.items() if name != "SVC_DATABASE_URL"}
    env |= {"SVC_DATA_DIR": str(tmp_path), "DJANGO_SETTINGS_MODULE": "config.settings"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )

    assert done.stdout == "[]\n"
