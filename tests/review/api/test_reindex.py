"""The database holds nothing that files and git do not say again."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.described import Api
from tests.review.api.served import Project, Served
from tests.service import Service


def answers(api: Api, pay: Project) -> list[dict[str, Any]]:
    paths = ["/api/projects", pay.p]
    for sha in pay.repo.shas("main..feature"):
        paths += [pay.c(sha), pay.c(sha, "/review"), pay.c(sha, "/pr")]
    return [api.get(path).json() for path in paths]


@pytest.mark.slow
def test_after_a_reindex_and_without_the_old_database_all_answers_are_the_same(tmp_path: Path):
    with Service(tmp_path, scheduler=False) as service:
        served = Served(service)
        pay = served.project(tmp_path)
        for number in range(3):
            place = {"path": "src/new.py", "line": 7 + number}
            served.api.post(pay.c(1, "/threads"), {"body": f"{number}", **place})
        served.api.put(pay.c(1, "/viewed"), {"path": "src/new.py", "viewed": True})
        served.api.put(pay.c(2, "/pr"), {"title": "T", "status": "ready", "branch": "gone"})
        pay.repo.amend({"README.md": "Pay\n\nOther.\n"})
        before = answers(served.api, pay)

        done = service.run("reindex")

        assert done.returncode == 0, done.stderr
        assert "review: 1 project, " in done.stdout
        assert answers(served.api, pay) == before
        service.stop()
        for file in service.data.glob("svc.sqlite3*"):
            file.unlink()
        service.start()
        assert answers(served.api, pay) == before
        served.close()


@pytest.mark.slow
def test_a_database_deleted_under_the_running_service_is_made_again_by_reindex(tmp_path: Path):
    with Service(tmp_path, scheduler=False) as service:
        served = Served(service)
        pay = served.project(tmp_path)
        served.api.post(pay.c(1, "/threads"), {"body": "x", "path": "src/new.py", "line": 7})
        served.api.put(pay.c(2, "/pr"), {"title": "T", "status": "ready"})
        pay.repo.amend({"README.md": "Pay\n\nOther.\n"})
        before = answers(served.api, pay)

        for file in service.data.glob("svc.sqlite3*"):
            file.unlink()
        done = service.run("reindex")

        assert done.returncode == 0, done.stderr
        assert "review: 1 project, " in done.stdout
        assert answers(served.api, pay) == before
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(lambda _: answers(served.api, pay), range(8))) == [before] * 8
        assert served.api.post(pay.c(1, "/threads"), {"body": "y"}).status_code == 201
        assert len(served.api.get(pay.c(1, "/review")).json()["threads"]) == 2
        served.close()
