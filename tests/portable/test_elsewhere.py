"""Where Linux's own calls are missing the service starts, works and ends all the same."""

from __future__ import annotations

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import psutil
import pytest
from playwright.sync_api import Browser, expect

from tests.browser import commits
from tests.browser.commits import LINES, changed, text
from tests.browser.test_dashboard import web_server
from tests.portable.conftest import Elsewhere
from tests.service import free_port, still_running, until
from workspace.chats import transcript

TRIED = """
import ctypes, os, select, signal, socket
print(*(hasattr(*one) for one in (
    (os, "pidfd_open"), (os, "memfd_create"), (select, "epoll"), (socket, "AF_NETLINK"),
    (signal, "pidfd_send_signal"), (ctypes.CDLL(None), "prctl"), (ctypes.CDLL(None), "renameat2"),
)), os.path.exists("/proc/self"), os.path.exists("/sys"))
for path in ("/proc/self/stat", "/sys/kernel"):
    try:
        os.close(os.open(path, os.O_RDONLY))
    except FileNotFoundError:
        print("no", path)
"""
TURN = """#!runbook
```Write file_path=notes/a.txt
one
```
```Edit
{"file_path": "notes/a.txt", "old_string": "one", "new_string": "two"}
```
```Bash name=said
cat notes/a.txt; (setsid sleep 600 & echo $! > left)
```
```Grep
{"pattern": "two", "path": "notes"}
```
It said {{said.output}}
"""
SECONDLY = """triggers:
  tick:
    trigger: {type: schedule, interval: 1s}
    run:
      prompt: "#!runbook\\n```Bash\\necho fired >> fired\\n```\\n"
      permissionMode: bypassPermissions
    enabled: true
"""
HELLO = "#!runbook\n```Glob pattern=*\n```\nHello from here\n"


@pytest.fixture(scope="module")
def project(elsewhere: Elsewhere) -> Path:
    elsewhere.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
    body = {"permissionMode": "bypassPermissions"}
    elsewhere.http.patch("/api/projects/alpha", json=body).raise_for_status()
    return elsewhere.projects / "alpha"


def chat(service: Elsewhere, prompt: str) -> str:
    """The address of a new chat with its first message on the way."""
    made = (
        service.http.post("/api/projects/alpha/chats", json={"prompt": prompt})
        .raise_for_status()
        .json()
    )
    return f"/api/projects/alpha/chats/{made['chat']['sessionId']}"


def records(service: Elsewhere, address: str, kind: str) -> list[dict[str, Any]]:
    path = service.projects / "alpha" / ".chats" / f"{address.rpartition('/')[2]}.jsonl"
    return [one for _, one in transcript.read(str(path)) if one["type"] == kind]


def ended(service: Elsewhere, address: str) -> dict[str, Any]:
    return until(lambda: records(service, address, "turn_end"), seconds=30, what="its end")[0]


