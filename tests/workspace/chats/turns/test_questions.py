"""Questions of a running turn: kept in its row while they are open, and told to who listens."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from config.errors import Invalid
from config.logs import timestamp
from tests.service import until
from tests.workspace.chats.world import FAILS, HELLO, World, ended
from workspace import signals
from workspace.chats import files
from workspace.chats.turns import answers, questions, queue, recovery, worker
from workspace.models import Run, Turn
from workspace.triggers import runs

ASKS = "#!runbook\n```Bash\necho asked\n```\n"


class Heard:
    """What receivers of all processes were told, in order: [(name of the signal, happening)]."""

    def __init__(self) -> None:
        self.pipe = multiprocessing.get_context("fork").SimpleQueue()
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.given = 0  # answers of the test

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
    answers.answer(project=asking.project, chat=turn.chat, call=kept["call"], allow=True)
    assert questions.waiting(Turn.objects.get(id=turn.id)) == []
    ended(process)


def test_an_answer_is_told_with_who_gave_it(asking: World, heard: Heard):
    turn, process = begun(asking)
    call = heard.until("Asked")["call"]

    answers.answer(project=asking.project, chat=turn.chat, call=call, allow=True)
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


TWICE = "#!runbook\n```Bash\necho one\n```\n```Bash\necho one two\n```\n"


def allowed(world: World, chat: str) -> list[str]:
    return list(world.record(chat).get("allow", []))


def answered(world: World, heard: Heard, turn: Turn, **answer: Any) -> str | None:
    """Answer the question that is open now, once its worker has told of it."""
    until(lambda: len(heard.all("Asked")) > heard.given, what="a question")
    call = heard.all("Asked")[-1]["call"]
    rule = answers.answer(project=world.project, chat=turn.chat, call=call, **answer)
    heard.given += 1
    return rule


def test_what_is_allowed_in_a_chat_is_not_asked_again_in_it(asking: World, heard: Heard):
    turn, process = begun(asking, TWICE)

    rule = answered(asking, heard, turn, allow=True, in_chat=True)
    ended(process)
    later = asking.send(turn.chat, "#!runbook\n```Bash\necho one three\n```\n").turn
    asking.run(later.id)

    assert rule == "Bash(echo one)"
    assert allowed(asking, turn.chat) == [rule]
    assert len(heard.all("Asked")) == 1
    assert [one["text"] for one in asking.records(turn.chat, "tool_result")] == [
        "one",
        "one two",
        "one three",
    ]


def test_another_chat_and_an_unattended_turn_are_not_spared(asking: World, heard: Heard):
    turn, process = begun(asking, TWICE)
    answered(asking, heard, turn, allow=True, in_chat=True)
    ended(process)

    fired = asking.fired("#!runbook\n```Bash\necho one\n```\n")
    record = files.record_path(asking.project, fired.chat)
    record.write_text(f"{record.read_text()}allow:\n- Bash(echo one)\n")
    done = asking.run(fired.id)

    assert "nobody is attending" in str(asking.records(fired.chat, "permission"))
    assert done.state == "failed"
    assert len(heard.all("Asked")) == 1


def test_what_is_taken_back_is_asked_for_again_at_once(asking: World, heard: Heard):
    three = TWICE + "```Bash\necho between\n```\n```Bash\necho one three\n```\n"
    turn, process = begun(asking, three)
    answered(asking, heard, turn, allow=True, in_chat=True)
    until(lambda: len(heard.all("Asked")) == 2, what="the question between")

    assert answers.revoke(project=asking.project, chat=turn.chat, rule="Bash(echo one)")
    answered(asking, heard, turn, allow=True)
    answered(asking, heard, turn, allow=True)
    ended(process)

    asked = [one["summary"] for one in heard.all("Asked")]
    assert asked == ["echo one", "echo between", "echo one three"]
    assert allowed(asking, turn.chat) == []
    assert not answers.revoke(project=asking.project, chat=turn.chat, rule="Bash(echo one)")


def test_a_shell_is_not_allowed_for_a_chat_and_the_question_stays_open(asking: World, heard: Heard):
    turn, process = begun(asking, "#!runbook\n```Bash\nbash -c 'echo asked'\n```\n")

    with pytest.raises(Invalid, match="allow this once"):
        answered(asking, heard, turn, allow=True, in_chat=True)

    assert allowed(asking, turn.chat) == []
    answered(asking, heard, turn, allow=True)
    ended(process)


def test_the_agent_is_told_why_it_is_denied(asking: World, heard: Heard):
    turn, process = begun(asking)

    answered(asking, heard, turn, allow=False, reason="use make instead\n")
    ended(process)

    (result,) = asking.records(turn.chat, "tool_result")
    assert result["text"] == "Bash was denied by the user, who says: use make instead"


@pytest.mark.slow
def test_a_question_that_somebody_sees_waits_anew_but_not_for_ever(
    asking: World, heard: Heard, settings: Any
):
    settings.SVC = replace(settings.SVC, ask_seconds=3)
    turn, process = begun(asking)
    told = heard.until("Asked")
    settings.SVC = replace(settings.SVC, ask_seconds=60 * 60 * 30)

    kept = answers.keep_waiting(project=asking.project, chat=turn.chat, call=told["call"])

    assert kept is not None
    assert kept - told["since"] == timedelta(hours=24)
    until(lambda: datetime.now(UTC) > told["until"] + timedelta(seconds=1), what="its first end")
    assert questions.waiting(Turn.objects.get(id=turn.id))[0]["until"] == timestamp(kept)
    answered(asking, heard, turn, allow=True)
    ended(process)
    assert Turn.objects.get(id=turn.id).state == "done"


@pytest.mark.slow
def test_the_time_of_a_turn_stands_still_while_somebody_sees_its_question(
    asking: World, heard: Heard, settings: Any
):
    settings.SVC = replace(settings.SVC, turn_seconds=2)
    turn, process = begun(asking)
    told = heard.until("Asked")
    answers.keep_waiting(project=asking.project, chat=turn.chat, call=told["call"])

    until(lambda: datetime.now(UTC) > told["since"] + timedelta(seconds=5), what="its time")
    answered(asking, heard, turn, allow=True)
    ended(process)

    assert Turn.objects.get(id=turn.id).state == "done"


def waiting(world: World) -> tuple[Turn, Any]:
    """A turn of a trigger that waits for a person, and its worker."""
    turn = world.fired(ASKS, waits=True)
    Run.objects.filter(id=turn.run_id).update(status="queued")
    return turn, world._fork(follows, turn.id)


def test_a_turn_nobody_attends_may_wait_for_a_person(asking: World, heard: Heard):
    turn, process = waiting(asking)

    told = heard.until("Asked")

    assert told["until"] - told["since"] > timedelta(hours=23)
    answered(asking, heard, turn, allow=True)
    ended(process)
    assert Turn.objects.get(id=turn.id).state == "done"


def test_its_run_says_what_it_waits_for(asking: World, heard: Heard):
    turn, process = waiting(asking)
    heard.until("Asked")

    run = Run.objects.get(id=turn.run_id)

    assert (run.status, run.reason) == ("running", "waits for a person: Bash echo asked")
    answered(asking, heard, turn, allow=True)
    ended(process)
    run.refresh_from_db()
    assert (run.status, run.reason) == ("completed", "")


def follows(turn_id: str) -> None:
    worker.run(turn_id, on_change=runs.follow)


def test_waiting_gives_it_nothing_but_the_answer(asking: World, heard: Heard):
    """The list, the rules of its chat and the files stay what they were."""
    turn = asking.fired(
        "#!runbook\n```Write file_path=project.yaml allow_failure\nx\n```\n```Bash\nls\n```\n",
        waits=True, tools=["Read"], mode="acceptEdits",
    )  # fmt: skip
    other = asking.fired(ASKS, waits=True)
    record = files.record_path(asking.project, other.chat)
    record.write_text(f"{record.read_text()}allow:\n- Bash(echo asked)\n")

    assert asking.run(turn.id).state == "failed"
    assert heard.all("Asked") == []
    process = asking.work(other.id)
    assert heard.until("Asked")["summary"] == "echo asked"
    answered(asking, heard, other, allow=False)
    ended(process)


def test_half_of_the_places_stay_free_of_turns_that_wait(
    asking: World, heard: Heard, settings: Any
):
    settings.SVC = replace(settings.SVC, running_turns=2)
    first, process = waiting(asking)
    heard.until("Asked")

    second = asking.run(asking.fired(ASKS, waits=True).id)

    assert second.state == "failed"
    (denied,) = [
        one for one in asking.records(second.chat, "permission") if one["state"] == "denied"
    ]
    assert (denied["by"], denied["reason"]) == ("policy", questions.CROWDED)
    queue.stop(project=asking.project, chat=first.chat)
    ended(process)


def test_a_worker_that_is_lost_while_it_waits_ends_the_turn_and_says_so(
    asking: World, heard: Heard
):
    turn, process = waiting(asking)
    heard.until("Asked")

    process.kill()
    process.join(10)
    until(lambda: recovery.sweep(on_change=runs.follow) or recovered(turn), what="the sweep")

    done = Turn.objects.get(id=turn.id)
    assert (done.state, "waited for a person's answer" in done.reason) == ("interrupted", True)
    run = Run.objects.get(id=turn.run_id)
    assert (run.status, run.reason) == ("interrupted", done.reason)
    assert questions.waiting(done) == []


def recovered(turn: Turn) -> bool:
    return Turn.objects.get(id=turn.id).state == "interrupted"
