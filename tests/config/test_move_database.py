"""`manage.py move-database`: every row there and back, or none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import Cluster, ask, postgres  # noqa: F401 - a fixture
from tests.service import Service, until

HELLO = {"prompt": '#!runbook\n```TodoWrite\n{"todos": []}\n```\nhello\n'}
TABLES = ("workspace_run", "workspace_turn", "workspace_chat", "workspace_passage",
          "workspace_auditentry", "dashboard_slug", "workspace_triggerstate")  # fmt: skip


def used(service: Service) -> Service:
    """Stopped, after it was used."""
    service.start()
    service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
    free = {"permissionMode": "bypassPermissions"}
    service.http.patch("/api/projects/alpha", json=free).raise_for_status()
    for _ in range(3):
        service.http.post("/api/projects/alpha/chats", json=HELLO).raise_for_status()
    until(lambda: done(service) == 3, seconds=60, what="three answers")
    service.http.get("/api/search", params={"q": "hello"}).raise_for_status()
    service.stop()
    return service


def done(service: Service) -> int:
    return int(service.rows("SELECT count(*) FROM workspace_turn WHERE state = 'done'")[0][0])


def counts(service: Service) -> dict[str, int]:
    return {name: service.rows(f"SELECT count(*) FROM {name}")[0][0] for name in TABLES}


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    service = Service(tmp_path)
    service.env.pop("SVC_DATABASE_URL", None)
    yield service
    service.kill9()
    service.http.close()


@pytest.mark.slow
def test_rows_go_to_postgresql_and_back_and_are_compared(service, postgres: Cluster):  # noqa: F811
    before = counts(used(service))
    url = postgres.create("moved")

    there = service.run("move-database", url)

    assert there.returncode == 0, there.stderr
    assert "all compared" in there.stdout
    service.env["SVC_DATABASE_URL"] = url
    assert counts(service) == before
    service.start()  # it goes on numbering where the rows end
    service.http.post("/api/projects/alpha/chats", json=HELLO).raise_for_status()
    until(lambda: done(service) == 4, seconds=60, what="a fourth answer")
    found = service.http.get("/api/search", params={"q": "hello"}).json()["hits"]
    assert len({hit["sessionId"] for hit in found}) == 4
    service.stop()
    after = counts(service)

    assert service.run("move-database", "sqlite").returncode == 2  # the old file is there
    (service.data / "svc.sqlite3").rename(service.data / "old.sqlite3")
    for name in ("svc.sqlite3-wal", "svc.sqlite3-shm"):
        (service.data / name).unlink(missing_ok=True)
    back = service.run("move-database", "sqlite")

    assert back.returncode == 0, back.stderr
    del service.env["SVC_DATABASE_URL"]
    assert counts(service) == after


@pytest.mark.slow
def test_a_target_that_holds_rows_is_refused_and_keeps_them(service, postgres: Cluster):  # noqa: F811
    used(service)
    url = postgres.create("taken")
    assert service.run("move-database", url).returncode == 0
    again = service.run("move-database", url)

    assert again.returncode == 2
    assert "holds rows already" in again.stderr


def test_nothing_is_moved_while_the_service_runs(service, postgres: Cluster):  # noqa: F811
    url = postgres.create("busy")
    service.start()
    refused = service.run("move-database", url)

    assert refused.returncode == 2
    assert "serves" in refused.stderr
    assert postgres.tables("busy") == 0


REFUSES = "ALTER TABLE workspace_turn ADD CONSTRAINT never CHECK (id = '')"
CHANGES = """
    CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN NEW.prompt := ''other''; RETURN NEW; END';
    CREATE TRIGGER spoil BEFORE INSERT ON workspace_turn FOR EACH ROW EXECUTE FUNCTION spoil()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (REFUSES, 'violates check constraint "never"'),
        (CHANGES, "workspace_turn: 3 rows"),
    ],
)
def test_a_move_that_goes_wrong_half_way_leaves_the_target_empty(
    service,
    postgres: Cluster,  # noqa: F811
    fault: str,
    told: str,
):
    used(service)
    url = postgres.copy_of_migrated()
    ask(url, fault)

    failed = service.run("move-database", url)

    assert failed.returncode in (1, 2)
    assert told in failed.stderr
    assert "nothing was" in failed.stderr
    assert counts(service)["workspace_turn"] == 3
    service.env["SVC_DATABASE_URL"] = url
    assert set(counts(service).values()) == {0}
