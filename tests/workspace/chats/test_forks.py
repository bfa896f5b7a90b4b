"""Forks: the source's finished turns byte for byte, provenance, batches."""

from __future__ import annotations

import errno
import json
import os
from functools import partial

import pytest

from config.errors import Conflict, Invalid, NotFound
from config.storage.files import CannotWrite
from tests.workspace.chats.world import USER, World, agent
from workspace.access.policy import Scope
from workspace.access.principals import Client
from workspace.chats import actions, files, forks, index, transcript
from workspace.chats.actions import Started
from workspace.chats.forks import FailedPrompt
from workspace.chats.turns import queue
from workspace.models import Chat, Turn


def fork(world: World, chat: str, principal=USER, **values) -> Started:
    return forks.fork(principal=principal, project=world.project, session_id=chat, **values)


def test_a_fork_holds_the_bytes_up_to_the_last_finished_turn(world: World):
    chat = world.chat(name="Source").chat.id
    world.finish(chat, "One", "Two")
    finished = world.transcript(chat).read_bytes()
    with transcript.Writer(str(world.transcript(chat))) as writer:
        writer.append("turn_start", "running", engine="runbook")
        writer.append("user", "running", text="Three", sender={"kind": "user"})

        child = fork(world, chat).chat

    assert world.transcript(child.id).read_bytes() == finished
    assert world.transcript(child.id).stat().st_mode & 0o777 == 0o600
    assert child.forked_from is not None
    assert child.forked_from["offset"] == len(finished)
    assert child.forked_from["seq"] == world.records(child.id)[-1]["seq"]
    assert child.name == "Fork of Source"
    row = index.get(world.project, child.id)
    assert (row.messages, row.preview) == (2, "Two")


@pytest.mark.parametrize("met", ["before its record", "before the answer", "after it"])
def test_whoever_meets_a_whole_fork_first_reads_none_of_it(world: World, monkeypatch, met: str):
    chat = world.chat(name="Source").chat.id
    world.finish(chat, "One", "Two")
    index.get(world.project, chat)
    create = files.create

    def create_and_look(project, record):  # as a watcher does that is there at once
        if met == "before its record":
            with pytest.raises(NotFound):
                index.get(project, record.id)
        made = create(project, record)
        if met == "before the answer":
            index.get(project, record.id)
        return made

    monkeypatch.setattr(files, "create", create_and_look)
    monkeypatch.setattr(transcript, "Scan", None)
    child = fork(world, chat).chat.id

    row = index.get(world.project, child)
    assert (row.messages, row.preview, row.unread) == (2, "Two", False)
    assert Chat.objects.filter(id=child, messages=2).exists()
    assert index._folder(world.project).copies == {}


def test_of_a_fork_that_could_not_be_made_or_went_at_once_nothing_is_kept(
    world: World, monkeypatch
):
    chat = world.chat(name="Source").chat.id
    world.finish(chat, "One", "Two")
    gone = fork(world, chat).chat.id
    files.record_path(world.project, gone).unlink()
    world.transcript(gone).unlink()
    with pytest.raises(NotFound):
        index.get(world.project, gone)
    assert index._folder(world.project).copies == {}

    def full(*_: object) -> None:
        raise CannotWrite("no room")

    monkeypatch.setattr(files, "create", full)
    with pytest.raises(CannotWrite):
        fork(world, chat)
    assert index._folder(world.project).copies == {}


def test_a_source_that_was_changed_by_hand_meanwhile_lends_no_counts(world: World, monkeypatch):
    chat = world.chat(name="Source").chat.id
    world.finish(chat, "One", "Two")
    path = world.transcript(chat)
    copy = forks.copy_bytes

    def changed(source, target, count):
        path.write_bytes(path.read_bytes().replace(b'"Two"', b'"Six"'))
        copy(source, target, count)

    monkeypatch.setattr(forks, "copy_bytes", changed)
    child = fork(world, chat).chat.id

    assert index.get(world.project, child).preview == "Six"


def test_a_chat_is_forked_where_the_kernel_does_not_copy(world: World, monkeypatch):
    def unknown(*_: object) -> int:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr(os, "copy_file_range", unknown, raising=False)
    monkeypatch.setattr(forks, "PIECE", 100)
    chat = world.chat(name="Source").chat.id
    world.finish(chat, "One", "Two")

    child = fork(world, chat).chat.id

    assert world.transcript(child).read_bytes() == world.transcript(chat).read_bytes()


def test_a_fork_from_an_earlier_turn_ends_with_that_turn(world: World):
    chat = world.chat(name="Source").chat.id
    first = world.finish(chat, "One", "Two")
    until_there = world.transcript(chat).read_bytes()
    world.finish(chat, "Three", "Four")

    child = fork(world, chat, turn=first).chat

    assert world.transcript(child.id).read_bytes() == until_there
    row = index.get(world.project, child.id)
    assert (row.messages, row.preview) == (2, "Two")


def test_lines_that_another_program_wrote_with_spaces_are_forked_too(world: World):
    chat = world.chat(name="Source").chat.id
    first = world.finish(chat, "One", "Two")
    world.finish(chat, "Three", "Four")
    lines = [json.dumps(record) + "\n" for record in world.records(chat)]
    world.transcript(chat).write_text("".join(lines))

    whole, part = fork(world, chat).chat, fork(world, chat, turn=first).chat

    assert world.transcript(whole.id).read_text() == "".join(lines)
    assert index.get(world.project, part.id).messages == 2
    assert transcript.has_turn(str(world.transcript(chat)), first)


