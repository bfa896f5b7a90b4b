"""Turns of a real service with its real cluster: crashes, stops, senders at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil
import pytest

from tests.service import Service, until
from workspace.chats import transcript

pytestmark = pytest.mark.timeout(120)

QUICK = '#!runbook\n```TodoWrite\n{"todos": []}\n```\nDone.\n'
SLOW = "#!runbook\n```Bash\nsleep 600\n```\n"
CHATS = "/api/projects/alpha/chats"


@pytest.fixture
def alpha(service: Service) -> Service:
    service.http.post("/api/projects", json={"name": "Alpha"}).raise_for_status()
    free = {"permissionMode": "bypassPermissions"}
    service.http.patch("/api/projects/alpha", json=free).raise_for_status()
    return service


def new_chat(service: Service, prompt: str | None = None) -> str:
    answer = service.http.post(CHATS, json={"prompt": prompt} if prompt else {})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["chat"]["sessionId"])


def send(service: Service, chat: str, prompt: str) -> dict[str, Any]:
    answer = service.http.post(f"{CHATS}/{chat}/messages", json={"prompt": prompt})
    assert answer.status_code == 202, answer.text
    sent: dict[str, Any] = answer.json()
    return sent


def records(service: Service, chat: str, kind: str) -> list[dict[str, Any]]:
    path = service.projects / "alpha" / ".chats" / f"{chat}.jsonl"
    return [record for _, record in transcript.read(str(path)) if record["type"] == kind]


def ends(service: Service, chat: str) -> list[str]:
    return [record["status"] for record in records(service, chat, "turn_end")]


@pytest.mark.slow
def test_after_a_crash_the_turn_is_interrupted_and_what_waits_runs_once(alpha: Service):
    chat = new_chat(alpha, SLOW)
    until(lambda: records(alpha, chat, "tool_use"), seconds=20)
    for _ in range(2):
        send(alpha, chat, QUICK)

    alpha.kill9()
    alpha.start()

    until(lambda: len(ends(alpha, chat)) == 3, seconds=20, what="three ends")
    assert ends(alpha, chat) == ["interrupted", "ok", "ok"]
    assert len(records(alpha, chat, "user")) == 3


@pytest.mark.slow
def test_twenty_senders_at_once_are_answered_one_after_the_other(alpha: Service):
    chat = new_chat(alpha, SLOW)
    until(lambda: records(alpha, chat, "tool_use"), seconds=20)

    with ThreadPoolExecutor(10) as senders:
        answers = list(senders.map(lambda _: send(alpha, chat, QUICK), range(20)))
    assert sorted(answer["position"] for answer in answers) == list(range(1, 21))
    assert len({answer["messageId"] for answer in answers}) == 20
    assert alpha.http.post(f"{CHATS}/{chat}/stop").json() == {"ok": True, "stopped": True}
    assert alpha.http.post(f"{CHATS}/{chat}/queue/resume").json()["resumed"] == 20

    until(lambda: len(ends(alpha, chat)) == 21, seconds=60, what="21 ends")
    path = str(alpha.projects / "alpha" / ".chats" / f"{chat}.jsonl")
    turns = [record["turn"] for _, record in transcript.read(path)]
    assert turns == sorted(turns)
    assert ends(alpha, chat) == ["stopped", *["ok"] * 20]


def test_a_clean_stop_ends_the_turn_as_interrupted_and_leaves_nothing(alpha: Service):
    chat = new_chat(alpha, SLOW)
    until(lambda: records(alpha, chat, "tool_use"), seconds=20)
    family = {process.pid for process in alpha.family()}

    alpha.stop()

    assert ends(alpha, chat) == ["interrupted"]
    assert records(alpha, chat, "turn_end")[0]["reason"] == "shutdown"
    assert not any(psutil.pid_exists(pid) for pid in family)
