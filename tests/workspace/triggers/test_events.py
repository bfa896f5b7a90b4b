"""Hooks: what archiving a chat fires, and what stops a loop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps

from tests.workspace.chats.world import agent
from tests.workspace.triggers.world import USER, hook, schedule
from workspace.chats import actions, forks
from workspace.chats import files as chat_files
from workspace.chats.turns import tokens
from workspace.models import Run, Turn
from workspace.triggers import commands, events, firing, render, runs


@dataclass(frozen=True)
class TurnOf:
    """A running turn of a chat, as the caller it is in-process."""

    turn: str
    chat: str
    kind: str = "agent"
    client: str = ""
    clients: tuple[str, ...] = ()
    chain: tuple[str, ...] = ()
    spawn_cap: int = 1
    mode_cap: str | None = None
    depth: int = 0

    def sender(self) -> dict[str, Any]:
        return {"kind": "chat", "project": "alpha", "sessionId": self.chat, "name": "x"}


def make_chat(world, principal=USER, name="Old work") -> str:
    return actions.create(principal=principal, project=world.project(), name=name).chat.id


def archive(world, chat: str, principal=USER) -> bool:
    return actions.archive(
        principal=principal,
        project=world.project(),
        session_id=chat,
        archived=True,
        on_archive=events.chat_archived,
    ).changed


def caller_of(turn: Turn) -> TurnOf:
    return TurnOf(turn.id, turn.chat, chain=tuple(turn.chain))


def fired_chat(run: Run) -> TurnOf:
    """The turn that a queued run becomes."""
    return caller_of(Turn.objects.get(run=firing.start(run.id).run))


def say(world, chat: str, principal) -> TurnOf:
    """The turn that a message of this caller becomes."""
    queued = actions.send(
        principal=principal, project=world.project(), session_id=chat, prompt="Go"
    )
    return caller_of(queued.turn)


def test_every_enabled_hook_fires_as_its_own_run_with_the_event_in_front(world):
    for name in ("a", "b"):
        world.put(name, hook())
    world.put("off", hook(enabled=False))
    chat = make_chat(world)

    archive(world, chat)

    assert [(run.trigger, run.cause, run.actor) for run in world.runs()] == [
        ("a", "event", {"kind": "user", "id": "anonymous"}),
        ("b", "event", {"kind": "user", "id": "anonymous"}),
    ]
    turn = Turn.objects.get(id=fired_chat(world.runs()[0]).turn)
    assert turn.message == (
        f'Trigger event `onArchive` in project `alpha`: chat `{chat}` ("Old work") has just been '
        "archived.\n\nLook at it"
    )
    assert turn.prompt == "Look at it"
    assert (turn.tools, turn.event) == (
        [], {"name": "onArchive", "chat": chat, "project": "alpha"},
    )  # fmt: skip
    assert render.run(world.runs()[0])["event"] == {"type": "onArchive", "sessionId": chat}


def test_the_name_in_the_first_message_is_one_line_without_backticks(world):
    world.put("a", hook())
    chat = make_chat(world)
    chat_files.update(world.project(), chat, name="x\n`rm`\u2028" + "y" * 200)

    archive(world, chat)

    first, _, rest = Turn.objects.get(id=fired_chat(world.runs()[0]).turn).message.partition("\n")
    assert "`rm`" not in first
    assert '("x rm ' in first
    assert rest == "\nLook at it"
    assert len(first) < 260


def test_archiving_twice_fires_once(world):
    world.put("a", hook())
    chat = make_chat(world)

    assert archive(world, chat)
    assert not archive(world, chat)

    assert len(world.runs()) == 1


def test_archiving_while_the_chats_own_turn_runs_fires_after_that_turn(world):
    world.put("a", hook())
    chat = make_chat(world)
    now = datetime.now(UTC)
    running = Turn.objects.create(
        id="msg_1", project="alpha", chat=chat, state="running", prompt="x", message="x",
        sender={"kind": "user"}, mode="default", max_turns=1, created=now,
        started=now - timedelta(seconds=1),
    )  # fmt: skip
    archive(world, chat)
    assert firing.start(world.runs()[0].id).run.session_id == ""

    running.state = "done"
    running.save()
    runs.follow(running)

    assert firing.start(world.runs()[0].id).run.session_id != ""


def test_a_hook_that_archives_its_own_chat_does_not_fire_itself_again(world):
    world.put("a", hook())
    archive(world, make_chat(world))
    own = fired_chat(world.runs()[0])

    archive(world, own.chat, own)

    again = world.runs()[1]
    assert (again.status, again.reason) == ("skipped", "event loop")


def test_nor_does_what_an_earlier_version_had_queued(world):
    world.put("a", hook())
    archive(world, make_chat(world))
    queued = Turn.objects.filter(id=fired_chat(world.runs()[0]).turn)
    queued.update(chain=[])

    import_module("workspace.migrations.0015_chains").of_runs(apps, None)
    archive(world, queued.get().chat, caller_of(queued.get()))

    assert world.runs()[1].reason == "event loop"


def test_a_hook_that_archives_a_chat_it_created_does_not_fire_itself_again(world):
    world.put("a", hook())
    archive(world, make_chat(world))
    own = fired_chat(world.runs()[0])
    child = make_chat(world, own)

    archive(world, child, say(world, child, own))

    assert world.runs()[1].reason == "event loop"


def test_a_hook_that_makes_the_chat_of_another_work_does_not_fire_itself_again(world):
    world.put("a", hook())
    theirs = make_chat(world)
    archive(world, make_chat(world))
    own = fired_chat(world.runs()[0])

    asked = say(world, theirs, own)
    again = say(world, make_chat(world), asked)
    archive(world, make_chat(world), again)

    assert world.runs()[1].reason == "event loop"


def test_a_hook_that_forks_the_chat_of_another_does_not_fire_itself_again(world):
    world.put("a", hook())
    theirs = make_chat(world)
    archive(world, make_chat(world))
    own = fired_chat(world.runs()[0])

    fork = forks.fork(principal=own, project=world.project(), session_id=theirs, prompt="Go")
    assert fork.turn is not None
    archive(world, make_chat(world), caller_of(fork.turn))

    assert world.runs()[1].reason == "event loop"


@pytest.mark.usefixtures("serving")
def test_a_trigger_that_runs_another_by_hand_is_behind_what_that_causes(world):
    world.put("a", hook())
    world.put("check", schedule(interval="1d"))
    archive(world, make_chat(world))
    own = fired_chat(world.runs()[0])

    caller = replace(agent(own.chat), chain=own.chain)
    run = commands.run(world.project(), "check", principal=caller).run
    archive(world, make_chat(world), caller_of(Turn.objects.get(run=run)))

    assert (run.cause, run.chain) == ("manual", ["alpha/a"])
    assert world.runs()[2].reason == "event loop"


def test_what_a_person_asks_of_a_fired_chat_is_no_loop(world):
    world.put("a", hook())
    archive(world, make_chat(world))
    own = fired_chat(world.runs()[0])

    archive(world, make_chat(world), say(world, own.chat, USER))

    assert [run.status for run in world.runs()] == ["queued", "queued"]


def test_the_token_of_a_turn_names_the_triggers_behind_it(world):
    world.put("a", hook())
    archive(world, make_chat(world))
    token, digest = tokens.new_token()
    turn = fired_chat(world.runs()[0]).turn
    Turn.objects.filter(id=turn).update(state="running", token_hash=digest, tools=None)

    caller = tokens.caller(token)

    assert caller is not None
    assert caller.chain == ("alpha/a",)


def test_a_person_who_archives_a_fired_chat_is_no_loop(world):
    world.put("a", hook())
    archive(world, make_chat(world))
    own = fired_chat(world.runs()[0])

    archive(world, own.chat)

    assert [run.status for run in world.runs()] == ["queued", "queued"]


def test_three_chained_triggers_stop(world):
    world.put("a", hook())
    caller: Any = USER
    names = ["a", "b", "c", "d"]
    for name, following in zip(names, [*names[1:], ""], strict=True):
        archive(world, make_chat(world), caller)
        run = Run.objects.filter(trigger=name).latest("id")
        if run.status != "queued":
            break
        caller = fired_chat(run)
        world.put(name, hook(enabled=False))
        world.put(following, hook())

    assert [(run.trigger, run.status, run.reason) for run in world.runs()] == [
        ("a", "queued", ""), ("b", "queued", ""), ("c", "queued", ""),
        ("d", "skipped", "event loop"),
    ]  # fmt: skip


def test_an_afterturn_entry_never_fires_as_a_hook(world):
    world.put(
        "c",
        {"trigger": {"type": "event", "on": "afterTurn"}, "run": {"prompt": "x"}, "enabled": True},
    )

    archive(world, make_chat(world))

    assert world.runs() == []


def test_a_hundred_events_wait_and_the_next_is_skipped(world):
    world.put("a", hook())
    record = chat_files.read(world.project(), make_chat(world))
    for _ in range(103):
        events.chat_archived(record, USER)

    assert [(run.status, run.skips) for run in world.runs()][-2:] == [
        ("queued", None), ("skipped", 2),
    ]  # fmt: skip
    assert world.runs()[-1].reason == "100 of this trigger's firings already wait"


@pytest.mark.parametrize("count", [3])
def test_waiting_events_start_in_their_order(world, count):
    world.put("a", hook())
    for _ in range(count):
        archive(world, make_chat(world))

    for run in world.runs():
        assert firing.start(run.id).run.session_id != ""
        runs.finish(run.id, status="completed")
