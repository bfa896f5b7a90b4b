"""The setting `notify`: what a channel may be, and what is said of one that is none."""

from __future__ import annotations

import pytest

from workspace.notify import setting

GOOD = {"url": "https://example.com/hook/s3cret", "events": ["failed"]}


def why(entry: object) -> str:
    """The one reason for this entry beside a good one, which goes on."""
    found = setting.read([entry, {**GOOD, "name": "good"}])
    assert [one.name for one in found.channels] == ["good"]
    (reason,) = found.bad.values()
    return reason


def test_each_kind_of_channel_is_read_with_the_events_it_wants():
    found = setting.read([
        {"name": "desk", "command": ["notify-me", "-x"], "env": ["DESK_KEY"], "events": ["asked"]},
        {"url": "env:HOOK", "headers": {"Authorization": "Bearer env:TOKEN"}, "events": ["failed"]},
        {"apprise": "ntfy://topic", "events": ["review", "asked", "review"]},
    ])  # fmt: skip

    assert found.bad == {}
    assert [one.name for one in found.channels] == ["desk", "url-2", "apprise-3"]
    assert found.channels[0].command == ("notify-me", "-x")
    assert found.channels[1].variables == ("HOOK", "TOKEN")
    assert found.channels[2].events == ("review", "asked")
    assert [one.name for one in found.wanting("asked")] == ["desk", "apprise-3"]


def test_what_is_shown_of_a_channel_holds_no_path_that_may_be_a_secret():
    found = setting.read([GOOD, {"apprise": "tgram://s3cret/1", "events": ["asked"]}])

    assert [one.shown for one in found.channels] == ["https://example.com…", "tgram://…"]


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("notify-me", "must be a mapping"),
        ({"events": ["asked"]}, "exactly one of command, url and apprise"),
        ({**GOOD, "command": ["x"]}, "exactly one of command, url and apprise"),
        ({"command": "notify-me --loud", "events": ["asked"]}, "command: must be a list"),
        ({"command": ["sleep", 3], "events": ["asked"]}, "in quotes where it is a number"),
        ({"command": []}, "events: must be a list"),
        ({**GOOD, "events": ["ask"]}, 'events: "ask" is none of asked, finished'),
        ({**GOOD, "events": "asked"}, "events: must be a list"),
        ({**GOOD, "url": "ftp://example.com"}, "url: must be one http or https URL"),
        ({**GOOD, "url": "https://me:word@example.com"}, "without a login in it"),
        ({**GOOD, "url": "env:SVC_SECRET"}, "url: SVC_SECRET is never passed on"),
        ({**GOOD, "headers": {"X-Key": "abc"}}, "headers.X-Key: a value in the file is refused"),
        ({**GOOD, "env": ["A"]}, "env: is not a key of a url channel"),
        ({**GOOD, "name": "my phone"}, "name: must be 1 to 32 letters"),
        ({**GOOD, "name": "good"}, "name: another channel has it"),
        ({"apprise": "topic", "events": ["asked"]}, "apprise: must be one URL of Apprise"),
    ],
)
def test_a_bad_entry_is_one_sentence_and_the_other_channels_go_on(entry, reason):
    if isinstance(entry, dict) and entry.get("name") == "good":
        found = setting.read([GOOD | {"name": "good"}, entry])
        assert len(found.channels) == 1
        said = found.bad["good (again)"]
    else:
        said = why(entry)

    assert reason in said
    assert said.endswith("; not used")
    assert "s3cret" not in said
    assert "me:word" not in said


def test_what_is_no_list_is_told_as_a_whole():
    assert setting.read({"command": ["x"]}).sentences()[0].startswith("notify: must be a list")
    assert setting.read(None) == setting.Setting()


def test_channels_beyond_the_twentieth_are_not_used():
    found = setting.read([GOOD] * 22)

    assert len(found.channels) == 20
    assert list(found.bad) == ["url-21", "url-22"]