def alive(pid: int) -> bool:
    """A zombie, whose new parent has not looked yet, is not."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def written(path: Path) -> str:
    return path.read_text() if path.exists() else ""


@pytest.mark.slow
def test_the_calls_are_gone_from_every_process_of_the_service(elsewhere):
    done = subprocess.run(
        [elsewhere.python, "-c", TRIED], capture_output=True, text=True, check=True, env={}
    )

    assert done.stdout.split() == ["False"] * 9 + ["no", "/proc/self/stat", "no", "/sys/kernel"]
    mine = [one for one in elsewhere.family() if "python" in one.name()]
    assert len(mine) > 3
    assert {one.cmdline()[0] for one in mine} == {elsewhere.python}


def test_a_turn_writes_runs_finds_and_leaves_nothing_behind(elsewhere, project):
    address = chat(elsewhere, TURN)

    assert ended(elsewhere, address)["status"] == "ok", records(elsewhere, address, "tool_result")
    (said,) = records(elsewhere, address, "assistant")
    assert "It said two" in str(said)
    left = int((project / "left").read_text())
    until(lambda: not alive(left), what="what the command left is gone")


def test_a_running_turn_is_stopped_with_all_that_it_started(elsewhere, project):
    address = chat(elsewhere, "#!runbook\n```Bash\nsleep 600 & echo $! > child; wait\n```\n")
    child = int(until(lambda: written(project / "child"), seconds=30))

    elsewhere.http.post(f"{address}/stop", json={}).raise_for_status()

    end = ended(elsewhere, address)
    assert (end["status"], end["reason"]) == ("stopped", "user")
    assert not alive(child)


def test_a_schedule_fires_and_an_edit_by_hand_is_seen(elsewhere, project):
    file = project / "project.yaml"
    before = file.read_text()
    file.write_text(before + SECONDLY)

    until((project / "fired").exists, seconds=30, what="the trigger fires")

    file.write_text(before)
    until(lambda: elsewhere.http.get("/api/projects/alpha/triggers").json()["triggers"] == [])


def test_what_somebody_starts_is_found_and_told_by_its_process(elsewhere):
    dev = elsewhere.dev_server("greenhouse")
    try:
        found = until(lambda: elsewhere.observed(dev.port), seconds=20, what="found")
        assert found["identity"]["process"]["pid"] == dev.process.pid
        assert found["identity"]["cwd"] == str(dev.cwd)
    finally:
        dev.kill()


@pytest.mark.slow
def test_a_declared_app_is_probed(elsewhere):
    dev = elsewhere.dev_server("shed")
    elsewhere.declare("shed", f"name: Shed\nport: {dev.port}\nhealth: {{path: /, interval: 1s}}\n")

    elsewhere.until_state("shed", "up", seconds=20)
    dev.kill()
    elsewhere.until_state("shed", "stopped", seconds=20)


@pytest.mark.slow
def test_a_review_thread_follows_its_commit_through_an_amend(elsewhere, tmp_path):
    commit = commits.made(elsewhere, tmp_path)
    commit.thread("On twenty", path="a.py", line=20)

    commit.amend({"a.py": text(["a new first line", *changed(LINES)])})

    (thread,) = until(commit.threads, what="the thread came along")
    assert (thread["comments"][0]["body"], thread["line"]) == ("On twenty", 21)


def test_a_page_answers_what_is_written_in_it(elsewhere, project, browser: Browser):
    with browser.new_context(base_url=elsewhere.url) as context:
        page = context.new_page()
        page.goto("/projects/alpha/chats")
        page.get_by_role("textbox", name="Message").fill(
            "#!runbook\n```Glob pattern=*\n```\nHello from here\n"
        )
        page.get_by_role("button", name="Start chat").click()
        expect(page.locator("main")).to_contain_text("Hello from here")
        expect(page.get_by_text("without a sandbox").first).to_be_visible()


@pytest.mark.slow
def test_a_service_lives_on_over_a_restart_and_is_stopped_by_the_next(elsewhere):
    port = free_port()
    elsewhere.declare("shop", f"name: Shop\n{web_server(port)}")
    until(lambda: elsewhere.app("shop"))
    elsewhere.act("shop", "start")
    pid = elsewhere.until_state("shop", "up", seconds=20)["service"]["pid"]

    elsewhere.again()

    again = elsewhere.until_state("shop", "up", seconds=20)
    assert again["service"]["pid"] == pid
    elsewhere.act("shop", "stop")
    elsewhere.until_state("shop", "stopped", seconds=20)
    until(lambda: not alive(pid), what="the command is gone")


@pytest.mark.slow
def test_the_doctor_says_what_this_system_cannot_do(elsewhere):
    told = [one for one in elsewhere.findings() if one["level"] != "ok"]
    texts = [one["text"] for one in told if "this system" in one["text"].lower()]

    assert {one["subject"] for one in told} >= {
        "callers", "processes", "files", "file watching", "sandbox", "listeners", "app logs",
        "icons",
    }  # fmt: skip
    assert len(texts) >= 7
    (walls,) = [one["text"] for one in told if one["subject"] == "sandbox"]
    assert "bubblewrap runs on Linux alone, and this is Elsewhere" in walls


@pytest.mark.slow
def test_a_killed_supervisor_takes_its_processes_with_it(elsewhere):
    assert elsewhere.process is not None
    family = elsewhere.family()

    os.kill(elsewhere.process.pid, signal.SIGKILL)
    elsewhere.process.wait()

    assert still_running(family, 20) == []
    elsewhere._forget()
    elsewhere.start()
