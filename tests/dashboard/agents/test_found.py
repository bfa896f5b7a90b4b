"""What listens, through tools: the same answers as the routes give, and nothing secret in them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest

from tests.dashboard.agents.agent import Agent, settled
from tests.dashboard.served import Dev, Served
from tests.service import free_port, until


@pytest.fixture(scope="module")
def agent(served: Served) -> Iterator[Agent]:
    with Agent(served.dashboard_url) as found:
        yield found


@pytest.fixture
def pair(served: Served, request: pytest.FixtureRequest) -> Iterator[tuple[Dev, Dev]]:
    """Two servers that differ by name and port alone, both seen."""
    found = [served.dev_server(f"{name}-{request.node.name}") for name in ("one", "two")]
    for dev in found:
        served.seen(dev)
    yield found[0], found[1]
    for dev in found:
        dev.kill()


def test_a_listener_is_found_by_its_port_its_address_and_its_directory(
    agent: Agent, pair: tuple[Dev, Dev]
):
    dev, _ = pair
    for arguments in (
        {"port": dev.port},
        {"url": f"http://127.0.0.1:{dev.port}/x"},
        {"url": f"http://0.0.0.0:{dev.port}/"},  # as servers print "on every address"
        {"url": f"http://[::]:{dev.port}/"},
        {"cwd": str(dev.cwd)},
    ):
        found = agent.told("find_app", **arguments)
        assert [one["port"] for one in found["observed"]] == [dev.port], arguments
        assert agent.refused("find_app", **{"port": 1, "url": "x", **arguments})["status"] == 400


def test_a_port_of_the_service_itself_is_told_to_be_taken(served: Served, agent: Agent):
    for part, port in (("workspace", "main"), ("review", "review"), ("dashboard", "dashboard")):
        found = agent.told("find_app", port=served.ports[port])
        assert [(one["part"], one["port"]) for one in found["own"]] == [(part, served.ports[port])]
        assert f"is the {part} of this service" in found["own"][0]["message"]
        assert found["apps"] == found["observed"] == []


def test_a_service_is_found_by_every_port_that_it_listens_on(served: Served, agent: Agent):
    one, other = free_port(), free_port()
    serve = f"{sys.executable} -m http.server --bind 127.0.0.1"
    served.declare(
        "both",
        f"port: {one}\nservice: {{command: '{serve} {other} & exec {serve} {one}', cwd: /}}\n",
    )
    until(lambda: served.app("both"))
    assert served.act("both", "start")["ok"]

    for port in (one, other):
        found = until(partial(_apps_at, agent, port), what=f"the app is found by {port}")
        assert [(app["slug"], app["port"]) for app in found] == [("both", one)]

    assert served.act("both", "stop")["ok"]


def test_an_app_is_found_from_a_folder_of_its_project(agent: Agent, pair: tuple[Dev, Dev]):
    (below := pair[0].cwd / "src" / "deep").mkdir(parents=True)

    found = agent.told("find_app", cwd=str(below))

    assert [one["port"] for one in found["observed"]] == [pair[0].port]
    assert found["own"] == []


def test_claims_answer_alike(served: Served, agent: Agent, pair: tuple[Dev, Dev]):
    ids = [served.observed(dev.port)["id"] for dev in pair]
    body = {"name": "Claimed", "expected": "never"}

    one = agent.told("claim", id=ids[0], slug=pair[0].cwd.name[:40].replace("_", "-"), **body)
    slug = pair[1].cwd.name[:40].replace("_", "-")
    other = agent.http_json("POST", f"/api/observed/{ids[1]}/claim", {"slug": slug, **body})

    assert list(one) == list(other)
    assert (one["name"], one["expected"], one["source"]) == ("Claimed", "never", "declared")
    assert one["config"]["port"] == pair[0].port
    again = agent.refused("claim", id=ids[0], slug="again")
    route = agent.http.post(f"/api/observed/{ids[0]}/claim", json={"slug": "again"})
    assert again == {**route.json(), "status": route.status_code}


def test_ignoring_answers_alike_and_what_is_ignored_still_holds_its_port(
    served: Served, agent: Agent, pair: tuple[Dev, Dev]
):
    ids = [served.observed(dev.port)["id"] for dev in pair]

    one = agent.told("ignore", id=ids[0], by="port", reason="mine")
    other = agent.http_json(
        "POST", f"/api/observed/{ids[1]}/ignore", {"by": "port", "reason": "mine"}
    )

    assert one["rule"].pop("port") == pair[0].port
    assert other["rule"].pop("port") == pair[1].port
    assert settled(one) == settled(other)
    found = agent.told("find_app", port=pair[0].port)["observed"]
    assert [one["port"] for one in found] == [pair[0].port]


def test_scans_answer_alike(agent: Agent):
    one, other = agent.told("scan"), agent.http_json("POST", "/api/scan", {})

    assert list(one) == list(other) == ["scannedAt", "observed", "added", "gone", "ms"]


def test_nothing_too_big_or_too_odd_for_a_file_is_written(served: Served, agent: Agent):
    deep: Any = 1
    for _ in range(40):
        deep = {"a": deep}
    before = sorted(served.file("x").parent.glob("*"))

    odd: tuple[Any, ...] = (
        {"x-data": "y" * (300 << 10)},
        {"x-data": deep},
        {"x-data": 10**400},
        {"x-\ud800": 1},
        {"name": "\ud800\n"},
        [],
        "[",
        {"service": {"command": [], "cwd": "relative"}},
    )
    for config in odd:
        refused = agent.refused("put_app", slug="odd", config=config)
        assert 400 <= refused["status"] < 500, (str(config)[:60], refused)
    assert sorted(served.file("x").parent.glob("*")) == before


def test_no_update_of_agents_that_send_the_tag_is_lost(agent: Agent):
    agent.told("put_app", slug="counted", config={"paused": True, "x-count": 0})

    def add(times: int) -> None:
        for _ in range(times):
            while True:
                read = agent.told("get_app", slug="counted")
                count = read["config"]["x-count"] + 1
                result = agent.tool(
                    "patch_app", slug="counted", patch={"x-count": count}, ifMatch=read["etag"]
                )
                if "isError" not in result:
                    break
                assert result["structuredContent"]["code"] == "changed"

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, [5] * 4))

    assert agent.told("get_app", slug="counted")["config"]["x-count"] == 20
    agent.told("remove_app", slug="counted")


def _apps_at(agent: Agent, port: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = agent.told("find_app", port=port)["apps"]
    return found
