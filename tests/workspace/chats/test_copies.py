"""A folder of a project that was copied by hand holds the same chat ids, and shares nothing."""

from __future__ import annotations

from shutil import copytree

import pytest

from tests.workspace.chats.world import FAILS, HELLO, USER, World
from workspace.api import chatview
from workspace.chats import actions, files, index, trash
from workspace.chats.turns import queue, worker
from workspace.models import Turn
from workspace.projects import store
from workspace.projects.project import Project


@pytest.fixture
def chat(world: World) -> str:
    """A chat of alpha, and of its copy beta."""
    made = world.chat().chat.id
    world.finish(made, "What is it?", "42.")
    copytree(world.folder / "alpha", world.folder / "beta")
    return made


def beta() -> Project:
    return store.get("beta")


def send(chat: str, prompt: str = HELLO) -> Turn:
    """A message to the chat of the copy."""
    return actions.send(principal=USER, project=beta(), session_id=chat, prompt=prompt).turn


def test_what_waits_and_runs_in_the_copy_is_not_shown_in_the_original(world: World, chat: str):
    turn = send(chat)
    Turn.objects.filter(id=turn.id).update(state="running")

    of_alpha = chatview.view(index.get(world.project, chat))
    of_beta = chatview.view(index.get(beta(), chat))

    assert (of_alpha["running"], of_beta["running"]) == (False, True)
    assert queue.rows(project=world.project, chat=chat) == []
    assert [row.id for row in queue.rows(project=beta(), chat=chat)] == [turn.id]


def test_stop_and_delete_in_the_original_leave_the_turn_of_the_copy_alone(world: World, chat: str):
    turn = send(chat)
    Turn.objects.filter(id=turn.id).update(state="running")

    stopped = queue.stop(project=world.project, chat=chat)
    trash.delete(project=world.project, session_id=chat)

    assert not stopped
    assert Turn.objects.filter(id=turn.id, state="running", stop="").exists()
    assert files.exists("beta", chat)


def test_both_chats_run_at_the_same_time_and_start_at_once(world: World, chat: str):
    first, second = world.send(chat), send(chat)

    assert (first.state, first.position) == ("started", 0)
    assert worker.claim(first.turn.id, "a")
    assert worker.claim(second.id, "b")


def test_a_failed_turn_holds_what_waits_in_its_own_chat_alone(world: World, chat: str):
    failing, behind = world.send(chat, FAILS).turn, world.send(chat).turn
    other = send(chat)

    world.run(failing.id)

    states = dict(Turn.objects.values_list("id", "state"))
    assert (states[behind.id], states[other.id]) == ("held", "queued")
    assert queue.resume(project=beta(), chat=chat) == 0
    assert queue.resume(project=world.project, chat=chat) == 1
