"""What the server tells its clients: files and rows that changed, by id."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from tests.service import until
from tests.workspace.chats.conftest import world  # noqa: F401 - a fixture
from tests.workspace.chats.world import HELLO, World
from tests.workspace.trees.desk import Desk
from workspace import models
from workspace.background import indexer, watcher
from workspace.background.indexer import Indexer
from workspace.background.ledger import Ledger
from workspace.background.places import Places
from workspace.background.watcher import Background, find_affected
from workspace.chats import files, index
from workspace.chats.search import indexing
from workspace.chats.turns import questions, queue
from workspace.models import Passage, Run, Searched, Turn
from workspace.projects import store
from workspace.trees import undo

Told = list[tuple[str, dict[str, Any]]]


@pytest.fixture
def told() -> Told:
    return []


@pytest.fixture
def ledger(world: World, told: Told) -> Ledger:  # noqa: F811
    ledger = Ledger(lambda event, data: told.append((event, dict(data))))
    ledger.look(silent=True)
    return ledger


def test_a_queue_that_changed_is_told_by_chat(world: World, ledger: Ledger, told: Told):  # noqa: F811
    chat = world.chat(HELLO).chat.id
    ledger.look()
    Turn.objects.update(state="running")
    ledger.look()
    ledger.look()
    Turn.objects.update(state="done")
    ledger.look()

    assert told == [("chat", {"project": "alpha", "sessionId": chat})] * 3


def test_pages_hear_when_other_questions_wait_and_not_when_one_waits_longer(world: World):  # noqa: F811
    heard: list[list[str]] = []
    ledger = Ledger(lambda *_: None, asks=lambda: heard.append(asked()))
    world.chat(HELLO)
    ledger.look(silent=True)

    def asked() -> list[str]:
        return [one["call"] for turn in questions.asking() for one in questions.waiting(turn)]

    def now(
        *calls: str, until: str = "2026-01-01T00:10:00Z", answers: tuple[str, ...] = ()
    ) -> None:
        asks = [{"call": call, "tool": "Bash", "summary": "", "since": until, "until": until}
                for call in calls]  # fmt: skip
        given = [{"call": call, "allow": True} for call in answers]
        Turn.objects.update(state="running", asks=asks, answers=given)
        ledger.look()

    now()
    now("c1")
    now("c1", until="2026-01-01T00:20:00Z")
    now("c1", "c2")
    now("c1", "c2", answers=("c1",))
    now("c2", answers=("c1",))
    now(answers=("c1",))

    assert heard == [["c1"], ["c1", "c2"], ["c2"], []]


def test_runs_are_told_when_they_begin_change_and_end(ledger: Ledger, told: Told):
    run = Run.objects.create(
        id="run_1", project="alpha", queued_at=datetime.now(UTC), status="queued"
    )
    ledger.look()
    for status in ("running", "completed"):
        Run.objects.filter(id=run.id).update(status=status)
        ledger.look()
    Run.objects.create(id="run_2", project="beta", queued_at=datetime.now(UTC), status="skipped")
    ledger.look()
    ledger.look()

    event = ("run", {"project": "alpha", "id": "run_1"})
    assert told == [event] * 3 + [("run", {"project": "beta", "id": "run_2"})]


def test_a_database_that_is_being_made_again_is_back_when_every_migration_ran(
    world: World,  # noqa: F811
    told: Told,
):
    healed: list[str] = []
    ledger = Ledger(lambda *_: None, healed=lambda: healed.append("healed"))
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE workspace_run RENAME TO workspace_run_away")
    try:
        ledger.look()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE workspace_run_away RENAME TO workspace_run")
    newest = MigrationRecorder.Migration.objects.filter(app="workspace").latest("id")
    newest.delete()
    ledger.look()
    assert healed == []

    newest.save(force_insert=True)
    ledger.look()
    ledger.look()
    assert healed == ["healed"]


def test_only_paths_that_mean_something_are_told(world: World, settings):  # noqa: F811
    root: Path = settings.PROJECTS_DIR
    chat = "7f8a1c9e-7d6f-4c5b-8f6e-0a1b2c3d4e5f"

    slugs, chats = find_affected(
        {
            root / "alpha" / "project.yaml",
            root / "beta" / "CHANGELOG.md",
            root / "gamma",
            root / "alpha" / "src.py",
            root / "alpha" / ".chats" / f"{chat}.jsonl",
            root / "beta" / ".chats" / f"{chat}.yaml",
            root / "alpha" / ".chats" / f"{chat}.live",
            root / "alpha" / ".chats" / "x.jsonl",
            root / "Not A Slug",
            Path("/etc/passwd"),
        }
    )

    assert slugs == {"alpha", "beta", "gamma"}
    assert chats == {("alpha", chat, False), ("beta", chat, True)}


def test_a_directory_that_goes_and_comes_back_is_told_each_time(
    world: World,  # noqa: F811
    told: Told,
    tmp_path: Path,
):
    notes = tmp_path / "notes"
    notes.mkdir()
    world.write(f"name: Alpha\npath: {notes}\n")
    places = Places(lambda event, data: told.append((event, dict(data))))
    places.look()
    places.look()
    assert told == []

    notes.rename(tmp_path / "away")
    places.look()
    places.look()
    assert told == [("project", {"slug": "alpha"})]
    (tmp_path / "away").rename(notes)
    places.look()

    assert told == [("project", {"slug": "alpha"})] * 2


def test_a_hand_edit_reaches_clients_and_the_table(world: World, told: Told, monkeypatch):  # noqa: F811
    part = Background()
    monkeypatch.setattr(
        part._events, "publish", lambda event, data: told.append((event, dict(data)))
    )
    part.start()
    try:
        world.write("name: By hand\n")
        until(lambda: ("project", {"slug": "alpha"}) in told)
        until(lambda: models.Project.objects.get(slug="alpha").data == {"name": "By hand"})

        chat = world.chat(name="Made").chat.id
        until(lambda: ("chat", {"project": "alpha", "sessionId": chat}) in told)
    finally:
        part.stop()


def test_no_event_waits_for_a_chat_being_indexed_and_rows_are_up_when_it_comes(
    world: World,  # noqa: F811
    monkeypatch,
):
    """As one of 50 MB is for seconds: here until the test lets it go on."""
    begun, go_on = Event(), Event()
    catch_up = indexing.catch_up

    def slowly(*args, **kwargs) -> None:
        begun.set()
        assert go_on.wait(20)
        catch_up(*args, **kwargs)

    monkeypatch.setattr(indexing, "catch_up", slowly)
    part = Background()
    counted: dict[str, int] = {}

    def publish(event: str, data: dict[str, Any]) -> None:
        if event == "chat":
            chat = models.Chat.objects.get(id=data["sessionId"])
            counted[chat.id] = chat.messages

    monkeypatch.setattr(part._events, "publish", publish)
    first, second = world.chat(name="First").chat.id, world.chat(name="Second").chat.id
    part.start()
    try:
        for chat in (first, second):
            world.finish(chat, f"needle of {chat}")
            until(lambda: counted.get(chat) == 1)  # noqa: B023
            assert begun.wait(20)
        assert not Passage.objects.exists()

        go_on.set()
        until(lambda: Passage.objects.count() == 2)
    finally:
        go_on.set()
        part.stop()


def test_a_chat_whose_row_cannot_be_brought_up_is_told_all_the_same(
    world: World,  # noqa: F811
    told: Told,
    monkeypatch,
):
    chat = world.chat(name="Odd").chat.id
    part = Background()
    monkeypatch.setattr(
        part._events, "publish", lambda event, data: told.append((event, dict(data)))
    )

    def fails(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(index, "get", fails)
    part.on_change({world.transcript(chat)})

    part._watcher.stop()
    assert told == [("chat", {"project": "alpha", "sessionId": chat})]


@pytest.fixture
def read(monkeypatch) -> Iterator[tuple[Indexer, list[str]]]:
    """An indexer, and the chats it has read, in order."""
    chats: list[str] = []
    monkeypatch.setattr(store, "get", lambda slug: slug)
    monkeypatch.setattr(indexing, "catch_up", lambda _slug, chat, **_: chats.append(chat))
    part = Indexer()
    part.start()
    yield part, chats
    part.stop()


def test_what_grows_in_one_stretch_is_read_once_when_that_is_over(monkeypatch, read):
    monkeypatch.setattr(indexer, "QUIET_S", 0.2)
    part, chats = read
    for chat in ("a", "b", "a", "c", "a"):
        part.grew("alpha", chat)
        assert chats == []

    until(lambda: len(chats) == 3)
    assert chats == ["a", "b", "c"]


def test_what_never_rests_is_read_all_the_same(monkeypatch, read):
    monkeypatch.setattr(indexer, "QUIET_S", 60)
    monkeypatch.setattr(indexer, "MOST_S", 0.1)
    part, chats = read
    part.grew("alpha", "a")
    part.grew("alpha", "b")

    until(lambda: chats == ["a", "b"])


def test_a_stop_does_not_wait_for_rest(monkeypatch, read):
    part, chats = read
    monkeypatch.setattr(indexer, "QUIET_S", 60)
    part.grew("alpha", "a")
    part.stop()

    assert not part._thread.is_alive()
    assert chats == []


class Resting:
    """An indexer's waits on a clock of their own: what others write meanwhile, until a stop."""

    def __init__(self, monkeypatch, writes: Iterable[float] = (), stop: float = 1e9) -> None:
        self.now, self.writes, self.stop = 100.0, [*writes], stop
        self.part = Indexer()
        monkeypatch.setattr(self.part, "_stopped", self)
        monkeypatch.setattr(indexer, "time", self)

    def monotonic(self) -> float:
        return self.now

    def wait(self, seconds: float) -> bool:
        self.now += max(0.0, seconds)
        while self.writes and self.writes[0] <= self.now - 100:
            self.part._last = 100 + self.writes.pop(0)
        return self.now - 100 >= self.stop

    def rest(self, *, took: float) -> tuple[bool, float]:
        """Whether to go on, and after how many seconds."""
        self.part._rested, began = self.now - took, self.now
        return self.part._rest(), round(self.now - began, 6)


