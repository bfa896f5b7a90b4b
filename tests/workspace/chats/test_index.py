"""The index of chats equals the files, whatever changed them and however."""

from __future__ import annotations

import errno
import os
import resource
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from config.errors import NotFound, SvcError
from config.storage import opening
from tests.workspace.chats.world import World
from workspace.chats import counts, files, index, messages, said, transcript
from workspace.chats.search import search
from workspace.models import Chat
from workspace.projects import store as projects


def forget() -> None:
    """What a restart of the process forgets."""
    index._folders.clear()


def test_a_finished_turn_shows_in_counts_times_and_preview(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "Look into it", "All is well.")

    row = index.get(world.project, chat)

    assert (row.messages, row.entries, row.preview) == (2, 2, "All is well.")
    assert row.last_turn is not None
    assert row.last_turn["status"] == "completed"
    last = world.records(chat, "assistant")[-1]["ts"]
    assert row.updated == counts.moment(last)


def test_a_failed_turn_counts_as_an_entry_of_read_chat(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "Go", status="error", reason="step_failed", text="Bash x failed")

    row = index.get(world.project, chat)

    assert (row.messages, row.entries) == (1, 2)
    assert row.last_turn == {
        "status": "failed",
        "reason": "Bash x failed",
        "finishedAt": world.records(chat, "turn_end")[0]["ts"],
        "model": None,
    }


def test_the_updated_time_never_comes_from_the_file_system(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "Hi")
    before = index.get(world.project, chat).updated

    os.utime(world.transcript(chat), (0, 0))

    assert index.get(world.project, chat).updated == before


def test_only_what_grew_is_read_again(world: World, monkeypatch):
    chat = world.chat().chat.id
    world.finish(chat, "One")
    read_from: list[int] = []
    scan = transcript.Scan

    def noted(path: str, start: int, **how: Any) -> transcript.Scan:
        read_from.append(start)
        return scan(path, start, **how)

    index.get(world.project, chat)
    world.finish(chat, "Two")
    monkeypatch.setattr(transcript, "Scan", noted)

    assert index.get(world.project, chat).messages == 2
    index.get(world.project, chat)
    index.entries(world.project)

    assert len(read_from) == 1
    assert read_from[0] > 0


def test_a_restart_reads_the_table_and_not_the_transcripts(world: World, monkeypatch):
    chat = world.chat(name="Kept").chat.id
    world.finish(chat, "One", "Answer")
    index.rescan(world.project)
    forget()
    monkeypatch.setattr(transcript, "Scan", None)

    rows = index.entries(world.project)

    assert [(row.name, row.preview) for row in rows] == [("Kept", "Answer")]


def test_losing_the_table_loses_nothing(world: World):
    chat = world.chat(name="Kept").chat.id
    world.finish(chat, "One", "Answer")
    before = index.get(world.project, chat)
    Chat.objects.all().delete()
    forget()

    after = index.get(world.project, chat)

    for column in ("name", "preview", "messages", "entries", "offset", "updated", "created"):
        assert getattr(after, column) == getattr(before, column), column


def test_a_torn_last_line_is_not_served_and_counted_once_it_is_healed(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "One")
    with world.transcript(chat).open("ab") as file:
        file.write(b'{"v":1,"seq":9,"type":"us')
    assert index.get(world.project, chat).damaged == 0

    world.finish(chat, "Two")

    row = index.get(world.project, chat)
    assert (row.damaged, row.messages) == (1, 2)


def test_a_transcript_put_back_from_elsewhere_is_read_from_its_start(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "One", "a", "b")
    index.get(world.project, chat)
    path = world.transcript(chat)
    lines = path.read_bytes().splitlines(keepends=True)
    fresh = path.with_name("draft")
    fresh.write_bytes(b"".join(lines[:2]))
    fresh.replace(path)

    assert index.get(world.project, chat).messages == 1


@pytest.mark.parametrize(("words", "more"), [(b"swordfish", 0), (b"a longer secret", 1), (b"x", 1)])
def test_an_edit_in_place_shows_in_lists_and_in_the_search(world: World, words: bytes, more: int):
    chat = world.chat().chat.id
    world.finish(chat, "My pass1word", "The pass1word is noted.")
    found("pass1word")
    path = world.transcript(chat)
    edited = path.read_bytes().replace(b"pass1word", words)
    with path.open("r+b") as file:
        file.write(edited)
        file.truncate()
    for _ in range(more):  # before anybody looked
        world.finish(chat, "More")
    os.utime(path, (1e9, 1e9))

    row = index.get(world.project, chat)

    shown = words.decode()
    assert (row.title, row.messages, row.damaged) == (f"My {shown}", 2 + more, 0)
    assert found("pass1word") == []
    assert found(shown) == ["The " + shown + " is noted.", "My " + shown]


def test_a_line_that_is_just_being_added_is_no_edit(world: World, monkeypatch):
    """The time of a file is new before its size is."""
    chat = world.chat().chat.id
    world.finish(chat, "One")
    index.get(world.project, chat)
    reads: list[bool] = []
    read = counts.read

    def noted(row: Chat, path: str, *, anew: bool) -> tuple[bool, bool]:
        reads.append(anew)
        return read(row, path, anew=anew)

    monkeypatch.setattr(counts, "read", noted)
    os.utime(world.transcript(chat))
    index.get(world.project, chat)
    world.finish(chat, "Two")

    assert index.get(world.project, chat).messages == 2
    assert reads == [False]


def test_an_emptied_transcript_is_as_old_as_its_chat(world: World):
    chat = world.chat().chat.id
    world.finish(chat, "One")
    index.get(world.project, chat)

    os.truncate(world.transcript(chat), 0)

    row = index.get(world.project, chat)
    assert (row.messages, row.updated) == (0, row.created)


