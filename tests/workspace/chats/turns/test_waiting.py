"""A turn whose provider refuses it for now: it waits, keeps its place, and is tried again."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib import util
from typing import Any
from unittest.mock import ANY

import pytest

from config.retry import RetrySetting
from tests.stubs import openai
from tests.stubs.openai import text, use
from tests.workspace.chats.world import World
from workspace.chats.turns import queue, recovery, retries, waiting, worker
from workspace.engines import select
from workspace.engines.base import End, Job
from workspace.models import Run, Turn
from workspace.triggers import runs

LIMITED = End("error", "rate_limited", "No more requests now.")


def job(attempt: int = 1, **retry: Any) -> Job:
    standard = {"times": 5, "seconds": 1800, "try": attempt, "since": 1000.0}
    return Job(
        turn="msg_a", chat="c", project="alpha", cwd="/", chats_dir="/", run_dir="/", worker_pid=1,
        prompt="x", message="x", sender={}, engine="builtin", retry=standard | retry,
    )  # fmt: skip


def test_pauses_grow_and_fill_the_time_that_is_allowed():
    at = 1000.0
    pauses = []
    for attempt in range(1, 6):
        wait = waiting.next_try(job(attempt), LIMITED, at)
        assert wait is not None
        assert (wait.number, wait.of) == (attempt + 1, 6)
        pauses.append(wait.at - at)
        at = wait.at

    assert 46 <= pauses[0] <= 59
    assert sorted(pauses) == pauses
    assert 1400 <= sum(pauses) <= 1800
    assert waiting.next_try(job(6), LIMITED, at) is None


def test_the_time_that_the_provider_asks_for_is_kept_up_to_what_is_allowed():
    wait = waiting.next_try(job(), LIMITED._replace(after=40.0), 1000.0)
    assert wait is not None
    assert 1040 <= wait.at <= 1041

    late = LIMITED._replace(after=7200.0)
    assert waiting.next_try(job(), late, 1000.0) is None
    assert waiting.given_up(job(), late).text == (
        "No more requests now. It asks to wait 2 h; engines.retry waits 30 min at most."
    )


@pytest.mark.parametrize(
    ("retry", "end"),
    [
        ({"times": 0}, LIMITED),
        ({}, LIMITED._replace(after=float("inf"))),  # a quota that is used up
        ({}, End("error", "api_error", "broken")),
        ({"since": -1000.0}, LIMITED),
    ],
)
def test_what_is_not_waited_for_ends(retry, end):
    assert waiting.next_try(job(**retry), end, 1000.0) is None
    if end.after or end.reason == "api_error":
        assert waiting.given_up(job(**retry), end) == end


def test_the_last_try_says_how_often_it_was_tried():
    assert waiting.given_up(job(6), LIMITED).text == "No more requests now. It was tried 6 times."


def test_what_all_tries_used_is_summed_as_far_as_it_is_known():
    end = LIMITED._replace(turns=2, usage={"inputTokens": 5}, cost=None)
    found = waiting.with_earlier_usage(end, {"turns": 1, "usage": {"inputTokens": 7}, "cost": 0.5})
    assert (found.turns, found.usage, found.cost) == (3, {"inputTokens": 12}, 0.5)
    assert waiting.with_earlier_usage(LIMITED, None) == LIMITED


@pytest.fixture
def stub(world: World, settings) -> Iterator[openai.Stub]:
    if not all(util.find_spec(package) for package in ("pydantic_ai", "openai")):
        pytest.skip("the builtin engine is not installed (requirements-models.txt)")
    with openai.serve() as served:
        served.models = ["plum"]
        settings.SVC = dataclasses.replace(
            settings.SVC, local_model_url=served.url, retry=RetrySetting(2, 600)
        )
        select.probe_again()
        yield served
        assert served.unscripted == []
    select.probe_again()


def refuse(stub: openai.Stub, *blocks: Any, after: int = 60) -> None:
    """The next answer: come back later."""
    stub.say(*blocks, status=429, message="slow down", headers={"Retry-After": str(after)})


def sent(world: World, prompt: str = "Which word?", **values: Any) -> Turn:
    turn = world.chat(prompt, model="local:plum", **values).turn
    assert turn is not None
    return turn


def waits(world: World, stub: openai.Stub, prompt: str = "Which word?") -> Turn:
    """A turn that was refused once."""
    refuse(stub)
    turn = world.run(sent(world, prompt).id)
    assert turn.state == "waiting"
    return turn


def fired(world: World, stub: openai.Stub) -> Turn:
    """The turn of a trigger's run that was refused once."""
    refuse(stub)
    turn = world.fired("Which word?", tools=[])
    Run.objects.update(status="queued")
    turn = world.run(turn.id)
    runs.follow(turn)
    return turn