def test_others_have_the_database_as_long_as_a_part_had_it(monkeypatch):
    assert Resting(monkeypatch).rest(took=0.03) == (True, 0.03)
    assert Resting(monkeypatch).rest(took=7.0) == (True, 7.0)


def test_no_part_is_begun_while_others_write_one_chat_after_the_other(monkeypatch):
    writes = [0.0, 0.05, 0.12, 0.2, 0.25]

    assert Resting(monkeypatch, writes).rest(took=0.01) == (True, 0.25 + indexer.CALM_S)


def test_who_never_stops_writing_holds_a_part_up_for_a_second(monkeypatch):
    writes = [number / 100 for number in range(1000)]

    assert Resting(monkeypatch, writes).rest(took=0.01) == (True, indexer.REST_S)


def test_a_stop_ends_the_rest_and_the_reading(monkeypatch):
    assert Resting(monkeypatch, [0.0], stop=0.01).rest(took=0.01) == (False, 0.01)


def test_what_is_not_indexed_at_the_start_is_caught_up_with_then(world: World):  # noqa: F811
    world.finish(world.chat(name="Before").chat.id, "needle")
    Passage.objects.all().delete()
    Searched.objects.all().delete()

    part = Background()
    part.start()
    try:
        until(lambda: Passage.objects.count() == 1)
    finally:
        part.stop()


