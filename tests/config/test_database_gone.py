"""The database removed while the service runs: the next write says so, and none goes astray."""

from __future__ import annotations

import os
from pathlib import Path

import httpx
import pytest

from tests.service import Service, until

RUNBOOK = '#!runbook\n```Glob\n{"pattern": "*"}\n```'

pytestmark = pytest.mark.skipif("SVC_STORE" in os.environ, reason="of the file of SQLite")


def database_files(service: Service) -> dict[str, int]:
    """Name and mode of the database and what lies beside it."""
    found = service.data.glob("svc.sqlite3*")
    return {path.name: path.stat().st_mode & 0o777 for path in found}


def remove_database(service: Service) -> None:
    for path in service.data.glob("svc.sqlite3*"):
        path.unlink()


def send(service: Service) -> httpx.Response:
    return service.http.post("/api/projects/alpha/chats", json={"prompt": RUNBOOK})


def ran(service: Service, answer: httpx.Response) -> bool:
    chat = answer.json()["chat"]["sessionId"]
    row = service.http.get(f"/api/projects/alpha/chats/{chat}").json()["chat"]
    return bool(row["lastTurn"]) and row["lastTurn"]["status"] == "completed"


@pytest.mark.slow
def test_a_removed_database_takes_no_write_and_a_restart_makes_a_new_one(tmp_path: Path):
    with Service(tmp_path) as service:
        service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
        first = send(service)
        until(lambda: ran(service, first), seconds=60)
        remove_database(service)

        refused = [send(service) for _ in range(5)]
        chats = service.http.get("/api/projects/alpha/chats").json()["chats"]
        health = service.http.get("/api/health")

        assert {one.status_code for one in refused} == {503}
        assert "The database was removed while the service ran" in refused[0].json()["error"]
        assert len(chats) == 1
        assert (health.status_code, health.json()["ok"]) == (503, False)
        assert httpx.get(f"{service.review_url}/api/health").json() == {"ok": True}
        assert service.http.get("/api/projects/alpha").status_code == 200
        assert "was removed while the service runs" in " ".join(service.faults())
        service.run("backup", str(tmp_path / "b.tgz")).check_returncode()
        assert database_files(service) == {}

        service.stop()
        service.start()

        assert set(database_files(service).values()) == {0o600}
        assert service.http.get("/api/health").json()["ok"] is True
        second = send(service)
        assert second.status_code == 201
        until(lambda: ran(service, second), seconds=60)
        assert ran(service, first)


@pytest.mark.slow
def test_a_child_that_starts_anew_makes_no_file(tmp_path: Path):
    with Service(tmp_path) as service:
        assert service.process is not None
        remove_database(service)

        for process in service.family()[1:]:
            process.kill()

        assert service.process.wait(60) == 2
        assert "svc.sqlite3 is not there: `manage.py up`" in service.output()
        assert database_files(service) == {}
        service.kill9()


def test_a_file_that_is_put_back_is_taken_up_without_a_restart(tmp_path: Path):
    with Service(tmp_path, scheduler=False) as service:
        service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
        aside = tmp_path / "aside"
        aside.mkdir()
        for path in list(service.data.glob("svc.sqlite3*")):
            path.rename(aside / path.name)
        assert send(service).status_code == 503

        for path in aside.iterdir():
            path.rename(service.data / path.name)

        assert send(service).status_code == 201
        assert service.http.get("/api/health").json()["ok"] is True
