"""An app falls and a trigger mends it: by a runbook, or by a model that reads, edits, restarts."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.dashboard.served import NO_PICTURES
from tests.service import Service, free_port, until
from tests.stubs import openai
from tests.stubs.openai import text, use
from workspace.chats import transcript

SERVER = """
import http.server, sys
GREETING = "hello"
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(GREETING.encode())
    def log_message(self, *_):
        pass
http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()
"""
BAD = SERVER.replace('"hello"', "helo")
LOGS, RESTART = "mcp__svc_apps__app_logs", "mcp__svc_apps__restart_app"
RUNBOOK = f"""#!runbook
```{LOGS} name=logs
{{"slug": "{{{{event.app}}}}", "lines": 20}}
```
```Edit file_path=shop.py
{{"old_string": "GREETING = helo", "new_string": "GREETING = \\"hello\\""}}
```
```{RESTART} name=again timeout=60
{{"slug": "{{{{event.app}}}}"}}
```
```mcp__svc_apps__wait_for_app timeout=60
{{"slug": "{{{{event.app}}}}", "state": "up", "timeoutSeconds": 30}}
```
{{{{event.app}}}} is mended: {{{{logs.output}}}}
"""


class Shop:
    """A service, a project that works at a directory of the user's, and an app in it."""

    def __init__(self, tmp: Path, **env: str) -> None:
        self.work = tmp / "shop"
        self.work.mkdir()
        self.file = self.work / "shop.py"
        self.file.write_text(SERVER)
        self.service = Service(tmp / "service", env=env, dashboard=NO_PICTURES)
        self.port = free_port()

    def declare(self, slug: str, work: Path) -> None:
        apps = self.service.data / "dashboard" / "apps"
        apps.mkdir(parents=True, exist_ok=True)
        command = f"exec {sys.executable} shop.py {self.port}"
        (apps / f"{slug}.yaml").write_text(
            f"name: Shop\nport: {self.port}\nexpected: always\nhealth: {{interval: 2s}}\n"
            f"service: {{command: '{command}', cwd: {work}}}\n"
        )

    def begin(self, trigger: dict[str, Any]) -> None:
        self.declare("shop", self.work)
        made = self.service.http.post(
            "/api/projects", json={"name": "Shop", "path": str(self.work)}
        )
        assert made.status_code == 201, made.text
        self.slug = made.json()["project"]["slug"]
        put = self.service.http.put(self.api("triggers/mend"), json=trigger)
        assert put.status_code in (200, 201), put.text
        self.act("start")
        self.until("up")

    def api(self, path: str) -> str:
        return f"/api/projects/{self.slug}/{path}"

    def act(self, action: str) -> None:
        url = f"/dashboard/api/apps/shop/service/{action}"
        answer = self.service.http.post(url, json={})
        assert answer.status_code == 200, answer.text

    def until(self, state: str) -> None:
        def now() -> str:
            answer = self.service.http.get("/dashboard/api/apps/shop").json()
            return str(answer.get("state"))

        until(lambda: now() == state, seconds=40, what=f"shop is {state}, not {now()}")

    def found(self) -> str:
        """The state of what listens at its port, though no file names it."""
        apps = self.service.http.get("/dashboard/api/apps").json()["apps"]
        return next((str(one["state"]) for one in apps if one["port"] == self.port), "")

    def fall(self) -> None:
        """A bad edit, and a restart that shows it."""
        self.file.write_text(BAD)
        self.act("restart")

    def runs(self, status: str = "") -> list[dict[str, Any]]:
        found = self.service.http.get("/api/runs", params={"trigger": "mend"}).json()["runs"]
        return [run for run in found if status in ("", run["status"])]

    def mended(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The run that completed, and the records of its chat."""
        seen: list[dict[str, Any]] = []

        def over() -> bool:
            seen[:] = self.runs()
            return any(run["status"] in ("completed", "failed") for run in seen)

        until(over, seconds=90, what=f"a run that ended: {seen}")
        run = next(run for run in seen if run["status"] != "skipped")
        path = self.service.projects / self.slug / ".chats" / f"{run['sessionId']}.jsonl"
        return run, [record for _, record in transcript.read(str(path))]


def trigger(prompt: str, **run: Any) -> dict[str, Any]:
    return {
        "trigger": {"type": "event", "on": "onAppDown"},
        "run": {"prompt": prompt, "debounce": "1s", **run},
        "enabled": True,
    }


def said(records: list[dict[str, Any]]) -> str:
    return "\n".join(one["text"] for one in records if one["type"] == "assistant")


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    made = Shop(tmp_path)
    with made.service:
        yield made
        made.service.http.post("/dashboard/api/apps/shop/service/stop", json={})


@pytest.mark.timeout(240)
def test_a_runbook_mends_what_fell_and_says_so_in_the_chat(shop: Shop):
    tools = [LOGS, RESTART, "mcp__svc_apps__wait_for_app", "Edit"]
    shop.begin(trigger(RUNBOOK, tools=tools))

    shop.fall()
    run, records = shop.mended()

    assert (run["status"], run["reason"]) == ("completed", None)
    assert run["event"]["type"] == "onAppDown"
    [happening] = run["event"]["happenings"]
    assert (happening["app"], happening["directory"]) == ("shop", str(shop.work))
    assert shop.file.read_text() == SERVER
    assert "shop is mended" in said(records)
    assert "NameError: name 'helo' is not defined" in said(records)
    shop.until("up")
    assert [one["status"] for one in shop.runs() if one["status"] != "skipped"] == ["completed"]


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_model_reads_the_log_edits_and_restarts_as_its_list_allows(tmp_path: Path):
    with openai.serve() as stub:
        stub.models = ["plum"]
        shop = Shop(tmp_path, SVC_LOCAL_MODEL_URL=stub.url)
        stub.say(use(LOGS, {"slug": "shop"}))
        edit = {"old_string": "GREETING = helo", "new_string": 'GREETING = "hello"'}
        stub.say(use("Edit", {"file_path": str(shop.file), **edit}))
        stub.say(use(RESTART, {"slug": "shop"}))
        stub.say(text("A name was misspelt; shop runs again."))
        with shop.service:
            shop.begin(trigger("Mend it.", tools=["Read", "Edit", LOGS, RESTART]))
            shop.fall()
            run, records = shop.mended()
            shop.until("up")
            shop.act("stop")

    assert (run["status"], run["reason"]) == ("completed", None), said(records)
    first = stub.asked[0].messages[-1][1]
    assert "Trigger event `onAppDown`" in first
    assert json.loads(first.partition("```json\n")[2].partition("\n```")[0])["happenings"]
    assert first.endswith("Mend it.")
    results = [one for one in records if one["type"] == "tool_result"]
    assert [one["is_error"] for one in results] == [False, False, False]
    assert "NameError" in results[0]["text"]
    assert shop.file.read_text() == SERVER
    assert said(records) == "A name was misspelt; shop runs again."


@pytest.mark.slow
@pytest.mark.timeout(240)
def test_a_dev_server_that_was_only_found_has_fallen_when_it_left_the_list(tmp_path: Path):
    shop = Shop(tmp_path)
    command = [sys.executable, "shop.py", str(shop.port)]
    with shop.service as service:
        made = service.http.post("/api/projects", json={"name": "Shop", "path": str(shop.work)})
        shop.slug = made.json()["project"]["slug"]
        seen = trigger(
            "#!runbook\n```Read file_path=shop.py\n```\n{{event.reason}}\n", tools=["Read"]
        )
        service.http.put(shop.api("triggers/mend"), json=seen).raise_for_status()
        dev = subprocess.Popen(command, cwd=shop.work)
        try:
            until(lambda: shop.found() == "up", seconds=40, what="found")
        finally:
            dev.kill()
            dev.wait()
        run, records = shop.mended()

    assert (run["status"], run["reason"]) == ("completed", None)
    [happening] = run["event"]["happenings"]
    assert happening["directory"] == str(shop.work)
    assert (happening["state"], said(records)) == ("down", "not-running")
