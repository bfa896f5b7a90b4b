"""The queue of a chat: order, places, holding and letting go, bounds."""

from __future__ import annotations

import pytest

from config.errors import Conflict, Invalid, NotFound
from tests.workspace.chats.world import (
    FAILS,
    HELLO,
    USER,
    World,
    delivered,
    firing,
    run_row,
    sleeps,
)
from workspace import ids
from workspace.chats import actions, files, forks, transcript
from workspace.chats.turns import answers, queue
from workspace.models import Turn


def test_the_first_message_starts_and_is_handed_to_the_cluster(world: World):
    started = world.chat(HELLO)

    assert (started.state, started.position) == ("started", 0)
    assert started.turn is not None
    assert delivered() == [started.turn.id]


def test_a_chat_without_a_prompt_has_no_turn(world: World):
    started = world.chat()

    assert (started.turn, started.state) == (None, "")
    assert delivered() == []


def test_later_messages_take_their_places_behind(world: World):
    chat = world.chat(HELLO).chat.id

    places = [world.send(chat) for _ in range(3)]

    assert [(place.state, place.position) for place in places] == [
        ("queued", 1),
        ("queued", 2),
        ("queued", 3),
    ]
    assert len(delivered()) == 1


def test_a_chat_waits_for_a_slot_when_as_many_chats_run_as_may(world: World, settings):
    for _ in range(settings.SVC.running_turns):
        assert world.chat(HELLO).state == "started"

    started = world.chat(HELLO)

    assert (started.state, started.position) == ("queued", 1)


def test_the_51st_waiting_message_is_refused(world: World):
    chat = world.chat().chat.id
    for _ in range(50):
        world.send(chat)

    with pytest.raises(Conflict, match="Queue full: 50 messages already wait in this chat") as told:
        world.send(chat)

    assert told.value.code == "queue_full"


@pytest.mark.parametrize("prompt", ["", "  \n", "a\0b", "x" * 100_001])
def test_a_prompt_that_is_none_is_refused(world: World, prompt: str):
    with pytest.raises(Invalid, match="prompt"):
        world.chat(prompt)


def test_lone_surrogates_become_replacement_characters(world: World):
    started = world.chat("a\ud800b")

    assert started.turn is not None
    assert Turn.objects.get(id=started.turn.id).prompt == "a\ufffdb"


def test_order_holds_when_the_clock_is_set_back(world: World, monkeypatch):
    chat = world.chat(HELLO).chat.id
    monkeypatch.setattr(ids, "turn_id", lambda: "msg_00000000000000000000000000")

    late = [world.send(chat).turn.id for _ in range(2)]

    assert sorted(late) == late
    assert [row.id for row in queue.active_rows("alpha", chat)][1:] == late


def test_a_failed_turn_holds_what_waits_and_a_new_message_lets_it_go(world: World):
    first = world.chat(FAILS)
    assert first.turn is not None
    chat = first.chat.id
    world.send(chat)

    world.run(first.turn.id)

    assert world.states(chat) == ["failed", "held"]
    assert "the turn before it" in str(queue.view(queue.active_rows("alpha", chat))[0]["reason"])
    world.send(chat)
    assert world.states(chat) == ["failed", "queued", "queued"]
    assert delivered()[-1] == queue.active_rows("alpha", chat)[0].id


def test_resume_lets_held_messages_go_in_their_order(world: World):
    first = world.chat(FAILS)
    assert first.turn is not None
    chat = first.chat.id
    waiting = [world.send(chat).turn.id for _ in range(2)]
    world.run(first.turn.id)

    resumed = queue.resume(project=world.project, chat=chat)

    assert resumed == 2
    assert [row.id for row in queue.active_rows("alpha", chat)] == waiting
    world.cluster()
    assert world.states(chat) == ["failed", "done", "done"]


def test_rows_made_by_a_firing_are_never_held(world: World):
    first = world.chat(FAILS)
    assert first.turn is not None
    chat = first.chat.id
    world.send(chat)
    actions.fire(project=world.project, chat=chat, prompt=HELLO, firing=firing(run=run_row()))

    world.run(first.turn.id)

    assert world.states(chat) == ["failed", "held", "queued"]


