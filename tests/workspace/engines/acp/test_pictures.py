"""Pictures of a message in the prompt of an ACP agent."""

from __future__ import annotations

from typing import Any

import pytest

from tests.workspace.chats.turns.world import only
from tests.workspace.engines.acp.conftest import Agents
from tests.workspace.engines.seen import DATA, attached


def codes(records: list[dict[str, Any]]) -> list[str]:
    return [record["code"] for record in records if record["type"] == "notice"]


def test_an_agent_that_takes_pictures_gets_them(world: Agents):
    world.script([{"say": "A dot."}], image=True)

    records = world.play(prompt="What is it?", images=(attached(world),))

    assert records[-1]["status"] == "ok"
    (prompt,) = world.log("prompt")
    assert prompt["pictures"] == [["image/png", DATA]]
    assert "pictures_unseen" not in codes(records)


@pytest.mark.slow
def test_one_that_takes_none_is_told_where_they_lie_and_the_chat_says_so(world: Agents):
    world.script([{"say": "I look."}])

    records = world.play(prompt="What is it?", images=(attached(world),))

    assert records[-1]["status"] == "ok"
    assert codes(records).count("pictures_unseen") == 1
    assert world.log("prompt")[0]["pictures"] == []


@pytest.mark.slow
def test_one_whose_model_refuses_them_is_asked_again_without(world: Agents):
    fail = {"fail": [-32603, "this model does not support image input"]}
    world.script([fail], [{"say": "I cannot see it."}], image=True)

    records = world.play(prompt="What is it?", images=(attached(world),))

    assert records[-1]["status"] == "ok"
    assert only(records, "assistant")["text"] == "I cannot see it."
    assert codes(records).count("pictures_unseen") == 1
    assert [len(prompt["pictures"]) for prompt in world.log("prompt")] == [1, 0]
