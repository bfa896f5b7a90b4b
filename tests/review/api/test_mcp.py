"""MCP beside REST: the same operations and records, failures in-band."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from config import __version__
from tests.described import Api
from tests.review.api.served import Project, Served

ACCEPT = {"Accept": "application/json, text/event-stream"}
TOOLS = ["list_projects", "get_project", "get_commit", "get_review", "list_threads",
         "wait_for_thread", "add_thread", "reply", "resolve_thread", "apply_suggestions", "fold",
         "undo_fold", "set_viewed", "set_pr"]  # fmt: skip


def rpc(api: Api, method: str, params: dict[str, Any] | None = None) -> Any:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    answer = api.client.post(f"{api.base}/mcp", json=message, headers=ACCEPT)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"].startswith("text/event-stream")
    return json.loads(answer.text.partition("data: ")[2])["result"]


def call(api: Api, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """The structured result, which is also its text."""
    result = rpc(api, "tools/call", {"name": tool, "arguments": arguments})
    assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
    found: dict[str, Any] = result["structuredContent"]
    assert result.get("isError", False) == ("status" in found and "error" in found)
    return found


@pytest.fixture(params=["port", "mount"])
def mcp(served: Served, request: pytest.FixtureRequest) -> Callable[..., dict[str, Any]]:
    api = served.api if request.param == "port" else served.mounted
    return lambda tool, /, **arguments: call(api, tool, **arguments)


def test_it_names_itself_and_lists_its_tools(served: Served):
    hello = {"protocolVersion": "2025-06-18", "capabilities": {},
             "clientInfo": {"name": "t", "version": "1"}}  # fmt: skip

    assert rpc(served.api, "initialize", hello)["serverInfo"] == {
        "name": "svc-review",
        "version": __version__,
    }
    tools = rpc(served.mounted, "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == TOOLS
    assert [tool["name"] for tool in tools if "readOnlyHint" in tool["annotations"]] == TOOLS[:6]
    github = tools[-1]["inputSchema"]["properties"]["github"]
    assert "type" not in github


def test_reads_answer_what_rest_answers(served: Served, mcp, pay: Project):
    api, place = served.api, {"project": pay.slug, "repo": "api", "sha": pay.shas[0][:8]}
    done = api.post(pay.c(0, "/threads"), {"body": "done"}).json()["id"]
    api.post(pay.c(0, "/threads"), {"body": "open"})
    api.patch(pay.c(0, f"/threads/{done}"), {"resolved": True})

    assert mcp("list_projects") == api.get("/api/projects").json()
    assert mcp("get_project", project=pay.slug) == api.get(pay.p).json()
    assert mcp("get_commit", **place) == api.get(pay.c(0, "?contents=none")).json()
    assert mcp("get_commit", **place, contents="all") == api.get(pay.c()).json()
    assert mcp("get_commit", **place, contents=1) == api.get(pay.c(0, "?contents=1")).json()
    assert mcp("get_commit", **place, contents="1") == api.get(pay.c(0, "?contents=1")).json()
    file = api.get(pay.c(0, "/file?path=src/pay.py")).json()
    assert mcp("get_commit", **place, path="src/pay.py") == file
    review = api.get(pay.c(0, "/review")).json()
    assert mcp("get_review", **place) == review
    threads = mcp("get_review", **place, unresolved_only=True)["threads"]
    assert threads == [one for one in review["threads"] if not one["resolved"]]


def test_writes_answer_what_rest_answers(served: Served, mcp, pay: Project):
    api, place = served.api, {"project": pay.slug, "repo": "api", "sha": pay.shas[0]}

    made = mcp("add_thread", **place, body="Why?", path="src/pay.py", line=5)
    reply = mcp("reply", **place, thread=made["id"], body="Because", author="you")
    resolved = mcp("resolve_thread", **place, thread=made["id"])
    viewed = mcp("set_viewed", **place, path="src/pay.py", viewed=True)
    pr = mcp("set_pr", **place, title="T", github={"number": 7}, status="ready")

    review = api.get(pay.c(0, "/review")).json()
    assert review["threads"] == [resolved]
    assert (resolved["resolved"], resolved["resolved_by"]) == (True, "agent")
    assert resolved["resolved_by_name"] == "agent"
    assert [one["author"] for one in resolved["comments"]] == ["agent", "agent:you"]
    assert reply == resolved["comments"][1] | {"thread_id": made["id"]}
    assert made | {"placement": "exact", "line": 5, "author": "agent"} == made
    assert viewed == api.put(pay.c(0, "/viewed"), {"path": "src/pay.py", "viewed": True}).json()
    assert pr == api.get(pay.c(0, "/pr")).json()
    assert (pr["github"], pr["status"]) == ({"number": 7, "url": ""}, "ready")
    assert mcp("resolve_thread", **place, thread=made["id"], resolved=False)["resolved"] is False
    cleared = mcp("set_pr", **place, title=None, github=None, status=None)
    assert (cleared["title_source"], cleared["github"], cleared["status"]) == ("commit", None, None)


def test_an_agent_does_not_replace_a_title_that_it_has_not_read(mcp, pay: Project):
    place = {"project": pay.slug, "repo": "api", "sha": pay.shas[0]}
    mcp("set_pr", **place, title="A person's")

    late = mcp("set_pr", **place, title="Mine", was={"title": "What I read"})
    read = mcp("set_pr", **place, title="Mine", was={"title": "A person's"})

    assert (late["status"], late["code"]) == (409, "changed")
    assert read["title"] == "Mine"
    assert mcp("set_pr", **place, title="x", was=5)["error"] == '"was" must be an object'


def test_failures_are_told_in_band_as_rest_tells_them(served: Served, mcp, pay: Project):
    place = {"project": pay.slug, "repo": "api", "sha": pay.shas[0]}

    def told(method: str, path: str, body: object) -> dict[str, Any]:
        answer = served.api.ask(method, path, json=body)
        return {**answer.json(), "status": answer.status_code}

    assert mcp("get_project", project="nope") == told("GET", "/api/projects/nope", None)
    assert mcp("get_commit", **place | {"sha": "abcdefa"}) == told("GET", pay.c("abcdefa"), None)
    assert mcp("add_thread", **place, body="x", line=3) == told(
        "POST", pay.c(0, "/threads"), {"body": "x", "line": 3}
    )
    assert mcp("set_pr", **place, status="merged") == told(
        "PUT", pay.c(0, "/pr"), {"status": "merged"}
    )
    assert mcp("set_pr", **place, github={"x": 1})["error"] == 'Unknown field "github.x"'
    assert mcp("reply", **place, thread="t-none", body="x") == {
        "error": "No such thread",
        "code": "not_found",
        "status": 404,
    }
    assert mcp("add_thread", **place)["status"] == 400
    assert mcp("get_review", **place, bogus=1)["code"] == "invalid"


@pytest.mark.parametrize(
    ("tool", "method", "below", "sent", "text"),
    [
        ("add_thread", "POST", "/threads", {}, '"body" is required'),
        ("add_thread", "POST", "/threads", {"body": " "}, '"body" is required'),
        ("add_thread", "POST", "/threads", {"body": 5}, '"body" must be a string'),
        ("add_thread", "POST", "/threads", {"body": "x", "author": 5},
         '"author" must be 1 to 128 printable characters'),
        ("add_thread", "POST", "/threads", {"body": "x", "path": 5}, '"path" must be a string'),
        ("add_thread", "POST", "/threads", {"body": "x", "path": "README.md", "side": 5},
         '"side" must be LEFT or RIGHT'),
        ("add_thread", "POST", "/threads", {"body": "x", "path": "README.md", "line": [1]},
         '"line" must be a whole number'),
        ("apply_suggestions", "POST", "/apply", {},
         '"suggestions" must be a list of 1 to 100 of {thread, comment, block}'),
        ("set_viewed", "PUT", "/viewed", {"viewed": True}, '"path" is required'),
        ("set_viewed", "PUT", "/viewed", {"path": "src/pay.py", "viewed": 1},
         '"viewed" must be true or false'),
        ("set_viewed", "PUT", "/viewed", {"path": "src/pay.py"}, '"viewed" must be true or false'),
        ("set_pr", "PUT", "/pr", {"title": ""}, '"title" must not be blank'),
        ("set_pr", "PUT", "/pr", {"title": 5}, '"title" must be a string or null'),
        ("set_pr", "PUT", "/pr", {"branch": " "}, '"branch" is not a valid branch name:  '),
        ("set_pr", "PUT", "/pr", {"github": "[1"},
         '"github" must be a number, a URL ending /pull/N or an object'),
        ("set_pr", "PUT", "/pr", {"status": ""}, '"status" must be "draft", "ready" or null'),
    ],
)  # fmt: skip
def test_a_field_is_refused_in_the_words_of_rest(
    served: Served, mcp, pay: Project, tool: str, method: str, below: str, sent, text: str
):
    before = pay.tree()

    told = mcp(tool, project=pay.slug, repo="api", sha=pay.shas[0], **sent)

    rest = served.api.ask(method, pay.c(0, below), json=sent)
    assert told == {**rest.json(), "status": rest.status_code}
    assert (told["error"], told["status"]) == (text, 400)
    assert pay.tree() == before


def test_an_agent_empties_a_body_as_a_person_does(served: Served, mcp, pay: Project):
    emptied = mcp("set_pr", project=pay.slug, repo="api", sha=pay.shas[0], body="")

    assert (emptied["body"], emptied["body_source"]) == ("", "override")
    assert emptied == served.api.put(pay.c(0, "/pr"), {"body": ""}).json()


def test_a_broken_file_is_told_in_band(served: Served, mcp, pay: Project):
    pay.review().parent.mkdir(parents=True)
    pay.review().write_text("[")

    refused = mcp("add_thread", project=pay.slug, repo="api", sha=pay.shas[0], body="x")

    assert (refused["code"], refused["status"]) == ("invalid_file", 409)


def test_what_is_not_committed_is_read_as_rest_answers_it(served: Served, mcp, pay: Project):
    pay.repo.write({"src/pay.py": "not committed\n", "big.txt": "x" * 3_000_000})
    pay.repo.write({"bigger.txt": "y" * 3_000_000})
    api, at = served.api, f"{pay.p}/repos/api/commits/WORKTREE"
    place = {"project": pay.slug, "repo": "api", "sha": "WORKTREE"}

    assert mcp("get_commit", **place) == api.get(f"{at}?contents=none").json()
    assert mcp("get_commit", **place, contents=1) == api.get(f"{at}?contents=1").json()
    file = api.get(f"{at}/file?path=src/pay.py").json()
    assert mcp("get_commit", **place, path="src/pay.py") == file
    assert mcp("get_commit", **place, path="README")["status"] == 404
    assert mcp("get_commit", **place, contents="all")["code"] == "too_large"
    pay.repo.write({"big.txt": "x" * 5_000_000})
    assert mcp("get_commit", **place, path="big.txt")["code"] == "too_large"


def test_an_unknown_tool_is_a_tool_error(served: Served):
    result = rpc(served.api, "tools/call", {"name": "drop", "arguments": {}})

    assert result == {"content": [{"type": "text", "text": "Unknown tool: drop"}], "isError": True}


def test_a_commit_too_big_for_one_result_is_refused_and_its_files_are_not(
    served: Served, mcp, pay: Project
):
    text = "".join(f"{n} {'x' * 90}\n" for n in range(8_000))
    sha = pay.repo.commit({f"big/{n}.txt": f"{n}\n{text}" for n in range(8)}, "Big")
    place = {"project": pay.slug, "repo": "api", "sha": sha}

    for contents in ("all", 8):
        refused = mcp("get_commit", **place, contents=contents)
        assert (refused["status"], refused["code"]) == (413, "too_large")
        assert "`path`" in refused["error"]
    assert len(mcp("get_commit", **place, contents=2)["files"]) == 8
    assert mcp("get_commit", **place, path="big/0.txt")["new"] == f"0\n{text}"
    one = pay.repo.commit({"big.txt": text * 7}, "Bigger")
    refused = mcp("get_commit", **place | {"sha": one}, path="big.txt")
    assert (refused["status"], refused["code"]) == (413, "too_large")


def test_other_methods_and_types_are_refused_as_json_rpc_errors(served: Served):
    for api in (served.api, served.mounted):
        url = f"{api.base}/mcp"
        for method in ("GET", "DELETE"):
            answer = api.client.request(method, url)
            assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
            assert answer.json()["error"]["code"] == -32000
        accept = api.client.post(url, json={}, headers={"Accept": "application/json"})
        assert (accept.status_code, accept.json()["error"]["code"]) == (406, -32000)
        kind = api.client.post(url, content=b"{}", headers=ACCEPT | {"Content-Type": "text/plain"})
        assert (kind.status_code, kind.json()["error"]["code"]) == (415, -32000)
        broken = api.client.post(
            url, content=b"{", headers=ACCEPT | {"Content-Type": "application/json"}
        )
        assert (broken.status_code, broken.json()["error"]["code"]) == (400, -32700)
        said = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert api.client.post(url, json=said, headers=ACCEPT).status_code == 202


def test_a_foreign_page_calls_no_tool(served: Served):
    for api in (served.api, served.mounted):
        answer: httpx.Response = api.client.post(
            f"{api.base}/mcp", json={}, headers=ACCEPT | {"Origin": "https://evil.example"}
        )
        assert (answer.status_code, answer.json()["code"]) == (403, "origin_not_allowed")


def test_a_call_is_told_as_an_event_once(served: Served, mcp, pay: Project):
    with served.listening() as events:
        events.of(pay.slug)
        events.text = b""
        mcp("add_thread", project=pay.slug, repo="api", sha=pay.shas[0], body="x")

        told = [event for event in events.of(pay.slug) if event["type"] != "project"]
        assert told == [{"type": "review", "project": pay.slug, "repo": "api", "sha": pay.shas[0]}]