def test_a_start_removes_what_a_killed_undo_left_in_a_work_tree(world: World, tmp_path: Path):  # noqa: F811
    desk = Desk(tmp_path / "work")
    turn = desk.at_work().writes("a.txt", "turn\n").writes("src/b.txt", "turn\n").ends()
    if not (child := os.fork()):
        undo.restore_files(desk.project, turn.row.chat, turn.row.id, "undo")
        os.kill(os.getpid(), signal.SIGKILL)  # before what it displaced is checked and removed
    os.waitpid(child, 0)
    mine = desk.root / ".svc-tmp-notes"
    mine.mkdir()
    assert len([*desk.root.rglob(".svc-tmp-*~")]) == 2

    part = Background()
    part.start()
    try:
        until(lambda: [*desk.root.rglob(".svc-tmp-*")] == [mine])
    finally:
        part.stop()

    assert (desk.read("a.txt"), desk.read("src/b.txt")) == ("one\n", "two\n")


def test_reindex_makes_the_tables_anew_from_the_files(world: World):  # noqa: F811
    chat = world.chat(name="Kept").chat.id
    world.finish(chat, "One")
    models.Project.objects.all().delete()
    models.Chat.objects.all().delete()
    store.MIRROR._known.clear()

    watcher.reindex()

    assert models.Project.objects.get(slug="alpha").data["name"] == "Alpha"
    assert models.Chat.objects.get(id=chat).messages == 1
    assert queue.active_rows("alpha", chat) == []
    files.record_path(world.project, chat).unlink()
    watcher.reindex()
    assert not models.Chat.objects.exists()