def later(**by: float) -> datetime:
    return datetime.now(UTC) + timedelta(**by)


def test_a_refused_turn_waits_and_its_next_try_completes_it(world: World, stub):
    before = datetime.now(UTC)
    turn = waits(world, stub)

    assert turn.retry_at is not None
    assert 59 <= (turn.retry_at - before).total_seconds() <= 75
    assert (turn.token_hash, turn.lease_until, turn.claim) == ("", None, "")
    wait = world.records(turn.chat)[-1]
    assert (wait["type"], wait["status"], wait["try"], wait["of"]) == ("turn_wait", "waiting", 2, 3)
    (row,) = queue.view([turn])
    assert (row["state"], row["position"]) == ("waiting", 0)
    shown = row["waiting"]
    assert (shown["tries"], shown["of"], shown["turn"]) == (1, 3, turn.id)
    assert "slow down" in shown["reason"]

    assert retries.release_due(later(seconds=50)) == 0
    assert retries.release_due(later(seconds=80)) == 1
    assert retries.release_due(later(seconds=80)) == 0
    stub.say(text("Plum."))
    done = world.run(turn.id)

    assert done.state == "done"
    assert [asked.messages for asked in stub.asked] == [[("user", "Which word?")]] * 2
    kinds = [record["type"] for record in world.records(turn.chat)]
    assert (kinds.count("turn_start"), kinds.count("user"), kinds.count("turn_end")) == (2, 1, 1)
    assert world.records(turn.chat, "turn_end")[0]["turns"] == 1


@pytest.mark.slow
def test_tools_that_ran_before_a_refusal_are_not_run_again(world: World, stub):
    stub.say(text("I write."), use("Bash", {"command": "echo once >> ran"}, call="call_a"))
    turn = waits(world, stub)
    assert (world.folder / "alpha/ran").read_text() == "once\n"

    retries.release_due(later(seconds=80))
    stub.say(use("Bash", {"command": "echo twice >> ran"}))
    stub.say(text("Done."))
    done = world.run(turn.id)

    assert done.state == "done"
    assert stub.asked[2].messages == [("user", "Which word?"), ("assistant", "I write.")]
    assert list(stub.asked[2].results) == ["call_a"]
    assert (world.folder / "alpha/ran").read_text() == "once\ntwice\n"
    end = world.records(turn.chat, "turn_end")[0]
    assert (end["turns"], end["usage"]["inputTokens"]) == (3, 30)
    calls = [record["call"] for record in world.records(turn.chat, "tool_use")]
    assert len({*calls}) == 2


@pytest.mark.slow
def test_later_messages_wait_behind_a_turn_that_waits(world: World, stub):
    turn = waits(world, stub)
    behind = world.send(turn.chat)

    assert (behind.state, behind.position) == ("queued", 1)
    assert world.run(behind.turn.id).state == "queued"
    recovery.sweep()
    assert world.states(turn.chat) == ["waiting", "queued"]


@pytest.mark.slow
def test_a_second_delivery_of_a_turn_that_waits_does_nothing(world: World, stub):
    turn = waits(world, stub)
    assert world.run(turn.id).state == "waiting"
    assert len(stub.asked) == 1


def test_stop_ends_the_waiting_and_holds_what_is_behind(world: World, stub):
    turn = waits(world, stub)
    world.send(turn.chat)

    assert queue.stop(project=world.project, chat=turn.chat)

    assert world.states(turn.chat) == ["stopped", "held"]
    assert world.records(turn.chat)[-1]["status"] == "stopped"
    assert retries.release_due(later(hours=1)) == 0
    assert world.run(turn.id).state == "stopped"