def test_a_waiting_message_can_be_taken_out_and_a_running_one_not(world: World):
    started = world.chat(HELLO)
    assert started.turn is not None
    chat = started.chat.id
    waiting = world.send(chat).turn.id
    Turn.objects.filter(id=started.turn.id).update(state="running")
    told: list[Turn] = []

    queue.remove(project=world.project, chat=chat, message=waiting, on_change=told.append)

    assert world.states(chat) == ["running", "deleted"]
    assert [turn.state for turn in told] == ["deleted"]
    with pytest.raises(Conflict) as refused:
        queue.remove(project=world.project, chat=chat, message=started.turn.id)
    assert refused.value.code == "not_queued"
    for unknown in (waiting, "msg_nope", "../../etc/passwd"):
        with pytest.raises(NotFound):
            queue.remove(project=world.project, chat=chat, message=unknown)


def held(world: World) -> tuple[str, list[str]]:
    """A chat whose turn failed while two messages waited, and these."""
    first = world.chat(FAILS)
    assert first.turn is not None
    chat = first.chat.id
    waiting = [world.send(chat, sleeps(n)).turn.id for n in (1, 2)]
    world.run(first.turn.id)
    assert world.states(chat) == ["failed", "held", "held"]
    return chat, waiting


def put_back(world: World, chat: str, message: str) -> str:
    queue.remove(project=world.project, chat=chat, message=message)
    return queue.restore(project=world.project, chat=chat, message=message).state


def test_a_held_message_is_put_back_as_it_was_and_releases_nothing(world: World):
    chat, (one, two) = held(world)
    before = queue.view(queue.active_rows("alpha", chat))
    already = delivered()

    assert put_back(world, chat, one) == "held"

    assert queue.view(queue.active_rows("alpha", chat)) == before
    assert [row["id"] for row in before] == [one, two]
    assert delivered() == already


def test_a_queued_message_is_put_back_before_those_that_came_later(world: World):
    started = world.chat(sleeps())
    assert started.turn is not None
    chat = started.chat.id
    one, two = (world.send(chat).turn.id for _ in range(2))

    assert put_back(world, chat, one) == "queued"
    assert put_back(world, chat, started.turn.id) == "queued"

    assert [row.id for row in queue.active_rows("alpha", chat)] == [started.turn.id, one, two]


@pytest.mark.parametrize("others", [0, 1])
def test_what_stop_would_have_held_is_put_back_held(world: World, others: int):
    started = world.chat(sleeps())
    assert started.turn is not None
    chat = started.chat.id
    one, *_ = [world.send(chat).turn.id for _ in range(1 + others)]

    queue.remove(project=world.project, chat=chat, message=one)
    queue.stop(project=world.project, chat=chat)
    turn = queue.restore(project=world.project, chat=chat, message=one)

    assert (turn.state, turn.reason) == ("held", "the turn before it: stopped by a user")
    assert world.states(chat) == ["stopped", *["held"] * (1 + others)]


def test_what_was_taken_out_before_others_were_let_go_on_is_put_back_to_go_on(world: World):
    started = world.chat(FAILS)
    assert started.turn is not None
    chat = started.chat.id
    one, two = (world.send(chat).turn.id for _ in range(2))
    queue.remove(project=world.project, chat=chat, message=one)
    world.run(started.turn.id)
    assert world.states(chat) == ["failed", "deleted", "held"]
    queue.resume(project=world.project, chat=chat)
    world.run(two)

    turn = queue.restore(project=world.project, chat=chat, message=one)

    assert (turn.state, turn.reason) == ("queued", "")


def test_only_what_was_taken_out_is_put_back(world: World):
    chat, (one, two) = held(world)
    run = run_row()
    fired = actions.fire(project=world.project, chat=chat, prompt=HELLO, firing=firing(run=run))
    queue.remove(project=world.project, chat=chat, message=fired.turn.id)

    for there in (one, fired.turn.id):
        with pytest.raises(Conflict):
            queue.restore(project=world.project, chat=chat, message=there)
    for unknown in ("msg_nope", "../../etc/passwd"):
        with pytest.raises(NotFound):
            queue.restore(project=world.project, chat=chat, message=unknown)

    queue.remove(project=world.project, chat=chat, message=two)
    for _ in range(queue.MOST_WAITING - 1):
        world.send(chat)
    with pytest.raises(Conflict) as full:
        queue.restore(project=world.project, chat=chat, message=two)
    assert full.value.code == "queue_full"


def again(world: World, chat: str, turn: str) -> Turn:
    return actions.again(principal=USER, project=world.project, session_id=chat, turn=turn).turn


def test_a_fork_s_runbook_is_run_again_as_a_runbook(world: World):
    source = world.chat().chat.id
    world.finish(source, "One")
    forked = forks.fork(
        principal=USER, project=world.project, session_id=source, prompt=FAILS, model=""
    )
    assert forked.turn is not None
    world.run(forked.turn.id)

    turn = again(world, forked.chat.id, forked.turn.id)

    assert (turn.prompt, turn.message) == (forked.turn.prompt, forked.turn.message)
    world.run(turn.id)
    starts = world.records(forked.chat.id, "turn_start")
    assert [start["engine"] for start in starts[-2:]] == ["runbook", "runbook"]


