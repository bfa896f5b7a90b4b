"""The channels over REST: as they are written, tried by a press; and who looks at a chat."""

from __future__ import annotations

import sys

import pytest

from tests.stubs.receiver import Receiver, receiving
from tests.workspace.notify.world import channels
from workspace.notify import presence, sending, setting
from workspace.notify.tables import NotifyChannel

PAGE = {"page": "abc123"}


@pytest.fixture
def receiver():
    with receiving() as stub:
        yield stub


def test_channels_are_listed_without_their_secrets(api, settings):
    channels(
        settings,
        {"name": "team", "url": "https://example.com/hooks/s3cret", "events": ["failed"]},
        {"name": "phone", "apprise": "tgram://s3cret-token/1", "events": ["asked"]},
        {"name": "odd", "url": "https://example.com", "events": ["all"]},
    )

    answer = api.get("/api/notify")

    assert "s3cret" not in answer.content.decode()
    body = answer.json()
    assert [one["name"] for one in body["channels"]] == ["team", "phone"]
    assert body["channels"][0] == {
        "name": "team", "kind": "url", "shown": "https://example.com…", "events": ["failed"],
        "state": "untried", "error": None, "since": None, "waiting": 0, "givenUp": 0,
        "delivered": None,
    }  # fmt: skip
    assert body["problems"][0].startswith('notify odd: events: "all" is none of asked')
    assert body["file"].endswith("svc.config.yaml")


def test_a_test_says_at_once_whether_it_was_taken(api, settings, receiver: Receiver):
    channels(settings, {"name": "hook", "url": receiver.url, "events": ["failed"]},
             {"name": "desk", "command": [sys.executable, "-c", "exit(2)"],
              "events": ["failed"]})  # fmt: skip

    assert api.post("/api/notify/hook/test").json() == {"ok": True, "error": None}
    assert api.post("/api/notify/desk/test").json() == {"ok": False, "error": "exit code 2"}
    assert sending.send(setting.current().channels[1], {}) == "exit code 2"

    assert receiver.got[0]["event"] == "test"
    assert receiver.got[0]["url"].endswith("/settings")
    states = {one["name"]: one["state"] for one in api.get("/api/notify").json()["channels"]}
    assert states == {"hook": "works", "desk": "failing"}
    assert NotifyChannel.objects.get(name="desk").error == "exit code 2"


def test_a_channel_that_is_not_there_is_404_with_those_that_are(api, settings):
    channels(settings, {"name": "hook", "url": "https://example.com", "events": ["failed"]})

    answer = api.post("/api/notify/fax/test")

    assert answer.status_code == 404
    assert answer.json()["error"] == "no channel is called fax (svc.config.yaml has: hook)"


def test_a_page_says_that_it_shows_a_chat_and_that_it_does_no_more(api, alpha, settings, tmp_path):
    settings.DATA_DIR = tmp_path
    chat = api.post("/api/projects/alpha/chats", {}).json()["chat"]["sessionId"]
    look = f"/api/projects/alpha/chats/{chat}/look"

    assert api.post(look, PAGE).json() == {"ok": True}
    assert presence.looked_at(chat)
    assert api.post(look, PAGE | {"looking": False}).json() == {"ok": True}
    assert not presence.looked_at(chat)


@pytest.mark.parametrize("page", ["../x", "", "A", "a" * 33, None])
def test_a_page_names_itself_by_letters_that_make_no_path(api, alpha, page):
    chat = api.post("/api/projects/alpha/chats", {}).json()["chat"]["sessionId"]

    answer = api.post(f"/api/projects/alpha/chats/{chat}/look", {"page": page})

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["field"] == "page"


def test_a_chat_that_is_not_there_is_looked_at_by_nobody(api, alpha):
    missing = "0198c0de-0000-7000-8000-000000000001"

    assert api.post(f"/api/projects/alpha/chats/{missing}/look", PAGE).status_code == 404
