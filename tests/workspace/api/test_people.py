"""What only people do: over REST, and out of reach of every client and every turn."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspace.access.test_policy import agent, client
from workspace import projects
from workspace.access.principals import User
from workspace.chats import transcript
from workspace.operations import PEOPLE, REGISTRY


def ended(alpha: Path, chat: str) -> None:
    """A turn that ended in the chat of this path."""
    with transcript.Writer(str(alpha / ".chats" / f"{chat[-36:]}.jsonl")) as writer:
        writer.append("user", "msg_1", text="Hi", sender={"kind": "user", "id": "kim"})
        writer.append("turn_end", "msg_1", status="ok")


@pytest.mark.parametrize("name", [operation.name for operation in PEOPLE])
def test_no_client_and_no_turn_is_granted_what_only_people_do(name):
    operation = PEOPLE[name]

    assert not client(allow=("*",)).grants(operation)
    assert not agent().grants(operation)
    assert User().grants(operation)
    assert REGISTRY.get(name) is None


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
    assert projects.get("alpha")
    assert api.get(chat).json()["chat"]["unread"] is True

    assert api.post(path).json() == {"ok": True, "changed": 1}

    assert api.get(chat).json()["chat"]["unread"] is False
