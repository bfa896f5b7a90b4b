"""Each tool tells what its HTTP route answers, and refuses as that does (case D50)."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from dashboard.mcp.catalogue import REGISTRY
from tests.config.mcp_world import request
from tests.dashboard.agents.agent import Agent, settled
from tests.service import Service, until

READS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("get_app", {"slug": "still"}, "/api/apps/still"),
    ("app_history", {"slug": "still", "fields": "*"}, "/api/apps/still/history"),
    ("app_history", {"slug": "still", "window": "7d", "fields": ["*"]},
     "/api/apps/still/history?window=7d"),
    ("app_logs", {"slug": "sleeper"}, "/api/apps/sleeper/logs"),
    ("app_logs", {"slug": "sleeper", "lines": 5}, "/api/apps/sleeper/logs?lines=5"),
    ("list_observed", {"fields": "*", "limit": 1000}, "/api/observed"),
    ("list_bookmarks", {}, "/api/bookmarks"),
    ("list_bookmarks", {"group": "docs"}, "/api/bookmarks/docs"),
    ("list_removed", {}, "/api/removed"),
    ("get_lost", {}, "/api/lost"),
    ("list_nodes", {}, "/api/nodes"),
    ("get_config", {}, "/api/config"),
)  # fmt: skip
REFUSALS: tuple[tuple[str, dict[str, Any], str, str, Any], ...] = (
    ("get_app", {"slug": "nope"}, "GET", "/api/apps/nope", None),
    ("get_app", {"slug": "A"}, "GET", "/api/apps/A", None),
    ("list_apps", {"state": "fine"}, "GET", "/api/apps?state=fine", None),
    ("app_history", {"slug": "still", "window": "1y"}, "GET", "/api/apps/still/history?window=1y",
     None),
    ("app_logs", {"slug": "still"}, "GET", "/api/apps/still/logs", None),
    ("app_logs", {"slug": "sleeper", "lines": 0}, "GET", "/api/apps/sleeper/logs?lines=0", None),
    ("app_logs", {"slug": "sleeper", "lines": "x"}, "GET", "/api/apps/sleeper/logs?lines=x", None),
    ("list_bookmarks", {"group": "nope"}, "GET", "/api/bookmarks/nope", None),
    ("scan", {}, "POST", "/api/scan", {}),
    ("service", {"slug": "still", "action": "start"}, "POST", "/api/apps/still/service/start", {}),
    ("put_app", {"slug": "a", "config": {"port": 0}}, "PUT", "/api/apps/a", {"port": 0}),
    ("put_app", {"slug": "a", "config": {"slug": "b"}}, "PUT", "/api/apps/a", {"slug": "b"}),
    ("patch_app", {"slug": "nope", "patch": {}}, "PATCH", "/api/apps/nope", {}),
    ("remove_app", {"slug": "nope"}, "DELETE", "/api/apps/nope", None),
    ("claim", {"id": "o-0", "slug": "a"}, "POST", "/api/observed/o-0/claim", {"slug": "a"}),
    ("ignore", {"id": "o-0"}, "POST", "/api/observed/o-0/ignore", {}),
    ("patch_bookmarks", {"group": "nope", "patch": {}}, "PATCH", "/api/bookmarks/nope", {}),
    ("remove_bookmarks", {"group": "nope"}, "DELETE", "/api/bookmarks/nope", None),
    ("restore_removed", {"file": "x"}, "POST", "/api/removed/restore", {"file": "x"}),
    ("refresh_thumbs", {}, "POST", "/api/thumbs/refresh", {}),
    ("restart_lost", {"id": "o-0"}, "POST", "/api/lost/o-0/restart", {}),
    ("restart_lost", {"id": "o-0", "asService": True}, "POST", "/api/lost/o-0/service", {}),
    ("dismiss_lost", {"id": "o-0"}, "POST", "/api/lost/o-0/dismiss", {}),
)  # fmt: skip
ODD: tuple[Any, ...] = (
    "", " ", "x" * 300, "\x00", "../..", "\ud800", 0, -1, 1e300, True, [], [[1]], {}, {"a": [1]},
    None,
)  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments", "path"), READS)
def test_a_read_tells_what_its_route_answers(
    agent: Agent, tool: str, arguments: dict[str, Any], path: str
):
    def equal() -> bool:  # a probe may come between the two
        return bool(settled(agent.told(tool, **arguments)) == settled(agent.http_json("GET", path)))

    until(equal, what=f"{tool} tells what {path} answers")


def test_apps_are_listed_in_the_brief_and_whole_when_that_is_asked_for(agent: Agent):
    def equal() -> bool:
        whole = agent.told("list_apps", fields="*", limit=1000)["apps"]
        route = agent.http_json("GET", "/api/apps")["apps"]
        return bool(settled(whole) == settled(sorted(route, key=lambda app: app["slug"])))

    until(equal, what="whole records")
    for row in agent.told("list_apps")["apps"]:
        assert row.keys() <= {"slug", "state", "reason", "url", "port", "cwd"}
        assert None not in row.values()
    found = agent.told("list_apps", state="unknown", tag="web", fields="slug,tags")
    assert all("web" in row["tags"] and len(row) == 2 for row in found["apps"])
    assert "`fields` names `stat`" in agent.refused("list_apps", fields=["stat"])["error"]
    assert "buckets" not in agent.told("app_history", slug="still")


def test_many_apps_fit_into_the_budget_of_an_agent_and_none_is_lost(agent: Agent):
    """As many as a busy machine has, in directories with long names."""
    folder = "/home/somebody/projects/a-client-with-a-name/packages"
    names = [f"budget-{number:02}" for number in range(61)]
    for name in names:
        service = {"command": "x", "cwd": f"{folder}/{name}"}
        agent.http_json("PUT", f"/api/apps/{name}", {"paused": True, "service": service})
    page = agent.tool("list_apps")
    found = page["structuredContent"]
    assert len(page["content"][0]["text"]) < 8000
    seen = [*found["apps"]]
    while "next" in found:
        found = agent.told("list_apps", after=found["next"])
        seen += found["apps"]

    assert [row["slug"] for row in seen if row["slug"].startswith("budget-")] == names
    assert len(seen) == found["count"]
    assert len(agent.tool("find_app", cwd=folder)["content"][0]["text"]) < 8000
    assert agent.told("find_app", cwd=folder, limit=1)["omitted"] == 60
    assert len(agent.told("list_apps", limit=7)["apps"]) == 7
    for name in names:
        agent.http_json("DELETE", f"/api/apps/{name}")


@pytest.mark.parametrize(("tool", "arguments", "method", "path", "body"), REFUSALS)
def test_a_refusal_has_the_sentence_the_word_and_the_status_of_the_route(
    agent: Agent, tool: str, arguments: dict[str, Any], method: str, path: str, body: Any
):
    answer = agent.http.request(method, path, **({"json": body} if body is not None else {}))

    assert 400 <= answer.status_code < 500
    assert agent.refused(tool, **arguments) == {**answer.json(), "status": answer.status_code}


def test_writes_of_apps_answer_alike_from_the_first_to_the_last(agent: Agent):
    config = {"name": "N", "paused": True, "port": 4000, "service": {"command": "x", "cwd": "/"}}
    steps: tuple[tuple[str, dict[str, Any], str, Any], ...] = (
        ("put_app", {"config": config}, "PUT", config),
        ("put_app", {"config": config | {"port": 4001}}, "PUT", config | {"port": 4001}),
        ("patch_app", {"patch": {"port": None}}, "PATCH", {"port": None}),
        ("remove_app", {}, "DELETE", None),
    )

    for tool, arguments, method, body in steps:
        one = agent.told(tool, slug="by-tool", **arguments)
        other = agent.http_json(method, "/api/apps/by-http", body)

        assert _unnamed(one) == _unnamed(other)


def test_writes_of_bookmarks_answer_alike_from_the_first_to_the_last(agent: Agent):
    config = {"links": [{"name": "A", "url": "http://localhost:1/"}]}
    steps: tuple[tuple[str, dict[str, Any], str, Any], ...] = (
        ("put_bookmarks", {"config": config}, "PUT", config),
        ("patch_bookmarks", {"patch": {"name": "N"}}, "PATCH", {"name": "N"}),
        ("remove_bookmarks", {}, "DELETE", None),
    )

    for tool, arguments, method, body in steps:
        one = agent.told(tool, group="by-tool", **arguments)
        other = agent.http_json(method, "/api/bookmarks/by-http", body)

        assert _unnamed(one) == _unnamed(other)


def _unnamed(answer: Any) -> Any:
    text = json.dumps(settled(answer)).replace("by-tool", "X").replace("by-http", "X")
    return json.loads(text)


def test_a_service_is_started_restarted_and_stopped_as_over_http(agent: Agent):
    for action in ("start", "start", "restart", "stop", "stop"):
        one = agent.told("service", slug="sleeper", action=action)
        other = agent.http_json("POST", f"/api/apps/loud/service/{action}", {})
        keys = ("ok", "action", "status", "already", "reason")

        assert [one[key] for key in keys] == [other[key] for key in keys]
        assert list(one) == list(other)

    failed = agent.told("service", slug="fails", action="start")
    assert failed["ok"] is False
    assert "broken" in failed["log"][-1]


def test_a_stale_tag_is_refused_with_the_tag_there_is_now(agent: Agent):
    agent.told("put_app", slug="tagged", config={"paused": True})
    read = agent.told("get_app", slug="tagged")
    changed = agent.told(
        "put_app", slug="tagged", config={**read["config"], "name": "T"}, ifMatch=read["etag"]
    )

    for tool, arguments in (
        ("put_app", {"config": {"paused": True}}),
        ("patch_app", {"patch": {"name": "U"}}),
        ("remove_app", {}),
    ):
        refused = agent.refused(tool, slug="tagged", ifMatch=read["etag"], **arguments)
        assert (refused["code"], refused["status"], refused["etag"]) == (
            "changed", 409, changed["etag"],
        )  # fmt: skip
    assert agent.told("get_app", slug="tagged")["name"] == "T"
    assert agent.refused("remove_app", slug="tagged", ifMatch="abc")["code"] == "bad_etag"
    agent.told("remove_app", slug="tagged", ifMatch=changed["etag"])


@pytest.mark.parametrize("blank", ["", " "])
def test_a_blank_condition_or_id_is_refused_and_never_taken_for_none(agent: Agent, blank: str):
    agent.told("put_app", slug="blank", config={"paused": True, "name": "Mine"})

    for tool, arguments in (
        ("put_app", {"slug": "blank", "config": {"paused": True}}),
        ("patch_app", {"slug": "blank", "patch": {"name": "U"}}),
        ("remove_app", {"slug": "blank"}),
        ("put_bookmarks", {"group": "docs", "config": {}}),
        ("remove_bookmarks", {"group": "docs"}),
    ):
        assert agent.refused(tool, ifMatch=blank, **arguments)["code"] == "bad_etag"
    assert agent.refused("dismiss_lost", id=blank)["code"] == "not_found"
    assert agent.told("get_app", slug="blank")["name"] == "Mine"
    agent.told("remove_app", slug="blank")


def test_what_is_to_be_created_replaces_nothing(agent: Agent):
    mine = {"paused": True, "name": "Mine"}
    links = {"name": "Mine", "links": []}

    assert agent.told("put_app", slug="fresh", config=mine, create=True)["name"] == "Mine"
    assert agent.told("put_bookmarks", group="fresh", config=links, create=True)["name"] == "Mine"
    for tool, arguments in (("put_app", {"slug": "fresh"}), ("put_bookmarks", {"group": "fresh"})):
        refused = agent.refused(tool, config={"name": "Other"}, create=True, **arguments)
        assert (refused["code"], refused["status"]) == ("exists", 409)
    assert agent.told("get_app", slug="fresh")["name"] == "Mine"
    agent.told("remove_app", slug="fresh")
    agent.told("remove_bookmarks", group="fresh")


def test_what_is_replaced_unread_can_be_brought_back(agent: Agent):
    agent.told("put_app", slug="unread", config={"paused": True, "notes": "by hand"})
    agent.told("put_app", slug="unread", config={"paused": True})
    agent.told("remove_app", slug="unread")

    kept = [one for one in agent.told("list_removed")["removed"] if one["name"] == "unread"]
    back = agent.told("restore_removed", file=min(kept, key=lambda one: -one["bytes"])["file"])

    assert back["name"] == "unread"
    assert agent.told("get_app", slug="unread")["config"]["notes"] == "by hand"
    agent.told("remove_app", slug="unread")


def test_a_config_may_be_sent_as_the_text_of_its_json(agent: Agent):
    made = agent.told("put_app", slug="texted", config='{"paused": true, "name": "Texted"}')

    assert made["name"] == "Texted"
    agent.told("remove_app", slug="texted")


@pytest.mark.parametrize("operation", list(REGISTRY), ids=lambda operation: operation.name)
def test_no_arguments_whatever_are_an_internal_error(agent: Agent, operation: Any):
    good = {"slug": "still", "group": "docs", "state": "unknown", "timeoutSeconds": 0, "id": "o-0",
            "action": "stop", "config": 5, "patch": 5, "port": 70000}  # fmt: skip
    names = [argument.name for argument in operation.arguments]
    base = {name: good[name] for name in names if name in good}
    for name in names:
        for value in ODD:
            if (operation.name, name, value) == ("dismiss_lost", "id", None):
                continue  # says: all
            found = agent.tool(operation.name, **{**base, name: value})
            assert found.get("structuredContent", {}).get("code") != "internal", (name, value)


def test_the_list_is_the_contracts_and_takes_under_6000_tokens(agent: Agent):
    tools = agent.tools()

    reads = {tool["name"] for tool in tools if "readOnlyHint" in tool.get("annotations", {})}
    assert reads == {
        "list_apps", "get_app", "app_history", "app_logs", "list_observed", "list_bookmarks",
        "get_lost", "get_config", "get_guide", "find_app", "wait_for_app", "scan", "list_removed",
        "list_nodes",
    }  # fmt: skip
    assert {tool["name"] for tool in tools} - reads == {
        "put_app", "patch_app", "remove_app", "service", "claim", "ignore", "put_bookmarks",
        "patch_bookmarks", "remove_bookmarks", "restore_removed", "refresh_thumbs", "restart_lost",
        "dismiss_lost",
    }  # fmt: skip
    # no tokenizer is at hand: JSON takes more than three characters a token in each that is known
    assert len(agent.post(request("tools/list")).content) / 3 < 6000


def test_other_methods_are_refused_on_both_mounts(agent: Agent, mounted: Agent):
    for one in (agent, mounted):
        for method in ("GET", "DELETE", "PUT", "PATCH", "HEAD"):
            answer = one.http.request(method, "/mcp", headers={"content-type": "application/json"})

            assert (answer.status_code, answer.headers["allow"]) == (405, "POST")
            if method != "HEAD":
                assert answer.json()["error"]["code"] == -32000


def test_both_mounts_list_the_same_tools(agent: Agent, mounted: Agent):
    assert agent.tools() == mounted.tools()


def test_writing_tools_come_and_go_with_the_setting(running: Service, agent: Agent):
    path = running.data / "dashboard" / "config.yaml"
    before = path.read_text()

    path.write_text(f"{before}mcp: {{writes: false}}\n")
    try:
        until(lambda: len(agent.tools()) == 14, what="the writing tools to go")
        hidden = agent.tool("put_app", slug="hidden", config={})
        assert hidden["isError"] is True
        assert hidden["content"][0]["text"] == "Unknown tool: put_app"
        assert not (path.parent / "apps" / "hidden.yaml").exists()
        until(lambda: "writing tools are off" in agent.told("get_guide")["text"], what="a word")
    finally:
        path.write_text(before)
    until(lambda: len(agent.tools()) == 27, what="the writing tools to come back")


def test_a_wait_ends_with_the_state_and_is_honest_when_it_does_not_come(agent: Agent):
    late = agent.told("wait_for_app", slug="sleeper", state="up", timeoutSeconds=0)
    assert (late["ok"], late["app"]["slug"]) == (False, "sleeper")
    assert agent.refused("wait_for_app", slug="nope", state="up")["status"] == 404
    assert agent.refused("wait_for_app", slug="still", state="fine")["code"] == "invalid"
    assert (
        agent.refused("wait_for_app", slug="still", state="up", timeoutSeconds=61)["status"] == 400
    )

    with ThreadPoolExecutor(1) as other:
        waited = other.submit(agent.told, "wait_for_app", slug="sleeper", state="up")
        agent.told("service", slug="sleeper", action="start")
        found = waited.result(30)

    assert (found["ok"], found["app"]["state"]) == (True, "up")
    agent.told("service", slug="sleeper", action="stop")


def test_many_that_wait_keep_nobody_else_waiting(running: Service, agent: Agent):
    waiting = 60  # more than the server has threads

    with ThreadPoolExecutor(waiting) as pool:
        waits = [
            pool.submit(agent.told, "wait_for_app", slug="sleeper", state="up", timeoutSeconds=30)
            for _ in range(waiting)
        ]
        until(lambda: _connected(running) >= waiting, what="all waits")
        assert agent.told("get_app", slug="sleeper")["state"] == "stopped"
        assert agent.http.get("/api/state").status_code == 200
        agent.told("service", slug="sleeper", action="start")
        assert all(one.result(30)["ok"] for one in waits)

    agent.told("service", slug="sleeper", action="stop")


def _connected(running: Service) -> int:
    import psutil

    port = running.ports["dashboard"]
    found = psutil.Process(running.pid).net_connections("tcp")
    return sum(one.laddr.port == port and one.status == "ESTABLISHED" for one in found)
