"""A turn, a schedule, a question while PostgreSQL is gone: nothing lost, nothing doubled."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.postgres import Cluster, postgres  # noqa: F401 - a fixture
from tests.promises.rings import few
from tests.service import Service, until

PROJECT = """\
name: Alpha
triggers:
  t:
    trigger: {type: schedule, interval: 10d}
    run:
      permissionMode: bypassPermissions
      prompt: |
        #!runbook
        ```Bash
        touch started
        while [ ! -e go ]; do sleep 0.1; done
        echo once >> done
        ```
        The end.
    enabled: true
"""
ASKS = {"prompt": "#!runbook\n```Bash\necho once >> done\n```\nThe end.\n"}
LEASE_OVER = "UPDATE workspace_turn SET lease_until = now() - interval '1 h'"


class World:
    def __init__(self, service: Service, store: Cluster) -> None:
        self.service, self.store = service, store
        self.folder = service.projects / "alpha"

    def run(self) -> None:
        """Have the trigger fire, and wait until its turn is in the middle."""
        self.service.http.post("/api/projects/alpha/triggers/t/run").raise_for_status()
        until(self.folder.joinpath("started").exists, seconds=60, what="the turn runs")

    def records(self) -> list[dict[str, Any]]:
        (path,) = self.folder.glob(".chats/*.jsonl")
        lines = path.read_bytes().split(b"\n")[:-1]
        return [json.loads(line) for line in lines]

    def kinds(self, kind: str) -> list[dict[str, Any]]:
        return [record for record in self.records() if record["type"] == kind]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return self.service.rows(query)

    def ended_well(self) -> bool:
        found = self.rows("SELECT state FROM workspace_turn")
        assert found[0][0] in ("running", "done")
        return found == [("done",)]


@pytest.fixture
def world(tmp_path: Path, postgres: Cluster) -> Iterator[World]:  # noqa: F811
    service = Service(tmp_path, env={"SVC_DATABASE_URL": postgres.copy_of_migrated()})
    service.projects.joinpath("alpha").mkdir(parents=True)
    (service.projects / "alpha/project.yaml").write_text(PROJECT)
    with service:
        yield World(service, postgres)
        postgres.start()


@pytest.mark.slow
@pytest.mark.parametrize("ends", few(["meanwhile", "afterwards"], 1))
@pytest.mark.parametrize("lease", ["holds", "is over"])
def test_a_turn_goes_on_while_the_database_is_gone(world: World, ends: str, lease: str):
    world.run()
    if lease == "is over":
        world.rows(LEASE_OVER)
    world.store.stop("immediate")
    if ends == "meanwhile":
        (world.folder / "go").touch()
        until(lambda: world.kinds("turn_end"), seconds=60, what="the turn has ended by itself")
    world.store.start()
    (world.folder / "go").touch()

    until(world.ended_well, seconds=120, what="the turn is told to have ended")
    until(lambda: world.rows("SELECT status FROM workspace_run") == [("completed",)],
          seconds=120, what="so is its run")  # fmt: skip
    assert (world.folder / "done").read_text() == "once\n"
    assert len(world.kinds("turn_start")) == len(world.kinds("user")) == 1
    assert [record["status"] for record in world.kinds("turn_end")] == ["ok"]
    assert world.kinds("notice") == []


@pytest.mark.slow
def test_a_question_asked_while_the_database_is_gone_is_answered_when_it_is_back(world: World):
    http = world.service.http
    made = http.post("/api/projects/alpha/chats", json=ASKS).raise_for_status().json()
    until(lambda: world.kinds("permission"), seconds=60, what="the question")
    (asked,) = world.kinds("permission")
    answer = f"/api/projects/alpha/chats/{made['chat']['sessionId']}/permissions/{asked['call']}"
    world.store.stop("immediate")

    refused = http.post(answer, json={"allow": True})
    world.store.start()

    assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
    until(lambda: http.post(answer, json={"allow": True}).status_code == 200,
          seconds=30, what="the answer is taken")  # fmt: skip
    until(world.ended_well, seconds=60, what="the turn has ended")
    assert [record["state"] for record in world.kinds("permission")] == ["asked", "allowed"]
    assert (world.folder / "done").read_text() == "once\n"
