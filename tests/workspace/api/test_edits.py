"""What turns changed, over REST: listed, looked at, undone and given again."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from tests.workspace.trees.desk import At, Desk


@pytest.fixture
def turn(settings, tmp_path: Path, projects_dir: Path, chat: str) -> At:
    """A turn of the chat that wrote two files, and one of another turn beside it."""
    settings.DATA_DIR = tmp_path / "data"
    desk = Desk(projects_dir / "alpha", git=False)
    desk.put("a.txt", "one\n")
    turn = desk.at_work(chat=chat.split("/")[5])
    return turn.writes("a.txt", "two\n").writes("new.txt", "x\n").ends()


def test_turns_that_changed_files_are_listed_and_shown(api, chat, turn):
    route = f"{chat}/turns/{turn.row.id}"

    assert api.get(f"{chat}/edits").json() == {
        "turns": [{"turnId": turn.row.id, "files": 2, "undone": False}]
    }
    unknown = {"added": None, "removed": None, "kept": None}
    assert api.get(f"{route}/edits").json() == {
        "turnId": turn.row.id,
        "undone": False,
        "files": [
            {"path": "a.txt", "change": "modified", **unknown},
            {"path": "new.txt", "change": "added", **unknown},
        ],
    }


def test_an_undo_says_what_it_restored_and_what_it_left_alone(api, chat, turn):
    route = f"{chat}/turns/{turn.row.id}"
    turn.desk.put("new.txt", "mine\n")

    answer = api.post(f"{route}/undo")

    assert answer.json() == {
        "ok": True,
        "restored": ["a.txt"],
        "kept": [{"path": "new.txt", "reason": "it was changed since"}],
    }
    assert turn.desk.read("a.txt") == "one\n"
    assert api.get(f"{chat}/edits").json()["turns"][0]["undone"] is True
    assert api.post(f"{route}/redo").json()["restored"] == ["a.txt"]
    assert turn.desk.read("a.txt") == "two\n"
    again = api.post(f"{route}/redo")
    assert (again.status_code, again.json()["code"]) == (409, "conflict")


def test_a_turn_that_is_not_known_or_of_another_chat_is_not_found(api, chat, turn):
    other = api.post("/api/projects/alpha/chats").json()["chat"]["sessionId"]
    routes = [
        f"{chat}/turns/msg_{'0' * 26}/edits",
        f"{chat}/turns/..%2F..%2Fx/edits",
        f"/api/projects/alpha/chats/{other}/turns/{turn.row.id}/edits",
        f"/api/projects/alpha/chats/{uuid.uuid4()}/edits",
    ]

    assert [api.get(route).status_code for route in routes] == [404] * 4
    assert api.post(f"{routes[2].removesuffix('edits')}undo").status_code == 404
