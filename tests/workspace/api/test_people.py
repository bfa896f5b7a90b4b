"""What only people do: over REST, and out of reach of every client and every turn."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from workspace.chats import transcript
from workspace.models import Run
from workspace.projects import store


def ended(alpha: Path, chat: str) -> None:
    """A turn that ended in the chat of this path."""
    with transcript.Writer(str(alpha / ".chats" / f"{chat[-36:]}.jsonl")) as writer:
        writer.append("user", "msg_1", text="Hi", sender={"kind": "user", "id": "kim"})
        writer.append("turn_end", "msg_1", status="ok")


def test_a_page_that_shows_a_chat_says_so(api, alpha, chat):
    ended(alpha, chat)
    assert api.get(chat).json()["chat"]["unread"] is True
    assert api.get("/api/projects/alpha/chats").json()["chats"][0]["unread"] is True
    assert api.get("/api/projects/alpha").json()["project"]["counts"]["unread"] == 1
    assert api.get("/api/unread").json() == {
        "unread": 1, "projects": [{"slug": "alpha", "unread": 1}],
    }  # fmt: skip

    read = api.post(f"{chat}/read")

    assert (read.status_code, read.json()) == (200, {"ok": True, "unread": False, "changed": True})
    assert api.get(chat).json()["chat"]["unread"] is False
    assert api.get("/api/unread").json() == {"unread": 0, "projects": []}


@pytest.mark.parametrize("offset", [-1, "x", 1.5, [], {}, 2**63])
def test_an_offset_that_is_none_is_refused_and_nothing_is_read(api, alpha, chat, offset):
    ended(alpha, chat)

    answer = api.post(f"{chat}/read", {"offset": offset})

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "offset")
    assert api.get(chat).json()["chat"]["unread"] is True


@pytest.mark.parametrize("path", ["/api/read", "/api/projects/alpha/read"])
def test_every_chat_is_read_at_once(api, alpha, chat, path):
    ended(alpha, chat)
    assert store.get("alpha")
    assert api.get(chat).json()["chat"]["unread"] is True

    assert api.post(path).json() == {"ok": True, "changed": 1}

    assert api.get(chat).json()["chat"]["unread"] is False


def test_a_deleted_chat_is_taken_back_by_one_request(api, alpha, chat):
    deleted = api.delete(chat)

    assert deleted.status_code == 200
    assert deleted.json()["sessionId"] == chat[-36:]
    assert api.get(chat).status_code == 404
    assert api.get("/api/projects/alpha/chats?archived=all").json()["chats"] == []
    [row] = api.get("/api/projects/alpha/trash").json()["chats"]
    assert (row["name"], row["deletedAt"]) == ("First", deleted.json()["deletedAt"])

    back = api.post(f"{chat}/restore")

    assert (back.status_code, back.json()["chat"]["name"]) == (200, "First")
    assert api.get("/api/projects/alpha/trash").json() == {"chats": []}
    assert api.post(f"{chat}/restore").status_code == 404


def test_a_busy_chat_is_not_deleted_and_says_why(api, alpha, chat):
    api.post(f"{chat}/messages", {"prompt": "Hi"})

    refused = api.delete(chat)

    assert (refused.status_code, refused.json()["code"]) == (409, "busy")
    assert api.get(chat).status_code == 200


def test_a_run_says_that_its_chat_was_deleted(api, alpha, chat):
    Run.objects.create(
        id="run_1", project="alpha", trigger="t", trigger_type="schedule", kind="trigger",
        cause="cron", queued_at=datetime.now(UTC), status="completed", session_id=chat[-36:],
    )  # fmt: skip
    assert "chatDeleted" not in api.get("/api/runs/run_1").json()["run"]

    api.delete(chat)

    assert api.get("/api/runs/run_1").json()["run"]["chatDeleted"] is True
    assert api.get("/api/runs").json()["runs"][0]["chatDeleted"] is True
    api.post(f"{chat}/restore")
    assert "chatDeleted" not in api.get("/api/projects/alpha/runs").json()["runs"][0]


@pytest.mark.parametrize(
    ("query", "kind", "suffix"),
    [
        ("", "text/markdown; charset=utf-8", "md"),
        ("?format=md", "text/markdown; charset=utf-8", "md"),
        ("?format=jsonl", "application/x-ndjson", "jsonl"),
    ],
)
def test_a_chat_is_downloaded(api, alpha, chat, query, kind, suffix):
    ended(alpha, chat)

    answer = api.get(f"{chat}/export{query}")

    assert (answer.status_code, answer["Content-Type"]) == (200, kind)
    assert answer["Content-Disposition"] == (
        f'attachment; filename="First-{chat[-36:][:8]}.{suffix}"'
    )
    assert b"Hi" in b"".join(answer.streaming_content)


def test_an_unknown_format_is_refused(api, chat):
    answer = api.get(f"{chat}/export?format=docx")

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "format")


def test_every_list_says_what_is_paused(api, alpha):
    body = {
        "trigger": {"type": "schedule", "interval": "1h"},
        "run": {"prompt": "x"},
        "enabled": True,
    }
    api.put("/api/projects/alpha/triggers/t", body)

    held = api.post("/api/projects/alpha/pause")

    assert (held.status_code, held.json()["changed"]) == (200, True)
    pause = held.json()["paused"]
    assert pause["by"] == "project"
    assert api.get("/api/projects").json()["projects"][0]["paused"] == pause
    listed = api.get("/api/projects/alpha/triggers").json()
    assert listed["paused"] == listed["triggers"][0]["runtime"]["paused"] == pause
    polled = api.get("/api/projects/alpha/triggers/runtime").json()
    assert polled["paused"] == polled["runtime"][0]["paused"] == pause
    assert api.get("/api/projects/alpha/triggers/t").json()["trigger"]["runtime"]["paused"] == pause
    assert api.get("/api/pause").json() == {
        "paused": None, "projects": [{"slug": "alpha", "since": pause["since"]}],
    }  # fmt: skip
    again = api.post("/api/projects/alpha/pause", {"paused": False})
    assert again.json() == {"ok": True, "paused": None, "changed": True}


def test_everything_is_paused_at_once_and_goes_on_at_once(api, alpha):
    held = api.post("/api/pause", {"paused": True}).json()

    assert (held["ok"], held["changed"], held["paused"]["by"]) == (True, True, "instance")
    assert api.get("/api/projects/alpha").json()["project"]["paused"] == held["paused"]
    assert api.post("/api/pause", {"paused": False}).json() == {
        "ok": True, "changed": True, "paused": None, "projects": [],
    }  # fmt: skip


@pytest.mark.parametrize("path", ["/api/pause", "/api/projects/alpha/pause"])
@pytest.mark.parametrize("value", ["maybe", None, [], {}, 7])
def test_a_switch_is_on_or_off(api, alpha, path, value):
    answer = api.post(path, {"paused": value})

    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, "paused")
    assert api.get("/api/pause").json() == {"paused": None, "projects": []}


def test_what_was_said_is_found_with_its_place(api, alpha, chat):
    ended(alpha, chat)

    [hit] = api.get("/api/search?q=hi").json()["hits"]

    [message] = api.get(f"{chat}/messages?before={hit['offset'] + 1}").json()["messages"]
    assert (hit["sessionId"], hit["role"], hit["name"]) == (chat[-36:], "user", "First")
    assert (message["offset"], message["content"]) == (hit["offset"], "Hi")
    assert hit["snippet"] == [{"text": "Hi", "marked": True}]
    assert api.get("/api/search?q=hi&project=alpha").json()["hits"] == [hit]
    for before in (hit["id"], 0):
        assert api.get(f"/api/search?q=hi&before={before}").json()["hits"] == []


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [
        ("", 400, "q"), ("?q=", 400, "q"), ("?q=%20", 400, "q"), ("?q=%22%22", 400, "q"),
        ("?q=" + "x" * 10_000, 400, "q"), ("?q=a%00b", 400, "q"),
        ("?q=" + "+".join("abcdefghijklm"), 400, "q"),
        ("?q=a&limit=0", 400, "limit"), ("?q=a&limit=101", 400, "limit"),
        ("?q=a&before=x", 400, "before"), ("?q=a&project=nope", 404, None),
        ("?q=%22", 200, None), ("?q=%27%3B--", 200, None), ("?q=%F0%9F%9A%80", 200, None),
        ("?q=%E2%80%AEabc", 200, None), ("?q=%FF%FE", 200, None), ("?q=AND+OR+NOT", 200, None),
    ],
)  # fmt: skip
def test_no_query_is_a_defect(api, alpha, chat, query, status, field):
    ended(alpha, chat)

    answer = api.get(f"/api/search{query}")

    assert answer.status_code == status
    if field:
        assert answer.json()["errors"][0]["field"] == field


PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40


def upload(api, data: bytes = PNG, name: str = "shot.png", kind: str = "image/png"):
    return api.client.generic(
        "POST", f"/api/projects/alpha/attachments?name={name}", data, content_type=kind,
        **{"svc.principal": api.user},
    )  # fmt: skip


def test_a_file_goes_along_with_a_message_and_is_shown_again(api, alpha, chat):
    kept = upload(api)
    assert kept.status_code == 201
    assert upload(api, kind="").json() == kept.json() | {"created": False}

    sent = api.post(f"{chat}/messages", {"prompt": "Look", "attachments": [kept.json()["path"]]})
    made = api.post("/api/projects/alpha/chats", {"attachments": [kept.json()["path"]]})

    assert (sent.status_code, made.status_code) == (202, 201)
    line = f"Attached files:\n- {kept.json()['path']} (image/png, 48 bytes)"
    prompts = [row["prompt"] for row in api.get(chat).json()["queue"]]
    assert prompts == [f"Look\n\n{line}"]
    shown = api.get(kept.json()["url"])
    assert (shown.status_code, shown["Content-Type"], shown.content) == (200, "image/png", PNG)
    assert shown["Content-Security-Policy"] == "default-src 'none'; sandbox"
    assert shown["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("data", "name", "kind", "disposition"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "x.svg", "text/plain; charset=utf-8", None),
        (b"<script>alert(1)</script>", "x.html", "text/plain; charset=utf-8", None),
        (b"%PDF-1.7", "x.pdf", "application/pdf", "attachment"),
    ],
)
def test_nothing_is_served_as_what_could_act(api, alpha, data, name, kind, disposition):
    kept = upload(api, data, name, "text/html").json()

    shown = api.get(kept["url"], Accept="text/html")

    assert (shown["Content-Type"], shown.get("Content-Disposition")) == (kind, disposition)
    assert shown["Content-Security-Policy"] == "default-src 'none'; sandbox"


def test_what_cannot_be_attached_is_refused_with_the_reason(api, alpha, chat):
    assert upload(api, b"\x7fELF\0").json()["code"] == "unsupported_media_type"
    assert upload(api, b"").json()["errors"][0]["field"] == "file"
    for attached in (["nope.png"], "x", [7], [""], ["x"] * 21, None):
        answer = api.post(f"{chat}/messages", {"prompt": "Look", "attachments": attached})
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert api.get(chat).json()["queue"] == []
    assert api.get("/api/projects/alpha/attachments/nope.png").status_code == 404
