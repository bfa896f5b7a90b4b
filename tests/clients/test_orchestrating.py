"""An agent that starts others: it waits for them, and reads what they wrote, all of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.clients.conftest import CONFIG, TOKENS
from tests.config.mcp_world import HEADERS, call
from tests.service import Service, until

BYPASS = "bypassPermissions"
LONG = "long reply " * 600
HELD = "#!runbook\n```Bash\nuntil [ -e {} ]; do sleep 0.05; done\n```\n" + LONG
BEARER = {"authorization": f"Bearer {TOKENS['ADMIN']}"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    scope = {"allow": ["*"], "permissionMode": BYPASS}
    clients = {"admin": {"auth": {"ref": "env:ADMIN"}, "scope": scope}}
    config = {"managementApi": {**CONFIG["managementApi"], "clients": clients}}
    env = {"ADMIN": TOKENS["ADMIN"], "SVC_SANDBOX": "off"}
    made = Service(tmp_path_factory.mktemp("orchestrating"), env=env, config=config)
    for slug in ("alpha", "zeta"):
        (made.projects / slug).mkdir(parents=True)
        (made.projects / slug / "project.yaml").write_text(
            f"name: {slug}\npermissionMode: {BYPASS}\n"
        )
    with made:
        yield made


def ask(service: Service, name: str, /, **arguments: Any) -> dict[str, Any]:
    """One call on a connection of its own."""
    answer = httpx.post(
        f"{service.url}/mcp",
        json=call(name, **arguments),
        headers=HEADERS | BEARER,
        timeout=90,
        trust_env=False,
    )
    found: dict[str, Any] = json.loads(answer.text.split("data: ", 1)[1])["result"]
    assert "isError" not in found, found
    done: dict[str, Any] = found["structuredContent"]
    return done


def streams(service: Service) -> float:
    """How many wait for events of the workspace, as /metrics tells."""
    text = service.http.get("/metrics").text
    (count,) = re.findall(r'^svc_streams\{surface="main"\} (\S+)', text, re.MULTILINE) or ["0"]
    return float(count)


def begun(service: Service, go: Path) -> str:
    chat = str(ask(service, "create_chat", project="alpha", prompt=HELD.format(go))["sessionId"])
    target = {"project": "alpha", "session_id": chat}
    until(lambda: ask(service, "read_chat", **target)["messages"], seconds=60)
    return chat


def waiting(pool: ThreadPoolExecutor, service: Service, *args: Any, **more: Any) -> Future[Any]:
    """A call that waits by now."""
    before = streams(service)
    future = pool.submit(ask, service, *args, wait_seconds=60, **more)
    until(lambda: streams(service) > before)
    return future


@pytest.mark.slow
def test_it_waits_for_the_end_and_reads_the_whole_answer(service: Service, tmp_path: Path):
    chat = begun(service, tmp_path / "go")
    target = {"project": "alpha", "session_id": chat}
    told = ask(service, "read_chat", **target)["after"]
    with ThreadPoolExecutor() as pool:
        ends = waiting(pool, service, "read_chat", **target)
        lines = waiting(pool, service, "read_chat", **target, after=told)
        lists = waiting(pool, service, "list_chats", project="alpha")
        assert ask(service, "list_projects")["count"] == 2  # nobody else waits
        assert not any(one.done() for one in (ends, lines, lists))
        (tmp_path / "go").touch()
        ended, later, listed = ends.result(60), lines.result(60), lists.result(60)

    assert (ended["running"], ended["total"]) == (False, 3)
    assert later["messages"][0]["role"] == "tool"
    assert [row["sessionId"] for row in listed["chats"]] == [chat]
    assert ended["messages"][-1]["text"].endswith("… [truncated 4600 chars]")
    whole = ask(service, "read_chat", **target, full=True)["messages"][-1]["text"]
    assert whole.strip() == LONG.strip()
    last = ask(service, "read_chat", **target, limit=1)
    older = ask(service, "read_chat", **target, before=last["next"])
    assert [line["role"] for line in older["messages"]] == ["user", "tool"]
    assert "next" not in older
    since = ask(service, "read_chat", **target, after=last["after"], wait_seconds=60)
    assert since["messages"] == []  # nothing runs: there is nothing to wait for


def test_who_leaves_waits_no_longer(service: Service, tmp_path: Path):
    chat = begun(service, tmp_path / "never")
    before = streams(service)
    asked = call("read_chat", project="alpha", session_id=chat, wait_seconds=60)

    with httpx.stream(
        "POST", f"{service.url}/mcp", json=asked, headers=HEADERS | BEARER, trust_env=False
    ):
        until(lambda: streams(service) > before)
    until(lambda: streams(service) == before)
    assert ask(service, "read_chat", project="alpha", session_id=chat)["running"]
    (tmp_path / "never").touch()


def test_the_newest_chat_of_all_projects_is_listed_first(service: Service):
    for _ in range(3):
        ask(service, "create_chat", project="alpha", prompt="#!runbook\nhi")
    until(lambda: not ask(service, "list_chats", running=True)["chats"], seconds=60)
    newest = ask(service, "create_chat", project="zeta", prompt="#!runbook\nhi", name="newest")
    until(lambda: not ask(service, "list_chats", running=True)["chats"], seconds=60)
    first = ask(service, "list_chats", limit=1)
    seen, page = [*first["chats"]], first
    while "next" in page:
        page = ask(service, "list_chats", limit=2, before=page["next"])
        seen += page["chats"]

    assert first["chats"][0]["sessionId"] == newest["sessionId"]
    assert len({row["sessionId"] for row in seen}) == len(seen) == first["count"]
    after = seen[0]["updatedAt"]
    with ThreadPoolExecutor() as pool:
        news = waiting(pool, service, "list_chats", after=after, limit=1)
        made = ask(service, "create_chat", project="alpha", prompt="#!runbook\nhi")
        assert [row["sessionId"] for row in news.result(60)["chats"]] == [made["sessionId"]]
