"""Chats: provenance by who asks, spawn limits, names, archiving."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from config.errors import Conflict, Invalid, NotFound
from tests.workspace.chats.world import HELLO, USER, World, agent
from workspace.access.policy import Bounds, Scope
from workspace.access.principals import Client
from workspace.chats import actions, files, forks, index
from workspace.chats.turns import queue

CI = Client("ci", Scope(max_spawn_depth=1))


def test_a_person_makes_a_human_chat(world: World):
    record = world.chat().chat

    assert (record.origin, record.depth, record.parent, record.client) == ("human", 0, None, "")


def test_a_client_makes_a_spawned_chat_under_its_cap(world: World):
    world.write("name: Alpha\nmaxSpawnDepth: 5\n")

    record = actions.create(principal=CI, project=world.project).chat

    assert (record.origin, record.depth, record.client) == ("spawned", 1, "ci")
    assert record.spawn_limit == 1


def test_an_agent_makes_a_child_one_deeper_with_one_limit_less(world: World):
    world.write("name: Alpha\nmaxSpawnDepth: 5\n")
    caller = world.chat().chat.id

    record = actions.create(
        principal=agent(caller, depth=2, limit=3, client="ci"), project=world.project
    ).chat

    assert (record.origin, record.depth, record.client) == ("spawned", 3, "ci")
    assert record.parent == {"project": "alpha", "sessionId": caller}
    assert record.spawn_limit == 2


def test_a_firing_names_its_trigger_and_the_turn_its_bounds(world: World):
    turn = world.fired(tools=["Read"], max_turns=30, spawn_limit=0, mode="plan")

    record = files.read(world.project, turn.chat)
    assert (record.origin, record.trigger) == ("scheduled", "nightly")
    assert (turn.tools, turn.max_turns, turn.spawn_limit, turn.mode) == (["Read"], 30, 0, "plan")
    assert turn.sender["kind"] == "trigger"


def test_the_turn_of_a_capped_client_may_spawn_no_deeper_than_the_cap(world: World):
    world.write("name: Alpha\nmaxSpawnDepth: 5\n")
    chat = world.chat().chat.id

    queued = actions.send(
        principal=Client("ci", Scope(max_spawn_depth=0)),
        project=world.project, session_id=chat, prompt=HELLO,
    )  # fmt: skip

    assert queued.turn.spawn_limit == 0
    assert queued.turn.client == "ci"
    assert queued.turn.sender == {"kind": "client", "id": "ci"}


def test_a_message_of_a_client_runs_in_no_higher_mode_than_its_own(world: World):
    chat = world.chat().chat.id  # of a project in bypassPermissions

    def mode(principal) -> str:
        queued = actions.send(
            principal=principal, project=world.project, session_id=chat, prompt=HELLO
        )
        return queued.turn.mode

    plan = Scope(permission_mode="plan")
    turn_of_two = dataclasses.replace(agent(chat), bounds=Bounds({"ci": CI.scope, "ops": plan}))
    assert (mode(USER), mode(CI), mode(agent(chat)), mode(turn_of_two)) == (
        "bypassPermissions", "acceptEdits", "bypassPermissions", "plan",
    )  # fmt: skip
    world.write("name: Alpha\npermissionMode: default\n")
    assert mode(CI) == "default"


def test_every_client_behind_a_turn_is_behind_what_it_causes(world: World):
    chat = world.chat().chat.id
    bounds = Bounds({"ci": CI.scope, "ops": CI.scope})
    caller = dataclasses.replace(agent(chat, client="ci"), bounds=bounds)

    sent = actions.send(principal=caller, project=world.project, session_id=chat, prompt=HELLO)
    made = actions.create(principal=caller, project=world.project, prompt=HELLO)
    copied = forks.fork(principal=caller, project=world.project, session_id=chat, prompt=HELLO)
    by_client = actions.create(principal=CI, project=world.project, prompt=HELLO)

    for turn in (sent.turn, made.turn, copied.turn):
        assert turn is not None
        assert (turn.client, turn.clients) == ("ci", ["ci", "ops"])
    assert by_client.turn is not None
    assert by_client.turn.clients == ["ci"]
    assert world.send(chat).turn.clients == []


def test_the_record_on_disk_holds_what_is_known_and_nothing_else(world: World):
    record = world.chat(name="First").chat

    assert world.record(record.id) == {
        "v": 1, "name": "First", "origin": "human", "depth": 0,
        "created": record.created, "spawnLimit": 1, "archived": False,
    }  # fmt: skip
    assert files.record_path(world.project, record.id).stat().st_mode & 0o777 == 0o600
    assert (world.project.chats_dir / ".gitignore").read_text() == "*\n"
    assert world.project.chats_dir.stat().st_mode & 0o777 == 0o700


def test_a_name_goes_and_the_first_prompt_names_the_chat(world: World):
    chat = world.chat("Please\n fix   the build", name="Build").chat.id
    assert index.get(world.project, chat).name == "Build"

    actions.rename(project=world.project, session_id=chat, name=None)

    assert index.get(world.project, chat).name == "Please fix the build"


def test_a_long_first_prompt_is_cut_for_the_name(world: World):
    chat = world.chat("x" * 300).chat.id

    assert index.get(world.project, chat).name == "x" * 100 + "…"


def test_a_chat_without_anything_is_called_by_its_id(world: World):
    chat = world.chat().chat.id

    assert index.get(world.project, chat).name == chat[:8]


@pytest.mark.parametrize("name", ["a\nb", "x" * 201, "bell\x07"])
def test_a_name_is_one_line(world: World, name: str):
    with pytest.raises(Invalid, match="name"):
        world.chat(name=name)


def test_archiving_twice_tells_once(world: World):
    chat = world.chat().chat.id
    heard = []

    def archive(archived: bool) -> bool:
        return actions.archive(
            principal=USER, project=world.project, session_id=chat, archived=archived,
            on_archive=lambda record, principal: heard.append(record.id),
        ).changed  # fmt: skip

    assert [archive(True), archive(True), archive(False), archive(False)] == [
        True, False, True, False,
    ]  # fmt: skip
    assert heard == [chat]
    assert "archivedAt" not in world.record(chat)


def test_unknown_keys_and_comments_of_a_record_survive(world: World):
    chat = world.chat(name="Old").chat.id
    path = files.record_path(world.project, chat)
    path.write_text(path.read_text() + "mine: kept  # by hand\n")

    actions.rename(project=world.project, session_id=chat, name="New")

    assert "mine: kept  # by hand\n" in path.read_text()
    assert world.record(chat)["name"] == "New"


def test_a_record_of_a_later_version_is_read_and_not_written(world: World):
    chat = world.chat(name="Old").chat.id
    path = files.record_path(world.project, chat)
    path.write_text(path.read_text().replace("v: 1", "v: 2"))
    before = path.read_bytes()

    with pytest.raises(Exception, match="later version"):
        actions.rename(project=world.project, session_id=chat, name="New")

    assert path.read_bytes() == before
    assert index.get(world.project, chat).name == "Old"


@pytest.mark.parametrize("record", ["- a\n", "just text\n", "5\n", "[]\n", "false\n"])
def test_a_record_that_is_no_mapping_is_not_written_and_says_how_to_mend_it(
    world: World, record: str
):
    chat = world.chat().chat.id
    path = files.record_path(world.project, chat)
    path.write_text(record)

    with pytest.raises(Conflict) as refused:
        actions.rename(project=world.project, session_id=chat, name="New")

    assert refused.value.text.endswith(f"it must hold a mapping; mend .chats/{chat}.yaml by hand")
    assert path.read_text() == record


def test_a_record_whose_version_is_no_number_can_be_changed(world: World):
    chat = world.chat().chat.id
    path = files.record_path(world.project, chat)
    path.write_text(path.read_text().replace("v: 1", "v: first"))

    actions.rename(project=world.project, session_id=chat, name="New")

    assert world.record(chat) == world.record(chat) | {"v": "first", "name": "New"}


@pytest.mark.parametrize(
    "session_id",
    ["7f8a1c9e-7d6f-4c5b-8f6e-0a1b2c3d4e5f", "../../etc/passwd", "", "x" * 5000, "a\0b", "\ud800"],
)
def test_an_id_that_is_no_chat_of_the_project_is_not_found(world: World, session_id: str):
    for call in (
        lambda: index.get(world.project, session_id),
        lambda: world.send(session_id),
        lambda: actions.rename(project=world.project, session_id=session_id, name="x"),
        lambda: forks.fork(principal=USER, project=world.project, session_id=session_id),
        lambda: actions.archive(
            principal=USER, project=world.project, session_id=session_id, archived=True
        ),
    ):
        with pytest.raises(NotFound, match="in project alpha") as told:
            call()
        assert len(told.value.text) < 200
        assert told.value.text.isprintable()


def test_a_chat_of_another_project_is_not_found(world: World):
    world.write("name: Beta\n", slug="beta")
    chat = world.chat().chat.id
    from workspace.projects import store

    with pytest.raises(NotFound, match="in project beta"):
        index.get(store.get("beta"), chat)


def test_curated_documents_stand_before_the_prompt_on_request(world: World):
    (world.folder / "alpha" / "OVERVIEW.md").write_text("What alpha is.")

    started = world.chat("Go on", preload_context=True)

    assert started.turn is not None
    assert started.turn.prompt == "Go on"
    assert "What alpha is." in started.turn.message
    assert started.turn.message.endswith("Go on")


@pytest.mark.parametrize("length", [queue.PROMPT_MAX, queue.PROMPT_MAX - 50])
def test_documents_go_in_front_of_a_prompt_of_full_length_too(world: World, length: int):
    (world.folder / "alpha" / "OVERVIEW.md").write_text("A \0service.")
    prompt = "x" * length

    turn = world.chat(prompt, preload_context=True).turn

    assert turn is not None
    assert turn.prompt == prompt
    assert turn.message.endswith(prompt)
    assert "A \ufffdservice." in turn.message


def test_a_broken_project_file_refuses_writes_and_still_shows_its_chats(world: World):
    chat = world.chat(name="Kept").chat.id
    (world.folder / "alpha" / "project.yaml").write_text("name: [oops")

    assert index.get(world.project, chat).name == "Kept"
    for call in (
        lambda: world.chat("x"),
        lambda: world.send(chat),
        lambda: actions.rename(project=world.project, session_id=chat, name="x"),
        lambda: forks.fork(principal=USER, project=world.project, session_id=chat),
        lambda: actions.archive(
            principal=USER, project=world.project, session_id=chat, archived=True
        ),
    ):
        with pytest.raises(Conflict) as told:
            call()
        assert told.value.code == "bad_project_file"


def test_a_folder_of_chats_that_leads_elsewhere_shows_nothing(world: World, tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    chat = world.chat(name="Mine").chat.id
    world.project.chats_dir.rename(outside / "chats")
    world.project.chats_dir.symlink_to(outside / "chats")

    assert index.entries(world.project) == []
    with pytest.raises(NotFound):
        index.get(world.project, chat)