@pytest.mark.parametrize("turn", ["", "msg_nothing", "running", "\0" * 10_000])
def test_a_turn_that_is_not_finished_here_is_no_place_to_fork_from(world: World, turn: str):
    chat = world.chat().chat.id
    world.finish(chat, "One")
    with transcript.Writer(str(world.transcript(chat))) as writer:
        writer.append("turn_start", "running", engine="runbook")
    before = sorted(path.name for path in world.transcript(chat).parent.iterdir())

    with pytest.raises(Conflict, match="is not a finished turn of this chat"):
        fork(world, chat, turn=turn)

    assert sorted(path.name for path in world.transcript(chat).parent.iterdir()) == before


def test_an_empty_chat_forks_to_an_empty_chat(world: World):
    child = fork(world, world.chat().chat.id).chat

    assert world.transcript(child.id).read_bytes() == b""
    assert index.get(world.project, child.id).messages == 0


def test_a_fork_of_a_fork_goes_on_where_it_was_cut(world: World):
    first = world.chat().chat.id
    world.finish(first, "One")
    second = fork(world, first).chat.id
    world.finish(second, "Two")

    third = fork(world, second).chat.id
    world.finish(third, "Three")

    records = world.records(third)
    assert [record["seq"] for record in records] == list(range(1, len(records) + 1))
    parents = [record["parent"] for record in records]
    assert parents == [None, *[record["id"] for record in records[:-1]]]


def test_the_first_message_of_a_fork_tells_where_it_comes_from(world: World):
    chat = world.chat(name="Source").chat.id

    started = fork(world, chat, prompt="Now this")

    turn = Turn.objects.get(chat=started.chat.id)
    assert turn.prompt == "Now this"
    assert turn.message == (
        f'This chat is a fork of "Source" ({chat}); the messages above are inherited history. '
        "Your task now:\n\nNow this"
    )
    assert started.state == "started"


def test_a_prompt_of_full_length_starts_a_fork(world: World):
    chat = world.chat(name="Source").chat.id
    prompt = "x" * queue.PROMPT_MAX

    turn = fork(world, chat, prompt=prompt).turn

    assert turn is not None
    assert turn.prompt == prompt
    assert turn.message.startswith("This chat is a fork of")
    assert turn.message.endswith(prompt)


def test_who_forks_decides_origin_depth_and_limit(world: World):
    world.write("name: Alpha\nmaxSpawnDepth: 4\n")
    deep = actions.create(principal=agent("x" * 36, depth=4), project=world.project).chat
    fired = world.fired().chat

    by_user, of_fired = fork(world, deep.id).chat, fork(world, fired).chat
    by_client = fork(world, fired, Client("ci", Scope(max_spawn_depth=0))).chat
    by_agent = fork(world, fired, agent(fired, depth=2, limit=2)).chat

    assert (by_user.origin, by_user.depth, by_user.spawn_limit) == ("spawned", 5, 2)
    assert (of_fired.origin, of_fired.depth, of_fired.trigger) == ("human", 0, "")
    assert (by_client.origin, by_client.depth, by_client.client) == ("spawned", 1, "ci")
    assert by_client.spawn_limit == 0
    assert (by_agent.depth, by_agent.spawn_limit) == (3, 1)
    for child in (by_user, by_client, by_agent):
        assert child.parent is not None


def test_a_batch_starts_one_fork_per_prompt_with_numbered_names(world: World):
    chat = world.chat().chat.id

    made = forks.batch(
        principal=USER, project=world.project, session_id=chat,
        prompts=["a", "b"], name_prefix="try",
    )  # fmt: skip

    assert [one.chat.name for one in made if isinstance(one, Started)] == ["try 1", "try 2"]


@pytest.mark.parametrize(
    ("prompts", "text"),
    [
        ([], "`prompts` is required (one prompt per line, or a JSON array of strings)."),
        (["a", "b", " "], "`prompts` entry 3 is empty."),
        (["a"] * 21, "`prompts` holds 21 entries; at most 20 forks per call."),
    ],
)
def test_a_batch_with_a_mistake_starts_nothing(world: World, prompts: list[str], text: str):
    chat = world.chat().chat.id

    with pytest.raises(Invalid) as told:
        forks.batch(principal=USER, project=world.project, session_id=chat, prompts=prompts)

    assert told.value.text == text
    assert len(files.session_ids(world.project)) == 1


def test_a_prefix_leaves_room_for_the_number(world: World):
    chat = world.chat().chat.id
    batch = partial(forks.batch, principal=USER, project=world.project, session_id=chat)

    with pytest.raises(Invalid) as told:
        batch(prompts=["a"], name_prefix="x" * 199)

    assert told.value.text.startswith("name_prefix: must be one line of 0 to 198 characters")
    assert len(files.session_ids(world.project)) == 1
    (made,) = batch(prompts=["a"], name_prefix="x" * 198)
    assert isinstance(made, Started)
    assert made.chat.name == f"{'x' * 198} 1"


def test_one_failed_fork_of_a_batch_is_told_in_its_place(world: World, monkeypatch):
    chat = world.chat().chat.id
    send = queue.send

    def refuse_b(**values):
        if values["prompt"] == "b":
            raise Conflict("no")
        return send(**values)

    monkeypatch.setattr(queue, "send", refuse_b)

    made = forks.batch(
        principal=USER, project=world.project, session_id=chat, prompts=["a", "b", "c"]
    )

    assert [type(one) for one in made] == [Started, FailedPrompt, Started]
    assert made[1] == FailedPrompt("b", "no")