def found(text: str) -> list[str]:
    hits = search.search(projects.all(), text, only=None, limit=9).hits
    return [str(hit.shown["content"]) for hit in hits]


@contextmanager
def kept_from_us(monkeypatch: pytest.MonkeyPatch, name: str) -> Iterator[None]:
    """No file of this name can be opened, which leaves no trace in it."""
    regular = opening.regular

    def refused(path: Any, **how: Any) -> int:
        if str(path).endswith(name):
            raise PermissionError(errno.EACCES, "Permission denied")
        return regular(path, **how)

    with monkeypatch.context() as patched:
        patched.setattr(opening, "regular", refused)
        yield


@pytest.mark.parametrize("replaced", [False, True])
def test_a_transcript_that_cannot_be_read_hides_no_chat_and_forgets_nothing(
    world: World, monkeypatch, replaced: bool
):
    chat, other = world.chat().chat.id, world.chat().chat.id
    world.finish(chat, "One")
    index.entries(world.project)
    path = world.transcript(chat)
    if replaced:
        copy = path.with_suffix(".copy")
        shutil.copy(path, copy)
        copy.replace(path)
    world.finish(chat, "Two")

    with kept_from_us(monkeypatch, f"{chat}.jsonl"):
        for _ in range(2):
            seen = {row.id: row for row in index.entries(world.project)}
            assert index.get(world.project, chat) is seen[chat]
            assert seen.keys() == {chat, other}
            assert (seen[chat].title, seen[chat].messages) == ("One", 1)
            assert seen[chat].error == "its transcript cannot be read: Permission denied"
        for read in (messages.page, said.read_chat):
            with pytest.raises(SvcError, match="of this chat cannot be read: Permission denied"):
                read(world.project, chat, limit=5)
    row = index.get(world.project, chat)

    assert (row.error, row.messages) == ("", 2)
    assert Chat.objects.get(id=chat).error == ""


def test_a_record_that_could_not_be_read_is_read_as_soon_as_it_can_be(world: World, monkeypatch):
    chat = world.chat(name="One").chat.id
    files.update(world.project, chat, name="Two")

    with kept_from_us(monkeypatch, f"{chat}.yaml"):
        row = index.get(world.project, chat)
        assert (row.error, row.name) == ("cannot be read: Permission denied", "One")
        forget()
    row = index.get(world.project, chat)

    assert (row.error, row.name) == ("", "Two")


def test_a_folder_that_cannot_be_opened_costs_no_chat(world: World):
    chat = world.chat("Hello").chat.id
    world.finish(chat, "Hello")
    index.entries(world.project)

    with no_more_open_files():
        seen = index.entries(world.project)
        forget()
        seen_afresh = index.entries(world.project)

    assert [row.title for row in (*seen, *seen_afresh)] == ["Hello", "Hello"]
    assert Chat.objects.count() == 1


@contextmanager
def no_more_open_files() -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.open("/dev/null", os.O_RDONLY)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_a_record_that_does_not_parse_keeps_what_was_last_read_well(world: World):
    chat = world.chat(name="Good").chat.id
    index.get(world.project, chat)
    files.record_path(world.project, chat).write_text("name: [unclosed\n")

    row = index.get(world.project, chat)

    assert row.name == "Good"
    assert row.error


def test_a_chat_removed_by_hand_is_gone_from_table_and_lists(world: World):
    chat = world.chat().chat.id
    files.record_path(world.project, chat).unlink()

    assert index.entries(world.project) == []
    assert not Chat.objects.filter(id=chat).exists()
    with pytest.raises(NotFound):
        index.get(world.project, chat)


def test_a_chat_removed_while_nobody_looked_is_not_in_the_first_list(world: World):
    kept, gone = world.chat().chat.id, world.chat().chat.id
    index.entries(world.project)
    forget()
    files.record_path(world.project, gone).unlink()

    assert [row.id for row in index.entries(world.project)] == [kept]
    assert [row.id for row in Chat.objects.all()] == [kept]


def test_what_no_id_opens_is_in_no_list(world: World):
    chat = world.chat().chat.id
    folder = world.transcript(chat).parent
    record = (folder / f"{chat}.yaml").read_bytes()
    for name in (chat.upper(), "notes-of-thirty-six-characters-long!", "g" + chat[1:]):
        (folder / f"{name}.yaml").write_bytes(record)
        (folder / f"{name}.jsonl").write_bytes(b"")

    index.rescan(world.project)

    assert [row.id for row in index.entries(world.project)] == [chat]
    assert [record.id for record in files.all(world.project)] == [chat]
    assert [*Chat.objects.values_list("id", flat=True)] == [chat]


def test_a_record_edited_in_place_is_seen_at_once_alone_and_soon_in_lists(
    world: World, monkeypatch
):
    chat = world.chat(name="Old").chat.id
    index.entries(world.project)
    path = files.record_path(world.project, chat)
    path.write_text(path.read_text().replace("Old", "New"))
    assert index.get(world.project, chat).name == "New"

    path.write_text(path.read_text().replace("New", "Newer"))
    monkeypatch.setattr(index, "RECORDS_LOOK_S", 0)

    assert [row.name for row in index.entries(world.project)] == ["Newer"]


def test_a_missing_id_asked_for_writes_nothing(world: World, django_assert_num_queries):
    project = world.project

    with django_assert_num_queries(0), pytest.raises(NotFound):
        index.get(project, "7f8a1c9e-7d6f-4c5b-8f6e-0a1b2c3d4e5f")
