"""Pictures reach the model: those of a message, and those that Read finds."""

from __future__ import annotations

import json

import pytest

from tests.stubs.openai import text, use
from tests.workspace.engines.builtin.talk import end, notices, of, result
from tests.workspace.engines.seen import DATA, PNG, attached, pictures
from workspace.engines import sandbox
from workspace.engines.message.pictures import BYTES
from workspace.engines.sandbox import Sandbox

BWRAP = sandbox.probe("bwrap", hide=(), scratch="/tmp")
SEEN = [f"data:image/png;base64,{DATA}"]


@pytest.mark.slow
def test_a_picture_of_a_message_is_seen_in_this_turn_and_the_next(talk, stub, world):
    path = attached(world)
    stub.say(text("A dot."))
    records = talk.run("What is it?", images=(path,))
    stub.say(text("Still a dot."))
    talk.run("Sure?")

    assert end(records) == ("ok", None)
    assert [pictures(asked) for asked in stub.asked] == [SEEN, SEEN]
    assert DATA not in json.dumps(world.records())
    assert "What is it?" in stub.asked[0].messages[0][1]


@pytest.mark.slow
def test_a_picture_that_is_gone_or_replaced_is_not_shown_and_harms_nothing(talk, stub, world):
    path = attached(world)
    stub.say(text("A dot."))
    talk.run("What is it?", images=(path,))
    attached(world, data=b"#!/bin/sh\n")
    stub.say(text("I do not see it."))
    records = talk.run("Sure?")

    assert end(records) == ("ok", None)
    assert pictures(stub.asked[1]) == []
    assert "a picture that is not shown any more" in json.dumps(stub.asked[1].body)


@pytest.mark.slow
@pytest.mark.parametrize("data", [b"<svg/>", PNG + b"\0" * BYTES])
def test_what_is_no_picture_or_too_large_is_named_and_the_turn_goes_on(talk, stub, world, data):
    paths = (attached(world), attached(world, "other-0a1b2c3d4e5f.png", data))
    stub.say(text("One dot."))

    records = talk.run("What are they?", images=paths)

    assert end(records) == ("ok", None)
    assert pictures(stub.asked[0]) == SEEN
    told = next(one for one in of(records, "notice") if one["code"] == "pictures_left_out")
    assert "other-0a1b2c3d4e5f.png" in told["text"]


def test_a_link_out_of_the_attachments_is_not_followed(talk, stub, world):
    (world.root / "secret.png").write_bytes(PNG)
    path = attached(world)
    (world.project / ".svc/attachments/shot-0a1b2c3d4e5f.png").unlink()
    (world.project / ".svc/attachments/shot-0a1b2c3d4e5f.png").symlink_to(world.root / "secret.png")
    stub.say(text("Nothing."))

    talk.run("What is it?", images=(path,))

    assert pictures(stub.asked[0]) == []


@pytest.mark.slow
def test_read_shows_a_picture(talk, stub, world):
    (world.project / "dot.png").write_bytes(PNG)
    stub.say(use("Read", {"file_path": "dot.png"}))
    stub.say(text("A dot."))
    records = talk.run("Look at dot.png")
    stub.say(text("Yes."))
    talk.run("Sure?")

    assert result(records) == (False, f"[picture: image/png, {len(PNG)} bytes]")
    assert [pictures(asked) for asked in stub.asked] == [[], SEEN, []]
    assert DATA not in json.dumps(world.records())


@pytest.mark.skipif(BWRAP.mode != "bwrap", reason=f"{BWRAP.reason}: apt-get install bubblewrap")
def test_read_shows_a_picture_from_within_the_sandbox(talk, stub, world):
    hide = (str(world.root / "data"), str(world.root / "projects"))
    (world.project / "dot.png").write_bytes(PNG)
    stub.say(use("Read", {"file_path": "dot.png"}))
    stub.say(text("A dot."))

    talk.run("Look at dot.png", sandbox=Sandbox("bwrap", "auto", None, hide))

    assert pictures(stub.asked[1]) == SEEN


@pytest.mark.slow
def test_read_of_another_binary_file_is_an_error_as_before(talk, stub, world):
    (world.project / "a.bin").write_bytes(b"\0\1")
    stub.say(use("Read", {"file_path": "a.bin"}))
    stub.say(text("No."))
    assert result(talk.run("Look")) == (True, "not a text file")


@pytest.mark.slow
def test_a_model_that_takes_no_pictures_is_asked_without_them_and_that_is_said_once(
    talk, stub, world
):
    path = attached(world)
    stub.fail(500, times=3, message="image input is not supported - provide the mmproj")
    stub.say(text("I cannot see it."))
    records = talk.run("What is it?", images=(path,))

    assert end(records) == ("ok", None)
    assert notices(records).count("pictures_unseen") == 1
    assert pictures(stub.asked[-1]) == []
    known = next(one["state"] for one in of(records, "engine") if "state" in one)
    assert known == {"blind": ["local:m"]}

    before = len(stub.asked)
    stub.say(text("Still not."))
    records = talk.run("Sure?", engine_ref=known)
    assert "pictures_unseen" not in notices(records)
    assert (len(stub.asked), pictures(stub.asked[-1])) == (before + 1, [])


@pytest.mark.slow
def test_an_error_without_pictures_is_what_it_says(talk, stub):
    stub.fail(400, message="no vision of the future")
    records = talk.run("What is it?")
    assert end(records) == ("error", "api_error")
    assert len(stub.asked) == 1
