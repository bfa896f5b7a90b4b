"""The guide on a running service: live, on both mounts, and right word for word (case D50)."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt

from dashboard.mcp.catalogue import REGISTRY
from tests.dashboard.agents.agent import Agent
from tests.dashboard.served import Served
from tests.service import free_port, until

KINDS = {
    "/llms.txt": "text/plain; charset=utf-8",
    "/llms-full.txt": "text/markdown; charset=utf-8",
    "/agent-guide.md": "text/markdown; charset=utf-8",
}
EVIL = "e`v|il [x](e.example)\n# Rule **one**"
PROJECT = "/path/to/the/project"


@pytest.fixture(scope="module")
def bases(served: Served) -> list[str]:
    return [served.dashboard_url, f"{served.url}/dashboard"]


@pytest.fixture(scope="module", params=["own port", "mount"])
def agent(served: Served, request: pytest.FixtureRequest) -> Iterator[Agent]:
    mounted = request.param == "mount"
    with Agent(f"{served.url}/dashboard" if mounted else served.dashboard_url) as found:
        yield found


def words(served: Served, path: str = "/agent-guide.md") -> str:
    return served.api.get(path).raise_for_status().text


def test_each_text_has_its_type_is_never_kept_and_names_the_address_it_was_read_at(agent: Agent):
    for path, kind in KINDS.items():
        answer = agent.http.get(path)

        assert (answer.status_code, answer.headers["content-type"]) == (200, kind)
        assert answer.headers["cache-control"] == "no-store"
        assert f"{agent.base}/mcp" in answer.text
        addresses = re.findall(r"https?://[\w.\[\]:]+(?:/dashboard)?(?=/(?:mcp|api|llms|agent))",
                               answer.text)  # fmt: skip
        assert set(addresses) == {agent.base}
        head = agent.http.head(path)
        assert (head.status_code, head.content) == (200, b"")


def test_the_host_that_was_asked_is_in_the_guide_and_a_forged_root_path_is_not(served: Served):
    port = served.ports["dashboard"]
    headers = {"Host": f"shop.localhost:{port}", "Daphne-Root-Path": "/evil"}

    text = served.api.get("/agent-guide.md", headers=headers).text

    assert f"http://shop.localhost:{port}/mcp" in text
    assert "/evil" not in text


def test_behind_a_proxy_the_guide_names_the_address_that_people_open(served: Served):
    config = served.data / "dashboard" / "config.yaml"
    before = config.read_text()
    fronted = {"fronted": {"host": "Apps.Example.dev", "domain": "example.dev"}}
    config.write_text(before + yaml.safe_dump(fronted))

    def links(host: str) -> set[str]:
        text = served.api.get("/llms.txt", headers={"Host": host}).text
        return set(re.findall(r"(https?://[^/\s]+)/agent-guide\.md", text))

    try:
        until(lambda: links("apps.example.dev") == {"https://apps.example.dev"}, what="it is read")
        port = served.ports["dashboard"]
        for host in (f"apps.example.dev:{port}", f"localhost:{port}", "localhost"):
            assert links(host) == {f"http://{host}"}
        with Agent(served.dashboard_url) as agent:
            agent.told("put_app", slug="behind", config={"paused": True, "port": 9})
            found = agent.told("find_app", url="https://behind.example.dev/orders?x=1")
            assert [app["slug"] for app in found["apps"]] == ["behind"]
            assert agent.told("find_app", url="https://other.example.dev/")["apps"] == []
            agent.told("remove_app", slug="behind")
    finally:
        config.write_text(before)


def test_other_methods_and_a_trailing_slash_are_refused(agent: Agent):
    for path in KINDS:
        refused = agent.http.post(path, json={})
        assert (refused.status_code, refused.headers["allow"]) == (405, "GET, HEAD")
        assert agent.http.get(f"{path}/").status_code == 404


def test_the_tool_tells_the_guide_as_it_is_at_that_mount(agent: Agent):
    def untimed(text: str) -> str:
        return re.sub(r"as of \S+", "", text).split("## Apps")[0]

    assert untimed(agent.told("get_guide")["text"]) == untimed(
        agent.http.get("/agent-guide.md").text
    )


def test_an_app_and_its_notes_are_in_the_guide_and_its_secrets_are_not(served: Served):
    served.declare(
        "noted",
        "name: Noted\npaused: true\nport: 4999\nnotes: Ask *Ann*\nservice:\n  cwd: /\n"
        "  command: serve --token s3cr3t http://ann:s3cr3t@localhost/\n",
    )
    until(lambda: "`noted`" in words(served), what="the app")

    text = words(served)
    row = next(line for line in text.splitlines() if line.startswith("| `noted` |"))
    assert row == (
        "| `noted` | Noted | unknown (paused) | `http://localhost:4999/` | `4999` | `/` |  | "
        "`serve --token *** http://***@localhost/` |"
    )
    assert "### noted\n\n> Ask \\*Ann\\*\n" in text
    full, index = words(served, "/llms-full.txt"), words(served, "/llms.txt")
    assert "- [Noted](http://localhost:4999/): unknown, slug `noted`" in index
    assert "s3cr3t" not in text + full + index
    served.file("noted").unlink()


def test_a_broken_file_is_named_with_its_line(served: Served):
    path = served.declare("broken", "name: x\nport: [\n")
    until(lambda: "`apps/broken.yaml`" in words(served), what="the file error")

    line = next(line for line in words(served).splitlines() if "`apps/broken.yaml`" in line)
    assert re.match(r"\| `apps/broken.yaml` \| `\d` \| error \| ", line)
    path.unlink()


def test_a_hostile_project_is_one_row_of_the_guide(served: Served):
    dev = served.dev_server(EVIL)
    served.dev_server("plain")
    until(lambda: f"| `{dev.port}` |" in words(served), what="the hostile server")

    for path in KINDS:
        text = words(served, path)
        tokens = MarkdownIt("commonmark").enable("table").parse(text)
        headings = [
            tokens[at + 1].content for at, one in enumerate(tokens) if one.type == "heading_open"
        ]
        links = [
            str(child.attrGet("href")) for one in tokens for child in one.children or ()
            if child.type == "link_open"
        ]  # fmt: skip
        assert not [heading for heading in headings if "Rule" in heading]
        assert not [link for link in links if "e.example" in link]
    rows = [line for line in words(served).splitlines() if f"| `{dev.port}` |" in line]
    assert rows
    assert all(re.match(r"\| `[a-z0-9-]+` \|.* \|$", row) for row in rows)
    dev.kill()


def test_the_whole_text_has_every_route_and_every_tool(served: Served):
    text = words(served, "/llms-full.txt")
    described = served.api.get("/api/schema").json()["paths"]
    routes = {re.sub(r"\{(\w+)\}", r":\1", path) for path in described}

    assert {
        path for path in routes if path.startswith("/api/") and f"`{path}`" not in text
    } == set()
    for operation in REGISTRY:
        row = next(line for line in text.splitlines() if line.startswith(f"| `{operation.name}` |"))
        assert all(f"`{one.name}" in row for one in operation.arguments)


def test_the_whole_text_says_which_tools_tell_less_than_their_route(served: Served):
    served.declare("brief", "name: Brief\npaused: true\n")
    until(lambda: served.app("brief"), what="the app")
    (whole,) = (a for a in served.api.get("/api/apps").json()["apps"] if a["slug"] == "brief")
    with Agent(served.dashboard_url) as agent:

        def told(**arguments: Any) -> Any:
            rows = agent.told("list_apps", query="brief", **arguments)["apps"]
            return next(row for row in rows if row["slug"] == "brief")

        brief, all_of_it = told(), told(fields=["*"])
        waited = agent.told("wait_for_app", slug="brief", state="unknown")["app"]
        refused = agent.tool("get_app", slug="nowhere")

    assert "A tool with `fields` tells of\neach record only what" in words(served, "/llms-full.txt")
    assert brief == waited
    assert brief.keys() < all_of_it.keys() == whole.keys()
    assert (refused["isError"], {*refused["structuredContent"]}) == (
        True, {"error", "code", "status"},
    )  # fmt: skip
    served.file("brief").unlink()


def test_the_notes_of_the_user_are_at_its_end(served: Served):
    path = served.data / "dashboard" / "config.yaml"
    before = path.read_text()
    path.write_text(f"{before}title: My *machine*\nagentGuide: {{notes: Speak **Dutch**.}}\n")
    until(lambda: "Dutch" in words(served), what="the notes")

    text = words(served)
    assert text.startswith("# My \\*machine\\*: guide for agents\n")
    assert text.endswith("## Notes of the user\n\nSpeak **Dutch**.\n")
    path.write_text(before)


def test_the_first_rules_work_as_they_are_written(agent: Agent, tmp_path: Path):
    port = free_port()
    command = f"exec {sys.executable} -m http.server $PORT --bind 127.0.0.1"
    rules = agent.http.get("/agent-guide.md").text.partition("## Apps")[0]
    rules = rules.replace(PROJECT, str(tmp_path)).replace("3000", str(port))
    rules = rules.replace("npm run dev", command)
    shell, tools = [*_shell(rules)], [*_tools(rules)]
    asked, put, started = shell[0], shell[2], shell[1]  # rule 4 before rule 3, as rule 3 says

    assert "apps" in _run(asked)
    assert agent.told("find_app", port=port)["apps"] == []
    assert _run(put)["slug"] == "shop"
    assert _run(put)["code"] == "exists"
    assert _run(started)["ok"] is True
    declare = dict(tools)["put_app"]
    for name, arguments in tools:
        if name == "put_app":  # what is there is nothing new
            assert agent.refused(name, **arguments)["code"] == "exists"
            continue
        told = agent.told(name, **arguments)
        if name == "find_app":
            assert [app["slug"] for app in told["apps"]] == ["shop"], arguments
        else:
            assert told.get("ok", True) is True
    assert [name for name, _ in tools] == [*["find_app"] * 3, "service", "put_app", "wait_for_app"]

    read = agent.told("get_app", slug="shop")
    changed = read["config"] | {"name": "Other"}
    assert (
        agent.told("put_app", slug="shop", config=changed, ifMatch=read["etag"])["name"] == "Other"
    )
    assert (
        agent.refused("put_app", slug="shop", config={}, ifMatch=read["etag"])["code"] == "changed"
    )
    assert agent.refused("remove_app", slug="shop")["code"] == "running"
    removed = agent.told("remove_app", slug="shop", stop=True)["removed"]
    assert removed.startswith("backups/removed/apps/shop.")
    assert agent.told("put_app", **declare)["slug"] == "shop"
    agent.told("remove_app", slug="shop")


def test_a_stopped_app_is_found_by_the_directory_of_its_service(agent: Agent, tmp_path: Path):
    slug = "asleep"
    config = {"service": {"command": "sleep 1000", "cwd": str(tmp_path)}}
    agent.told("put_app", slug=slug, config=config)

    found = agent.told("find_app", cwd=str(tmp_path))["apps"]

    assert [app["slug"] for app in found] == [slug]
    assert agent.told("find_app", cwd=f"{tmp_path}-other")["apps"] == []
    assert agent.refused("find_app", cwd="src")["code"] == "invalid"
    agent.told("remove_app", slug=slug)


def _shell(rules: str) -> Iterator[str]:
    return (code for code in re.findall(r"`(curl [^`]+)`", rules))


def _tools(rules: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each tool with the arguments that stand on its line, in order."""
    known = {operation.name for operation in REGISTRY}
    for line in rules.splitlines():
        codes = re.findall(r"`([^`]+)`", line)
        name = next((code for code in codes if code in known), None)
        for code in codes if name else ():
            if code.startswith("{"):
                yield str(name), json.loads(code)


def _run(command: str) -> Any:
    done = subprocess.run(
        ["/bin/sh", "-c", command], capture_output=True, text=True, timeout=60, check=True
    )
    return json.loads(done.stdout)
