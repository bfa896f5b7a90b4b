"""Two servers on one PostgreSQL and Redis: each has a dashboard of its own and lists the other."""

from __future__ import annotations

from typing import Any

import pytest

from config import __version__
from tests.config.test_several_servers import Make, make  # noqa: F401 - a fixture
from tests.dashboard.agents.agent import Agent
from tests.postgres import postgres  # noqa: F401 - a fixture
from tests.redis import redis  # noqa: F401 - a fixture
from tests.service import Service, until

QUICK = {"SVC_TEST_BEAT_S": "0.3"}
SHOP = "name: Shop\npaused: true\n"


def told(service: Service) -> dict[str, Any]:
    answer = service.http.get(f"{service.dashboard_url}/api/nodes").raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


def other(service: Service) -> dict[str, Any]:
    """The only other node; {} before it was heard."""
    nodes = told(service)["nodes"]
    assert len(nodes) <= 1
    return nodes[0] if nodes else {}


def declare(service: Service, slug: str, text: str) -> None:
    path = service.data / "dashboard" / "apps" / f"{slug}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.mark.slow
def test_each_dashboard_lists_the_other_and_tells_a_killed_one_as_gone(make: Make):  # noqa: F811
    a = make("a", **QUICK, SVC_NODE="Blue", SVC_NODE_URL="https://blue.example")
    b = make("b", **QUICK, SVC_NODE="Green")
    declare(a, "still", "name: Still\nport: 1\nexpected: always\n")

    until(lambda: other(b).get("apps", {}).get("down") == 1, seconds=40, what="Blue and its app")

    heard = other(b)
    assert (heard["name"], heard["version"]) == ("Blue", __version__)
    assert (heard["alive"], heard["goneSince"]) == (True, None)
    assert heard["dashboard"] == "https://blue.example/dashboard/"
    assert (other(a)["name"], other(a)["dashboard"]) == ("Green", None)
    assert told(a)["node"]["id"] == heard["id"] == (a.data / "state" / "node").read_text()
    assert told(a)["heard"]

    a.kill9()
    until(lambda: not other(b)["alive"], seconds=20, what="Blue is gone")

    gone = other(b)
    assert gone["goneSince"]
    assert gone["apps"]["down"] == 1
    with Agent(b.dashboard_url) as agent:
        assert agent.told("list_nodes") == told(b)
        assert "not since" in agent.told("get_guide")["text"]
    (finding,) = [one for one in b.findings() if one["subject"] == "node"]
    assert finding["level"] == "hint"
    assert finding["text"].startswith(f"Blue, svc {__version__}, id {gone['id']}: not heard since")

    a.start()
    until(lambda: other(b)["alive"], seconds=20, what="Blue is back")
    assert other(b)["id"] == gone["id"]


@pytest.mark.slow
def test_apps_of_one_name_on_two_machines_have_two_histories(make: Make):  # noqa: F811
    a, b = make("a"), make("b")
    declare(a, "shop", SHOP)
    declare(b, "shop", SHOP)
    rows = "SELECT node FROM dashboard_slug WHERE slug = 'shop' ORDER BY node"

    until(lambda: len(a.rows(rows)) == 2, seconds=40, what="a row for each")

    ids = [(one.data / "state" / "node").read_text() for one in (a, b)]
    assert a.rows(rows) == [(node,) for node in sorted(ids)]


@pytest.mark.slow
def test_a_copy_of_a_data_directory_is_a_fault_until_its_id_is_deleted(make: Make):  # noqa: F811
    a = make("a", **QUICK, SVC_NODE="Blue")
    b = make("b", **QUICK, SVC_NODE="Copy")
    b.stop()
    (b.data / "state" / "node").write_text((a.data / "state" / "node").read_text())
    b.start()

    until(lambda: "uses the id of this node" in a.log(), seconds=30, what="the log says so")

    faults = [one["text"] for one in a.findings() if one["subject"] == "nodes"]
    assert "delete <data>/state/node" in faults[0]
    b.stop()
    (b.data / "state" / "node").unlink()
    b.start()
    own = until((b.data / "state" / "node").read_text, what="an id of its own")
    until(lambda: own in [one["id"] for one in told(a)["nodes"] if one["alive"]],
          seconds=30, what="a node of its own")  # fmt: skip
