"""Deleting a project takes nothing away: all of ours comes back, a folder of the user stays."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from config.errors import Conflict, NotFound
from tests.workspace.chats.world import World as Chats
from tests.workspace.triggers.test_ticker import entry
from tests.workspace.triggers.world import World
from workspace import trash
from workspace.chats import attachments, index, unread
from workspace.models import Chat, Run, TriggerState, Turn
from workspace.projects import store

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def folder(settings, tmp_path: Path) -> Path:
    settings.PROJECTS_DIR = tmp_path / "projects"
    settings.PROJECTS_DIR.mkdir()
    return tmp_path / "projects"


@pytest.fixture
def world(folder: Path, transactional_db) -> World:
    return World(folder)


@pytest.fixture
def chats(folder: Path, transactional_db) -> Chats:
    return Chats(folder)


def listing(folder: Path) -> dict[str, bytes | str | None]:
    """Every name below it with its bytes, its target, or None."""
    found: dict[str, bytes | str | None] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_symlink():
            found[name] = str(path.readlink())
        else:
            found[name] = path.read_bytes() if path.is_file() else None
    return found


def talked(chats: Chats) -> str:
    chat = chats.chat(name="First").chat.id
    chats.finish(chat, "What is it?", "42.")
    return chat


def test_a_deleted_project_is_nowhere_and_comes_back_byte_for_byte(chats: Chats, folder: Path):
    chat = talked(chats)
    for name in ("reviews/r", "assets", "checkout/.git"):
        (folder / "alpha" / name).mkdir(parents=True)
        (folder / "alpha" / name / "file").write_bytes(name.encode())
    (row,) = index.entries(chats.project)
    before = listing(folder / "alpha")

    gone = trash.delete("alpha")

    assert (gone.slug, gone.name) == ("alpha", "Alpha")
    assert not (folder / "alpha").exists()
    assert [one.slug for one in trash.listing()] == ["alpha"]
    assert (store.all(), unread.counts(), Chat.objects.count()) == ([], {}, 0)
    with pytest.raises(NotFound):
        store.get("alpha")

    back = trash.restore("alpha")

    assert listing(folder / "alpha") == before
    assert (Chat.objects.count(), unread.counts()) == (1, {"alpha": 1})
    again = index.get(back, chat)
    assert (again.name, again.unread, again.updated) == (row.name, row.unread, row.updated)
    assert trash.listing() == []
    assert [*(folder / ".trash").iterdir()] == []


def test_the_directory_that_a_project_works_in_is_never_touched(chats: Chats, tmp_path: Path):
    notes = tmp_path / "home" / "notes"
    (notes / ".svc" / "triggers").mkdir(parents=True)
    (notes / "read.me").write_text("mine\n")
    (notes / "link").symlink_to("read.me")
    os.mkfifo(notes / "pipe")
    before, times = listing(notes), [path.lstat().st_mtime_ns for path in sorted(notes.rglob("*"))]
    chats.write(f"name: Alpha\npath: {notes}\n")
    chat = talked(chats)
    attachments.add(project=chats.project, name="a.txt", data=b"a")

    trash.delete("alpha")
    assert listing(notes) == before
    back = trash.restore("alpha")

    assert listing(notes) == before
    assert [path.lstat().st_mtime_ns for path in sorted(notes.rglob("*"))] == times
    assert back.working_dir == notes
    assert index.get(back, chat).name == "First"


@pytest.mark.parametrize(
    ("states", "said"),
    [
        (["running"], "A turn runs in this project"),
        (["running", "queued", "queued"], "A turn runs and 2 wait to run in this project"),
        (["queued"], "1 waits to run in this project"),
    ],
)
def test_a_project_whose_turns_run_or_wait_stays(
    chats: Chats, folder: Path, states: list[str], said: str
):
    for state in states:
        turn = chats.chat("#!runbook\nhi").turn
        assert turn is not None
        Turn.objects.filter(id=turn.id).update(state=state)
    before = listing(folder)

    with pytest.raises(Conflict, match=f"^{said}; stop what runs") as told:
        trash.delete("alpha")

    assert told.value.code == "busy"
    assert listing(folder) == before


def test_a_message_that_arrives_first_keeps_the_project_in_its_place_all_the_time(
    chats: Chats, folder: Path, monkeypatch
):
    """A worker may begin the message at any moment, so its project must not be away for any."""
    chat = talked(chats)
    before, there = listing(folder / "alpha"), []
    note, look = trash._arming_rows, trash._refuse_busy

    def sent(slug: str):
        chats.send(chat)
        return note(slug)

    def seen(slug: str) -> None:
        there.append((folder / "alpha").exists())
        look(slug)

    monkeypatch.setattr(trash, "_arming_rows", sent)
    monkeypatch.setattr(trash, "_refuse_busy", seen)
    with pytest.raises(Conflict, match="waits to run"):
        trash.delete("alpha")

    assert there == [True, True]
    assert listing(folder / "alpha").keys() == before.keys()
    assert [*(folder / ".trash").iterdir()] == []


def test_triggers_in_the_trash_do_not_fire_and_go_on_by_their_grid(world: World):
    world.write(f"name: Alpha\ntriggers:\n{entry('t', 'interval: 10m')}")
    ticker = world.ticker()
    TriggerState.objects.update(owned_chat="kept")
    armed = world.state("t").armed_at

    trash.delete("alpha")
    assert not TriggerState.objects.exists()
    world.clock.step(minutes=25)
    ticker.step()
    assert world.runs() == []

    trash.restore("alpha")
    ticker.step()

    state = world.state("t")
    assert (state.armed_at, state.owned_chat) == (armed, "kept")
    assert state.next_at is not None
    assert armed is not None
    assert (state.next_at - armed) % timedelta(minutes=10) == timedelta(0)
    assert world.runs() == []


def test_what_was_written_down_of_triggers_may_be_lost_and_they_are_armed_anew(world: World):
    world.write(f"triggers:\n{entry('t')}")
    world.arm()
    gone = trash.delete("alpha")
    (gone.folder / trash.ARMED).write_text("no json")

    trash.restore("alpha")

    assert world.state("t").enabled


def test_a_run_that_waits_keeps_the_project(world: World):
    world.write("name: Alpha\n")
    Run.objects.create(
        id="run_1", project="alpha", kind="trigger", cause="cron", status="queued",
        trigger_type="schedule", queued_at=world.clock.now(),
    )  # fmt: skip

    with pytest.raises(Conflict, match="1 waits to run"):
        trash.delete("alpha")


def test_another_project_of_the_name_keeps_it(world: World, folder: Path):
    world.write("name: Alpha\n")
    trash.delete("alpha")
    world.write("name: Other\n")

    with pytest.raises(Conflict, match="now has the name alpha"):
        trash.restore("alpha")

    assert store.get("alpha").name == "Other"
    trash.delete("alpha")
    assert [one.name for one in trash.listing()] == ["Other", "Alpha"]
    assert trash.restore("alpha").name == "Other"


def test_a_broken_project_can_be_deleted_and_what_is_no_entry_is_left_alone(
    world: World, folder: Path
):
    (folder / "alpha").mkdir()
    (folder / "alpha" / "project.yaml").write_text("name: [\n")
    trash.delete("alpha")
    (folder / ".trash" / "20260101T000000.000000Z-../x").parent.mkdir(exist_ok=True)
    (folder / ".trash" / "notes.txt").write_text("mine")

    assert [(one.slug, one.name) for one in trash.listing()] == [("alpha", "alpha")]
    with pytest.raises(NotFound, match="not found in the trash"):
        trash.restore("beta")
