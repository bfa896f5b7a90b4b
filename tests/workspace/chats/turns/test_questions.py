"""Questions of a running turn: kept in its row while they are open, and told to who listens."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from dataclasses import asdict
from datetime import timedelta
from typing import Any

import pytest

from tests.service import until
from tests.workspace.chats.world import FAILS, HELLO, World, ended
from workspace import signals
from workspace.chats.turns import questions, queue
from workspace.models import Turn

ASKS = "#!runbook\n```Bash\necho asked\n```\n"


class Heard:
    """What receivers of all processes were told, in order: [(name of the signal, happening)]."""

    def __init__(self) -> None:
        self.pipe = multiprocessing.get_context("fork").SimpleQueue()
        self.told: list[tuple[str, dict[str, Any]]] = []

    def hear(self, happening: Any, **_: object) -> None:
        self.pipe.put((type(happening).__name__, asdict(happening)))

    def until(self, name: str) -> dict[str, Any]:
        until(lambda: self.all(name), what=name)
        return self.all(name)[-1]

    def all(self, name: str) -> list[dict[str, Any]]:
        while not self.pipe.empty():
            self.told.append(self.pipe.get())
        return [one for kind, one in self.told if kind == name]


@pytest.fixture
def heard() -> Iterator[Heard]:
    heard = Heard()
    every = (signals.asked, signals.answered, signals.turn_ended, signals.run_ended)
    for signal in every:
        signal.connect(heard.hear)
    yield heard
    for signal in every:
        signal.disconnect(heard.hear)


@pytest.fixture
def asking(world: World) -> World:
    """Turns of people ask before they run a command."""
    world.write("name: Alpha\npermissionMode: default\n")
    return world


def begun(world: World, prompt: str = ASKS) -> tuple[Turn, Any]:
    turn = world.chat(prompt).turn
    assert turn is not None
    return turn, world.work(turn.id)


def test_an_open_question_stands_in_the_row_and_is_told(asking: World, heard: Heard):
    turn, process = begun(asking)

    told = heard.until("Asked")

    (kept,) = questions.waiting(Turn.objects.get(id=turn.id))
    assert (kept["tool"], kept["summary"]) == ("Bash", "echo asked")
    assert (told["project"], told["chat"], told["turn"]) == ("alpha", turn.chat, turn.id)
    assert (told["call"], told["tool"], told["summary"]) == (kept["call"], "Bash", "echo asked")
    assert timedelta(seconds=590) < told["until"] - told["since"] < timedelta(seconds=610)
    queue.answer(project=asking.project, chat=turn.chat, call=kept["call"], allow=True)
    assert questions.waiting(Turn.objects.get(id=turn.id)) == []
    ended(process)


def test_an_answer_is_told_with_who_gave_it(asking: World, heard: Heard):
    turn, process = begun(asking)
    call = heard.until("Asked")["call"]

    queue.answer(project=asking.project, chat=turn.chat, call=call, allow=True)
    ended(process)

    answer = heard.until("Answered")
    assert (answer["call"], answer["allowed"], answer["by"]) == (call, True, "user")
    assert Turn.objects.get(id=turn.id).asks == []


def test_a_question_that_a_stop_ends_is_told_as_over(asking: World, heard: Heard):
    turn, process = begun(asking)
    heard.until("Asked")

    assert queue.stop(project=asking.project, chat=turn.chat)
    ended(process)

    answer = heard.until("Answered")
    assert (answer["allowed"], answer["by"]) == (False, "stop")


def test_what_the_gate_denies_unasked_is_no_question(asking: World, heard: Heard):
    turn = asking.fired(ASKS, tools=["Read"])

    asking.run(turn.id)

    assert heard.until("TurnEnded")["turn"] == turn.id
    assert (heard.all("Asked"), heard.all("Answered")) == ([], [])


@pytest.mark.parametrize(("prompt", "state"), [(HELLO, "done"), (FAILS, "failed")])
def test_the_end_of_a_turn_is_told_once(world: World, heard: Heard, prompt: str, state: str):
    turn, process = begun(world, prompt)
    ended(process)

    told = heard.until("TurnEnded")

    assert len(heard.all("TurnEnded")) == 1
    assert (told["turn"], told["state"], told["run"], told["trigger"]) == (turn.id, state, "", "")
    assert bool(told["reason"]) == (state == "failed")
    assert 0 <= told["seconds"] < 60


def test_the_end_of_a_fired_turn_names_its_trigger_and_run(world: World, heard: Heard):
    turn = world.fired(HELLO)

    world.run(turn.id)

    told = heard.until("TurnEnded")
    assert (told["trigger"], told["run"]) == (turn.sender["name"], turn.run_id)