def test_a_message_is_run_again_with_the_model_that_it_named(world: World):
    started = world.chat("Refactor it", model="acp:gemini")
    assert started.turn is not None
    world.run(started.turn.id)

    turn = again(world, started.chat.id, started.turn.id)

    assert turn.model == "acp:gemini"
    assert world.run(turn.id).state == "failed"
    ends = world.records(started.chat.id, "turn_end")
    assert [end["status"] for end in ends] == ["needs_engine", "needs_engine"]


def test_a_firing_is_run_again_by_whom_asks_within_the_bounds_of_its_trigger(world: World):
    prompt = f"{FAILS}{'x' * queue.PROMPT_MAX}"
    event: dict[str, object] = {"happenings": []}
    fired = world.fired(
        prompt, message=f"Event line\n\n{prompt}", tools=[], mode="plan", network="off",
        max_turns=7, event=event,
    )  # fmt: skip
    world.run(fired.id)

    turn = again(world, fired.chat, fired.id)

    assert (turn.sender, turn.run) == (USER.sender(), None)
    assert (turn.message, turn.event) == (fired.message, event)
    assert (turn.tools, turn.mode, turn.network, turn.max_turns) == ([], "plan", "off", 7)


def test_a_firing_of_a_client_stays_bounded_however_often_it_is_run_again(world: World):
    turn = fired = world.fired(
        clients=("ci",), chain=("alpha/t",), spawn_limit=0, mode="plan", max_turns=7
    )
    for _ in range(2):
        Turn.objects.filter(id=turn.id).update(state="done")

        turn = again(world, fired.chat, turn.id)

        assert (turn.sender, turn.client) == (USER.sender(), "")
        assert (turn.clients, turn.chain, turn.spawn_limit) == (["ci"], ["alpha/t"], 0)
        assert (turn.mode, turn.max_turns) == ("plan", 7)


def test_what_a_firing_s_agent_or_a_client_asked_for_is_run_again_as_a_person_s(world: World):
    started = world.chat(HELLO)
    assert started.turn is not None
    for kind in ("agent", "client"):
        rows = Turn.objects.filter(id=started.turn.id)
        rows.update(state="done", sender={"kind": kind}, clients=["ci"], chain=["alpha/t"])

        turn = again(world, started.chat.id, started.turn.id)

        assert (turn.clients, turn.chain) == ([], [])


def test_a_message_that_waited_while_the_mode_was_lowered_runs_in_the_lower_one(world: World):
    chat = world.chat().chat.id
    waiting = world.send(chat, HELLO).turn
    fired = world.fired(HELLO, mode="bypassPermissions")
    assert waiting.mode == "bypassPermissions"

    world.write("name: Alpha\npermissionMode: plan\n")
    world.run(waiting.id)
    world.run(fired.id)

    assert Turn.objects.get(id=waiting.id).mode == "plan"
    assert world.records(chat, "turn_start")[0]["mode"] == "plan"
    assert world.records(fired.chat, "turn_start")[0]["mode"] == "bypassPermissions"


def test_only_a_turn_of_the_chat_that_is_over_is_run_again(world: World):
    started = world.chat(HELLO)
    assert started.turn is not None
    chat, other = started.chat.id, world.chat().chat.id

    with pytest.raises(Conflict, match="not over"):
        again(world, chat, started.turn.id)
    world.run(started.turn.id)
    for where, turn in ((other, started.turn.id), (chat, "msg_nope")):
        with pytest.raises(NotFound):
            again(world, where, turn)
    child = forks.fork(principal=USER, project=world.project, session_id=chat).chat.id
    assert again(world, child, started.turn.id).chat == child


def test_a_turn_that_was_imported_is_run_again_from_its_words(world: World):
    chat = world.chat().chat.id
    with transcript.Writer(str(world.transcript(chat))) as writer:
        writer.append("user", "msg_old", text="Go on", sender={"kind": "user"}, imported=True)
        writer.append("turn_end", "msg_old", status="stopped", imported=True)
        writer.append("user", "msg_long", text="x" * 2**21, sender={"kind": "user"}, imported=True)
        writer.append("turn_end", "msg_long", status="ok", imported=True)
        writer.append("user", "msg_lost", text="fork line\n\n#!runbook", sender={"kind": "user"})
        writer.append("turn_end", "msg_lost", status="error")

    assert again(world, chat, "msg_old").message == "Go on"
    for unknown in ("msg_lost", "msg_long"):  # of a long one the transcript has the beginning
        with pytest.raises(NotFound, match="send it again"):
            again(world, chat, unknown)


