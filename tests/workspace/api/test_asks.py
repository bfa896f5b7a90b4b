"""Questions over REST: where they are seen, how they are answered, the mode of a chat."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from config.logs import timestamp
from workspace import palette
from workspace.chats import files, transcript
from workspace.chats.turns import tokens
from workspace.models import Turn
from workspace.projects import store

TURN = "msg_00000000000000000000000001"
KEYS = ["call", "tool", "summary", "since", "until"]


@pytest.fixture
def asked(api: Any, chat: str) -> str:
    """The chat's path; a turn of it asks to run git status."""
    session = chat.rpartition("/")[2]
    now = datetime.now(UTC)
    since, until = timestamp(now), timestamp(now + timedelta(minutes=10))
    question = {"call": "call_1", "tool": "Bash", "input": {"command": "git status"}}
    path = files.transcript_path(store.get("alpha"), session)
    with transcript.Writer(str(path)) as writer:
        writer.append("turn_start", TURN, engine="runbook")
        writer.append("permission", TURN, **question, state="asked", by="policy", until=until)
    ask = {"call": "call_1", "tool": "Bash", "summary": "git status"}
    Turn.objects.create(
        id=TURN, project="alpha", chat=session, state="running", prompt="x", message="x",
        sender={"kind": "user"}, mode="default", max_turns=1, created=now, started=now,
        asks=[ask | {"since": since, "until": until}],
    )  # fmt: skip
    return chat


def answers() -> list[dict[str, Any]]:
    return list(Turn.objects.get(id=TURN).answers)


def test_a_question_is_seen_wherever_its_chat_is(api: Any, asked: str):
    one = api.get(asked).json()["chat"]
    (listed,) = api.get("/api/projects/alpha/chats").json()["chats"]
    (anywhere,) = api.get("/api/asks").json()["asks"]
    project = api.get("/api/projects/alpha").json()["project"]

    assert sorted(one["asked"]) == sorted(KEYS)
    assert (one["asked"]["tool"], one["asked"]["summary"]) == ("Bash", "git status")
    assert listed["asked"] == one["asked"]
    assert {key: anywhere[key] for key in KEYS} == one["asked"]
    assert (anywhere["project"], anywhere["sessionId"]) == ("alpha", one["sessionId"])
    assert (anywhere["name"], anywhere["turnId"], anywhere["trigger"]) == ("First", TURN, None)
    assert project["counts"]["asking"] == 1


def test_the_badge_and_the_palette_put_it_before_all_else(api: Any, asked: str):
    badge = next(one for one in api.get("/api/badges").json()["badges"] if one["part"] == "main")
    (first, *_) = palette.destinations()

    assert (badge["count"], badge["label"], badge["urgent"]) == (1, "chat needs you", True)
    assert (first.label, first.kind, first.hint) == ("First", "asks", "asks: Bash git status")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"allow": True}, {"call": "call_1", "allow": True}),
        ({"allow": False}, {"call": "call_1", "allow": False}),
        (
            {"allow": False, "reason": " use make "},
            {"call": "call_1", "allow": False, "reason": "use make"},
        ),
        ({"allow": True, "reason": "go on"}, {"call": "call_1", "allow": True}),
    ],
)
def test_an_answer_is_taken_once_and_the_chat_asks_no_more(
    api: Any, asked: str, body: dict[str, Any], said: dict[str, Any]
):
    given = api.post(f"{asked}/permissions/call_1", body)
    again = api.post(f"{asked}/permissions/call_1", body)

    assert (given.status_code, given.json()) == (200, {"ok": True, "allow": body["allow"]})
    assert answers() == [said]
    assert (again.status_code, again.json()["code"]) == (409, "not_pending")
    assert api.get(asked).json()["chat"]["asked"] is None
    assert api.get("/api/asks").json() == {"asks": []}


def test_allowed_in_the_chat_it_is_listed_there_and_can_be_taken_back(api: Any, asked: str):
    given = api.post(f"{asked}/permissions/call_1", {"allow": True, "scope": "chat"}).json()
    kept = api.get(asked).json()["chat"]["allow"]
    gone = api.delete(f"{asked}/allow?rule=Bash(git%20status)").json()
    again = api.delete(f"{asked}/allow?rule=Bash(git%20status)").json()

    assert given == {"ok": True, "allow": True, "rule": "Bash(git status)"}
    assert kept == ["Bash(git status)"]
    assert (gone["revoked"], again["revoked"]) == (True, False)
    assert api.get(asked).json()["chat"]["allow"] == []
    rule = "Bash(git status)"
    assert answers() == [
        {"type": "allow", "rule": rule}, {"call": "call_1", "allow": True},
        {"type": "revoke", "rule": rule}, {"type": "revoke", "rule": rule},
    ]  # fmt: skip


