"""A chat that goes on where a session of Claude Code was left."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.errors import NotFound
from tests.workspace.chats.conftest import world  # noqa: F401 - a fixture
from tests.workspace.chats.sessions import kept
from tests.workspace.chats.sessions.kept import person
from tests.workspace.chats.world import USER, World
from workspace.chats import files, messages
from workspace.chats.sessions import continuing
from workspace.engines import select
from workspace.engines.base import Probe


@pytest.fixture
def session(world: World, tmp_path: Path, monkeypatch, settings) -> Path:  # noqa: F811
    settings.DATA_DIR = tmp_path / "data"
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    (world.folder / "alpha").mkdir(exist_ok=True)
    return kept.keep(tmp_path / "claude/projects", world.project.working_dir, "2.1.330")


def test_its_words_become_lines_of_the_chat_and_the_file_stays_as_it_was(
    world: World,  # noqa: F811
    session: Path,
):
    before = session.read_bytes(), session.stat().st_mtime_ns

    chat = continuing.continue_here(
        principal=USER, project=world.project, session_id=session.stem
    ).chat

    assert (session.read_bytes(), session.stat().st_mtime_ns) == before
    shown, total, _ = messages.page(world.project, chat.id)
    assert total == 6
    assert [one["role"] for one in shown[:2]] == ["notice", "user"]
    assert shown[1]["content"] == kept.WORDS
    assert shown[0]["timestamp"].startswith("2026-11-23T20:23:")
    told = world.records(chat.id)
    assert {record.get("imported") for record in told} == {True}
    assert [record["seq"] for record in told] == [*range(1, len(told) + 1)]
    assert told[-1]["type"] == "turn_end"
    record = world.record(chat.id)
    assert record["name"] == kept.WORDS
    assert record["importedFrom"]["session"] == session.stem


def test_a_chat_says_what_of_the_session_it_lacks(world: World, session: Path):  # noqa: F811
    directory = world.project.working_dir
    path = kept.write(session.parent.parent, directory, person("one", 1), person("two", 2, 1))
    path.write_text("torn" + path.read_text())

    chat = continuing.continue_here(
        principal=USER, project=world.project, session_id=path.stem
    ).chat

    _, notice, user = messages.page(world.project, chat.id)[0]
    assert (notice["role"], notice["level"], notice["code"]) == ("notice", "warn", "imported")
    assert notice["content"].startswith("One earlier line ")
    assert user["content"] == "two"
    assert {record.get("imported") for record in world.records(chat.id)} == {True}


def test_the_engine_is_lent_a_copy_where_it_is_there(
    world: World,  # noqa: F811
    session: Path,
    settings,
    monkeypatch,
):
    monkeypatch.setattr(select, "probe", lambda engine: Probe(available=True))

    chat = continuing.continue_here(
        principal=USER, project=world.project, session_id=session.stem, name="Mine"
    ).chat

    record = world.record(chat.id)
    assert (record["name"], record["engine"]) == ("Mine", "claude")
    assert record["engineRef"] == {"claude": {"session": session.stem, "chat": ""}}
    (copy,) = Path(settings.DATA_DIR).glob(f"engines/claude/alpha/*/{session.stem}.jsonl")
    assert copy.read_bytes() == session.read_bytes()
    assert copy.stat().st_mode & 0o777 == 0o600


def test_a_session_that_is_not_there_makes_no_chat(world: World, session: Path):  # noqa: F811
    with pytest.raises(NotFound, match="Claude Code keeps no session"):
        continuing.continue_here(
            principal=USER, project=world.project, session_id="7f8a1c9e-7d6f-4c5b-8f6e-0a1b2c3d4e5f"
        )

    assert not list(world.folder.glob("alpha/.chats/*.yaml"))


def test_a_full_disk_leaves_no_half_chat(world: World, session: Path, monkeypatch):  # noqa: F811
    monkeypatch.setattr(files, "create", _full)

    with pytest.raises(OSError, match="full"):
        continuing.continue_here(principal=USER, project=world.project, session_id=session.stem)

    assert not list(world.folder.glob("alpha/.chats/*.jsonl"))


def _full(*_: object) -> None:
    raise OSError("full")