@pytest.mark.slow
def test_a_try_that_is_on_its_way_is_stopped_and_not_taken_out(world: World, stub):
    turn = waits(world, stub)
    assert retries.try_now(project=world.project, chat=turn.chat)
    turn.refresh_from_db()
    assert turn.state == "queued"

    assert not queue.withdraw(turn, on_change=lambda _: None)
    assert queue.cancel(turn)

    assert world.states(turn.chat) == ["stopped"]
    assert world.records(turn.chat)[-1]["type"] == "turn_end"


@pytest.mark.slow
def test_trying_now_is_possible_once(world: World, stub):
    turn = waits(world, stub)
    tried = [retries.try_now(project=world.project, chat=turn.chat) for _ in range(2)]
    assert tried == [True, False]

    stub.say(text("Plum."))
    assert world.run(turn.id).state == "done"


@pytest.mark.slow
def test_a_turn_that_is_refused_each_time_fails_and_says_how_often(world: World, stub):
    turn = waits(world, stub)
    for _ in range(2):
        retries.try_now(project=world.project, chat=turn.chat)
        refuse(stub)
        world.run(turn.id)

    turn.refresh_from_db()
    assert turn.state == "failed"
    assert turn.reason.endswith("slow down (HTTP 429). It was tried 3 times.")
    (notice,) = [one for one in world.records(turn.chat, "notice") if one["level"] == "error"]
    assert notice["code"] == "rate_limited"


@pytest.mark.slow
def test_a_worker_that_died_behind_the_record_leaves_a_turn_that_waits(world: World, stub):
    turn = waits(world, stub)
    Turn.objects.filter(id=turn.id).update(state="running", retry=None, retry_at=None)

    recovery.sweep()

    found = Turn.objects.get(id=turn.id)
    assert (found.state, found.retry_at) == ("waiting", turn.retry_at)
    assert found.retry == (turn.retry or {}) | {"at": ANY}  # put aside only now


@pytest.mark.slow
def test_a_worker_that_died_before_its_try_began_interrupts_the_turn(world: World, stub):
    turn = waits(world, stub)
    retries.try_now(project=world.project, chat=turn.chat)
    assert worker.claim(turn.id, "digest") is not None
    Turn.objects.filter(id=turn.id).update(lease_until=None)

    assert recovery.sweep() == 1

    assert world.states(turn.chat) == ["interrupted"]
    assert world.records(turn.chat)[-1]["type"] == "turn_end"


@pytest.mark.slow
def test_a_person_who_stopped_it_meanwhile_is_heard(world: World, stub):
    turn = waits(world, stub)
    Turn.objects.filter(id=turn.id).update(state="running", stop="user", retry=None, retry_at=None)

    recovery.sweep()

    assert world.states(turn.chat) == ["stopped"]


@pytest.mark.slow
def test_a_clock_that_was_set_back_does_not_make_it_wait_longer(world: World, stub):
    turn = waits(world, stub)
    assert list(retries.due(later(seconds=10))) == []
    assert list(retries.due(later(days=-1))) == [turn]


@pytest.mark.slow
def test_a_run_goes_on_while_its_turn_waits_and_says_so(world: World, stub):
    turn = fired(world, stub)
    run = runs.get(turn.run_id or "")
    assert run.status == "running"
    assert run.reason.startswith("waits until 20")
    assert "try 2 of 3" in run.reason

    retries.try_now(project=world.project, chat=turn.chat)
    stub.say(text("Plum."))
    turn = world.run(turn.id)
    runs.follow(turn)

    run.refresh_from_db()
    assert (run.status, run.reason, run.turns) == ("completed", "", 1)


@pytest.mark.slow
def test_a_run_that_is_cancelled_while_its_turn_waits_ends(world: World, stub):
    turn = fired(world, stub)

    assert runs.cancel(turn.run_id or "")

    assert runs.get(turn.run_id or "").status == "cancelled"
