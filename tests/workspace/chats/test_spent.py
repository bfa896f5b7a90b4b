"""What chats used: by turn, summed by chat and by project, from the index alone."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest
from django.apps import apps

from tests.workspace.chats.world import USER, World
from workspace.api import chatview
from workspace.api.projects import _spent_record
from workspace.chats import files, forks, index, messages, spent, transcript
from workspace.models import Chat

USED = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}


def view(world: World, chat: str) -> chatview.Chat:
    return chatview.view(index.get(world.project, chat))


def test_a_turn_tells_model_tokens_cost_and_context(world: World):
    chat = world.chat().chat.id
    context = {"used": 900, "limit": 1000, "engine": "claude"}
    world.finish(chat, "Go", usage=USED, cost=0.25, model="claude-x", context=context)

    lines, _, _ = messages.page(world.project, chat, turns=True)

    end = lines[-1]
    assert (end["model"], end["cost"], end["usage"]) == ("claude-x", 0.25, USED)
    assert end["context"] == {"used": 900, "limit": 1000}
    shown = view(world, chat)
    assert shown["lastTurn"] is not None
    assert shown["lastTurn"]["model"] == "claude-x"
    assert shown["context"] == {"used": 900, "limit": 1000}


def test_what_nobody_reported_is_null(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "Go", usage=None, cost=None)

    shown = view(world, chat)

    assert (shown["usage"], shown["cost"], shown["context"]) == (None, None, None)
    assert _spent_record("alpha") == {"usage": None, "cost": None}


def test_turns_are_summed_by_chat_and_chats_by_project(world: World):
    one, other = world.chat().chat.id, world.chat().chat.id
    world.finish(one, "Go", usage=USED, cost=0.1)
    world.finish(one, "On", usage=USED | {"cacheReadTokens": 3}, cost=0.2)
    world.finish(one, "Fail", status="error", usage=None, cost=None)
    world.finish(other, "Go", usage={"totalTokens": 100}, cost=None)

    shown = view(world, one)
    view(world, other)

    assert (shown["cost"], shown["usage"]) == (
        0.3,
        {
            "inputTokens": 20,
            "outputTokens": 10,
            "cacheReadTokens": 3,
            "cacheWriteTokens": None,
            "totalTokens": 30,
        },
    )
    whole = _spent_record("alpha")
    assert whole["cost"] == 0.3
    assert whole["usage"] is not None
    assert whole["usage"]["totalTokens"] == 130


def test_the_sum_of_a_project_reads_no_transcript(world: World, monkeypatch):
    chat = world.chat().chat.id
    world.finish(chat, "Go", cost=0.5)
    view(world, chat)
    monkeypatch.setattr(transcript, "open_file", lambda *_, **__: pytest.fail("was read"))

    assert _spent_record("alpha")["cost"] == 0.5


def test_a_chat_that_went_on_to_another_engine_shows_no_context_of_the_first(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "Go", context={"used": 9, "limit": None, "engine": "claude"})
    assert view(world, chat)["context"] == {"used": 9, "limit": None}

    files.update(world.project, chat, engine="builtin")

    assert view(world, chat)["context"] is None


@pytest.mark.parametrize("told", [None, 3, {}, {"used": "9"}, {"used": True}, {"used": -1}])
def test_what_is_no_context_is_none(told: Any):
    assert spent.context({"context": told}) is None


def test_the_last_turn_with_a_model_says_what_it_was_told(world: World):
    chat = world.chat().chat.id
    told = [{"name": "AGENTS.md", "bytes": 9, "told": 9, "why": None}]
    with transcript.Writer(str(world.transcript(chat))) as writer:
        writer.append("turn_start", "t1", engine="claude", instructions=told)
        writer.append("turn_start", "t2", engine="runbook")

    assert view(world, chat)["instructions"] == told
    assert "instructions" not in chatview.views([index.get(world.project, chat)])[0]


def test_turns_from_before_the_upgrade_are_counted(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "Go", cost=0.5)
    index.get(world.project, chat)
    Chat.objects.filter(id=chat).update(cost=None)  # as an older version left it
    import_module("workspace.migrations.0008_spent").read_again(apps, None)
    index._folders.clear()

    assert view(world, chat)["cost"] == 0.5


def fork(world: World, chat: str, **values: Any) -> str:
    made = forks.fork(principal=USER, project=world.project, session_id=chat, **values)
    return made.chat.id


def forget() -> None:
    """What this process and the table know of chats, so that all is read again."""
    index._folders.clear()
    Chat.objects.all().delete()


@pytest.mark.parametrize("known", [True, False])
def test_what_was_spent_before_a_fork_is_the_source_s_alone(world: World, known: bool):
    chat = world.chat().chat.id
    first = world.finish(chat, "Go", usage=USED, cost=0.25)
    world.finish(chat, "On", usage=USED, cost=0.25)
    view(world, chat)
    whole, part = fork(world, chat), fork(world, chat, turn=first)
    deeper = fork(world, whole)
    world.finish(whole, "Mine", usage={"totalTokens": 7}, cost=0.5)
    if not known:
        forget()

    shown = {one: view(world, one) for one in (chat, whole, part, deeper)}

    assert [shown[one]["cost"] for one in shown] == [0.5, 0.5, None, None]
    assert shown[part]["usage"] is shown[deeper]["usage"] is None
    total = _spent_record("alpha")
    assert total["cost"] == 1.0
    assert total["usage"] is not None
    assert total["usage"]["totalTokens"] == 37


def test_forks_from_before_the_upgrade_lose_what_they_had_inherited(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "Go", usage=USED, cost=0.25)
    child = fork(world, chat)
    view(world, chat)
    view(world, child)
    Chat.objects.filter(id=child).update(usage=USED, cost=0.25)  # as an older version left it
    before = Chat.objects.get(id=chat).transcript_stat
    import_module("workspace.migrations.0014_own_usage").read_again(apps, None)
    index._folders.clear()

    assert view(world, child)["cost"] is None
    assert Chat.objects.get(id=chat).transcript_stat == before