def test_an_open_page_keeps_a_question_waiting(api: Any, asked: str):
    Turn.objects.filter(id=TURN).update(
        asks=[one | {"until": one["since"]} for one in Turn.objects.get(id=TURN).asks]
    )

    kept = api.post(f"{asked}/permissions/call_1/keep").json()

    assert kept["ok"]
    assert api.get(asked).json()["chat"]["asked"]["until"] == kept["until"]
    assert kept["until"] > timestamp(datetime.now(UTC) + timedelta(minutes=9))
    assert api.post(f"{asked}/permissions/call_2/keep").status_code == 404
    api.post(f"{asked}/permissions/call_1", {"allow": False})
    assert api.post(f"{asked}/permissions/call_1/keep").json() == {"ok": True, "until": None}


@pytest.mark.parametrize("body", [{}, {"allow": True, "scope": "ever"}, {"allow": "x" * 9}])
def test_an_answer_that_is_none_changes_nothing(api: Any, asked: str, body: dict[str, Any]):
    assert api.post(f"{asked}/permissions/call_1", body).status_code == 400
    assert answers() == []


@pytest.mark.parametrize(
    ("method", "route"),
    [
        ("POST", "permissions/call_1"),
        ("POST", "permissions/call_1/keep"),
        ("DELETE", "allow?rule=Edit"),
    ],
)
def test_who_asks_does_not_answer(api: Any, asked: str, method: str, route: str):
    token, digest = tokens.new_token()
    Turn.objects.filter(id=TURN).update(token_hash=digest)
    body = {"allow": True} if route == "permissions/call_1" else None

    refused = api.ask(method, f"{asked}/{route}", body, {"Authorization": f"Bearer {token}"})

    assert (refused.status_code, refused.json()["code"]) == (403, "denied")
    assert answers() == []


def test_a_chat_has_a_mode_of_its_own_as_far_as_the_project_allows(api: Any, chat: str):
    plan = api.patch(chat, {"permissionMode": "plan"})
    more = api.patch(chat, {"permissionMode": "bypassPermissions", "name": "Not this"})
    word = api.patch(chat, {"permissionMode": "yolo"})
    kept = api.get(chat).json()["chat"]
    back = api.patch(chat, {"permissionMode": None}).json()["chat"]

    assert plan.json()["chat"]["permissionMode"] == "plan"
    assert (more.status_code, word.status_code) == (400, 400)
    (problem,) = more.json()["errors"]
    assert problem["field"] == "permissionMode"
    assert "acceptEdits at most" in problem["reason"]
    assert (kept["permissionMode"], kept["name"]) == ("plan", "First")
    assert back["permissionMode"] is None


def test_a_message_has_the_mode_of_its_chat_and_never_more_than_the_project(api: Any, chat: str):
    session = chat.rpartition("/")[2]
    modes = []
    for mode in ("plan", "default", None):
        assert api.patch(chat, {"permissionMode": mode}).status_code == 200
        modes.append(sent(api, chat))
    record = files.record_path(store.get("alpha"), session)
    record.write_text(record.read_text() + "permissionMode: bypassPermissions\n")

    assert modes == ["plan", "default", "acceptEdits"]
    assert sent(api, chat) == "acceptEdits"


def test_a_new_chat_begins_in_the_mode_it_is_given(api: Any, alpha: Any):
    made = api.post("/api/projects/alpha/chats", {"permissionMode": "plan"}).json()["chat"]
    refused = api.post("/api/projects/alpha/chats", {"permissionMode": "bypassPermissions"})

    assert made["permissionMode"] == "plan"
    assert refused.status_code == 400
    assert len(api.get("/api/projects/alpha/chats").json()["chats"]) == 1


def sent(api: Any, chat: str) -> str:
    answer = api.post(f"{chat}/messages", {"prompt": "hello"})
    assert answer.status_code == 202
    return Turn.objects.get(id=answer.json()["messageId"]).mode