def test_stop_ends_the_running_turn_and_holds_the_queue(world: World):
    started = world.chat(sleeps())
    assert started.turn is not None
    chat = started.chat.id
    world.send(chat)
    process = world.work(started.turn.id)
    world.until_record(chat, "tool_use")

    stopped = queue.stop(project=world.project, chat=chat)

    assert stopped
    assert world.states(chat) == ["stopped", "held"]
    assert world.records(chat, "turn_end")[0]["status"] == "stopped"
    process.join(10)


def test_stop_on_a_chat_that_still_starts_leaves_its_message_in_the_chat(world: World):
    started = world.chat(sleeps())
    assert started.turn is not None
    told: list[Turn] = []

    stopped = queue.stop(project=world.project, chat=started.chat.id, on_change=told.append)

    assert stopped
    assert world.states(started.chat.id) == ["stopped"]
    assert [turn.state for turn in told] == ["stopped"]
    kinds = [record["type"] for record in world.records(started.chat.id)]
    assert kinds == ["turn_start", "user", "turn_end"]
    assert world.run(started.turn.id).state == "stopped"  # the late delivery does nothing


def test_stop_with_nothing_to_stop_says_so(world: World):
    chat = world.chat().chat.id

    assert queue.stop(project=world.project, chat=chat) is False


def test_answers_reach_only_a_question_that_is_open(world: World):
    world.write("name: Alpha\npermissionMode: default\n")
    started = world.chat("#!runbook\n```Bash\necho asked\n```\n")
    assert started.turn is not None
    chat = started.chat.id
    process = world.work(started.turn.id)
    world.until_record(chat, "permission")
    call = world.records(chat, "permission")[0]["call"]
    with pytest.raises(NotFound):
        answers.answer(project=world.project, chat=chat, call="call_99", allow=True)

    answers.answer(project=world.project, chat=chat, call=call, allow=True)

    with pytest.raises(Conflict) as late:
        answers.answer(project=world.project, chat=chat, call=call, allow=False)
    assert late.value.code == "not_pending"
    process.join(30)
    assert world.states(chat) == ["done"]
    assert world.records(chat, "tool_result")[0]["text"].startswith("asked")


def test_a_question_that_a_lost_turn_left_open_is_not_answered_for_the_next_turn(world: World):
    asks = "#!runbook\n```Bash\ntouch ran\n```\n"
    world.write("name: Alpha\npermissionMode: default\n")
    started = world.chat(asks)
    assert started.turn is not None
    chat, lost = started.chat.id, started.turn.id
    with transcript.Writer(str(world.transcript(chat))) as writer:
        writer.append("turn_start", lost, engine="runbook")
        writer.append("user", lost, text=asks, sender={"kind": "user", "id": "anonymous"})
        writer.append("permission", lost, call="call_1", tool="Bash", input={}, state="asked")
        writer.append("turn_end", lost, status="interrupted", reason="worker_lost", text=None)
    Turn.objects.filter(id=lost).update(state="interrupted")
    following = world.send(chat, asks).turn
    process = world.work(following.id)
    world.until_state(following.id, "running")

    with pytest.raises(Conflict) as stale:
        answers.answer(project=world.project, chat=chat, call="call_1", allow=True)

    assert stale.value.code == "not_pending"
    assert Turn.objects.get(id=following.id).answers == []
    assert queue.stop(project=world.project, chat=chat)
    process.join(10)


def test_calls_of_two_turns_of_a_chat_have_different_names(world: World):
    started = world.chat(HELLO)
    assert started.turn is not None
    world.run(started.turn.id)
    world.run(world.send(started.chat.id, HELLO).turn.id)

    calls = [record["call"] for record in world.records(started.chat.id, "tool_use")]

    assert len(set(calls)) == 2


@pytest.mark.parametrize("record", ["v: 9\nname: future\n", "v: [\n"])
def test_a_chat_whose_record_is_not_understood_takes_no_message_and_is_not_forked(
    world: World, record: str
):
    chat = world.chat().chat.id
    files.record_path(world.project, chat).write_text(record)

    with pytest.raises(Conflict):
        world.send(chat)
    with pytest.raises(Conflict):
        forks.fork(principal=USER, project=world.project, session_id=chat)

    assert world.states(chat) == []
