"""A project.yaml that a turn may have written, and a person's word that it holds all the same."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from config.storage import covered
from workspace import ids
from workspace.access.principals import User
from workspace.chats.turns import tokens
from workspace.mcp import triggers
from workspace.models import Turn
from workspace.projects import doubted, store

URL = "/api/projects/alpha/follow"


@pytest.fixture(autouse=True)
def worked(settings, tmp_path: Path, alpha: Path) -> Iterator[None]:
    """A turn works beside the file, which says no more than its name."""
    settings.DATA_DIR = tmp_path / "data"
    (alpha / "project.yaml").write_text("name: Alpha\n")
    store.get("alpha")
    with covered.beside(alpha / "project.yaml", "msg_1"):
        yield


def replaced(alpha: Path, text: str) -> None:
    """The file as an editor saves it, by another one that gets its name."""
    spare = alpha / "spare"
    spare.write_text(text)
    spare.replace(alpha / "project.yaml")


def waiting(api: Any) -> Any:
    return api.get(URL).json()["waiting"]


def test_no_trigger_is_told_to_be_armed_while_its_file_waits_for_a_person(api, alpha):
    text = "name: Alpha\ntriggers:\n  t: {trigger: {type: schedule, interval: 1h}, "
    text += "run: {prompt: x}, enabled: true}\n"
    replaced(alpha, text)
    api.post(URL, {"etag": waiting(api)["etag"]})
    assert api.get("/api/projects/alpha/triggers").json()["paused"] is None
    replaced(alpha, f"{text}maxTurns: 7\n")

    listed = api.get("/api/projects/alpha/triggers").json()
    held = {"by": "file", "since": None}
    assert listed["paused"] == listed["triggers"][0]["runtime"]["paused"] == held
    assert listed["triggers"][0]["runtime"]["nextRunAt"] is None
    assert api.get("/api/projects/alpha").json()["project"]["paused"] == held
    (flat,) = triggers.list_triggers(User(), project="alpha")["triggers"]
    assert flat["paused"] == held
    api.post(URL, {"etag": waiting(api)["etag"]})
    assert api.get("/api/projects/alpha/triggers").json()["paused"] is None


def test_what_differs_is_told_by_key_and_holds_by_a_persons_word_while_the_turn_works(api, alpha):
    assert waiting(api) is None
    replaced(alpha, "name: Beta\nnetwork: off\nmaxTurns: 7\n")

    found = waiting(api)
    assert found["changes"] == [
        {"key": "name", "before": "name: Alpha\n", "after": "name: Beta\n"},
        {"key": "network", "before": None, "after": 'network: "off"\n'},
        {"key": "maxTurns", "before": None, "after": "maxTurns: 7\n"},
    ]
    answer = api.post(URL, {"etag": found["etag"]})

    assert (answer.status_code, answer.json()["project"]["maxTurns"]) == (200, 7)
    assert store.get("alpha").error == ""
    assert waiting(api) is None
    assert api.patch("/api/projects/alpha", {"maxTurns": 8}).status_code == 200
    (alpha / "project.yaml").write_text("name: Alpha\nmaxTurns: 99\n")  # the cover is off
    assert store.get("alpha").error == covered.DOUBTED
    assert store.get("alpha").max_turns == 8


def test_what_a_turn_puts_there_between_the_look_and_the_word_is_not_followed(api, alpha):
    replaced(alpha, "name: Alpha\nmaxTurns: 7\n")
    shown = waiting(api)["etag"]
    (alpha / "project.yaml").write_text("name: Alpha\nmaxTurns: 99\n")

    answer = api.post(URL, {"etag": shown})

    assert (answer.status_code, answer.json()["code"]) == (409, "stale")
    assert store.get("alpha").error == covered.DOUBTED
    assert "maxTurns" not in store.get("alpha").data


def test_neither_comes_what_it_brings_back_after_the_word(api, alpha):
    replaced(alpha, "name: Alpha\nmaxTurns: 7\n")
    api.post(URL, {"etag": waiting(api)["etag"]})

    for text in ("name: Alpha\n", "name: Alpha\nmaxTurns: 99\n"):
        (alpha / "project.yaml").write_text(text)
        assert store.get("alpha").error == covered.DOUBTED
        assert store.get("alpha").max_turns == 7


def test_the_word_of_a_turn_is_none(api, alpha):
    token, digest = tokens.new_token()
    about: dict[str, Any] = {"project": "alpha", "sender": {}, "max_turns": 1, "spawn_limit": 0}
    now = datetime.now(UTC)
    Turn.objects.create(id=ids.turn_id(), created=now, token_hash=digest, state="running", **about)
    replaced(alpha, "name: Alpha\nmaxTurns: 7\n")

    body, bearer = {"etag": waiting(api)["etag"]}, {"Authorization": f"Bearer {token}"}
    refused = api.ask("POST", URL, body, bearer)

    assert (refused.status_code, refused.json()["error"]) == (403, doubted.NOT_A_PERSON)
    assert store.get("alpha").error == covered.DOUBTED


def test_what_is_not_seen_is_written_out(api, alpha):
    replaced(alpha, "name: Alpha\npath: /tmp/\u202egpj\u200b\n")
    (change,) = waiting(api)["changes"]
    assert change["after"] == 'path: "/tmp/\\u202egpj\\u200b"\n'


def test_after_the_turn_the_word_is_enough_without_another_save(api, alpha):
    with covered.beside(alpha / "project.yaml", "msg_2"):
        replaced(alpha, "name: Alpha\nmaxTurns: 7\n")
    covered.end(alpha / "project.yaml", "msg_1")
    assert store.get("alpha").error == covered.DOUBTED

    assert api.post(URL, {"etag": waiting(api)["etag"]}).status_code == 200

    assert store.get("alpha").max_turns == 7
    assert covered.recorded_files() == []
