"""What a project tells its agents: its own words and files of its directory, as text."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.workspace.chats.world import World
from workspace import ids
from workspace.chats.turns import instructions, jobs
from workspace.chats.turns.instructions import InstructionSource
from workspace.engines import acp, claude, select
from workspace.engines.acp import agents
from workspace.engines.sandbox import Sandbox
from workspace.models import Turn

HEAD = instructions.HEAD
MOST = instructions.MOST_BYTES


@pytest.fixture
def folder(world: World) -> Path:
    return world.folder / "alpha"


def block(name: str, text: str) -> str:
    return f'<instructions from="{name}">\n{text}\n</instructions>'


def whole(name: str, text: str) -> InstructionSource:
    return InstructionSource(name=name, bytes=len(text), told=len(text), why=None)


def test_the_files_and_the_words_of_the_project_are_told_in_order(world: World, folder: Path):
    world.write("name: Alpha\ninstructions: |\n  Be brief.\n  Use make.\n")
    (folder / ".claude").mkdir()
    for name in ("CLAUDE.local.md", ".claude/CLAUDE.md", "CLAUDE.md", "AGENTS.md"):
        (folder / name).write_text(f"I am {name}.\n")

    found = instructions.read(world.project, ())

    named = ("AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")
    assert found.text == "\n\n".join((
        HEAD,
        block("project.yaml", "Be brief.\nUse make."),
        *(block(name, f"I am {name}.") for name in named),
    ))  # fmt: skip
    assert found.places == [
        whole("project.yaml", "Be brief.\nUse make.\n"),
        *(whole(name, f"I am {name}.\n") for name in named),
    ]


def test_a_project_that_says_nothing_tells_nothing(world: World, folder: Path):
    (folder / "AGENTS.md").write_text(" \n")

    assert instructions.read(world.project, ()) == ("", [])


@pytest.mark.parametrize("linked", [True, False])
def test_what_stands_in_two_files_or_behind_a_link_is_told_once(
    world: World, folder: Path, linked: bool
):
    (folder / "AGENTS.md").write_text("Be brief.\n")
    if linked:
        (folder / "CLAUDE.md").symlink_to("AGENTS.md")
    else:
        (folder / "CLAUDE.md").write_text("Be brief.\n")

    found = instructions.read(world.project, ())

    assert found.text.count("Be brief.") == 1
    same = InstructionSource(name="CLAUDE.md", bytes=10, told=0, why="the same as AGENTS.md")
    assert found.places == [whole("AGENTS.md", "Be brief.\n"), same]


def test_no_link_out_of_the_directory_and_no_fifo_is_read(
    world: World, folder: Path, tmp_path: Path
):
    (tmp_path / "secret").write_text("SECRET")
    (folder / "AGENTS.md").symlink_to(tmp_path / "secret")
    os.mkfifo(folder / "CLAUDE.md")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/CLAUDE.md").write_text("SECRET")
    (folder / ".claude").symlink_to(tmp_path / "elsewhere")

    found = instructions.read(world.project, ())

    assert found.text == ""
    assert [(place["name"], place["told"], place["why"]) for place in found.places] == [
        ("AGENTS.md", 0, "a link out of the working directory"),
        ("CLAUDE.md", 0, "no regular file"),
        (".claude/CLAUDE.md", 0, "a link out of the working directory"),
    ]


def test_more_than_64_kib_is_cut_and_said(world: World, folder: Path):
    (folder / "AGENTS.md").write_text("é" * MOST)
    (folder / "CLAUDE.md").write_text("never told")

    found = instructions.read(world.project, ())

    assert found.text.count("é") == MOST // 2
    assert f"[AGENTS.md is cut here: {MOST} bytes of it are given]" in found.text
    assert "never told" not in found.text
    assert found.places == [
        InstructionSource(
            name="AGENTS.md", bytes=2 * MOST, told=MOST, why="cut: 64 KiB in all are given"
        ),
        InstructionSource(
            name="CLAUDE.md", bytes=10, told=0, why="left out: 64 KiB in all are given"
        ),
    ]


def test_bytes_that_are_no_text_neither_break_the_turn_nor_grow_beyond_the_bound(
    world: World, folder: Path
):
    (folder / "AGENTS.md").write_bytes(b"\xff\0" * (MOST // 2))

    found = instructions.read(world.project, ())

    assert "\0" not in found.text
    assert len(found.text.encode()) < MOST + 500


def test_a_project_can_switch_the_files_off_and_keeps_its_own_words(world: World, folder: Path):
    (folder / "AGENTS.md").write_text("of the file")
    world.write("name: Alpha\ninstructions: of the project\nreadInstructions: false\n")

    found = instructions.read(world.project, ())

    assert [place["name"] for place in found.places] == ["project.yaml"]
    assert "of the file" not in found.text


def test_what_the_engine_reads_itself_or_includes_is_not_told_twice(world: World, folder: Path):
    (folder / "CLAUDE.md").write_text("See @AGENTS.md for more.\n")
    (folder / "AGENTS.md").write_text("Be brief.\n")
    (folder / "CLAUDE.local.md").write_text("Mine.\n")

    found = instructions.read(world.project, ("CLAUDE.md", ".claude/CLAUDE.md"))

    assert found.text == f"{HEAD}\n\n{block('CLAUDE.local.md', 'Mine.')}"
    assert [place["why"] for place in found.places] == [
        *("the engine reads it itself",) * 2,
        None,
    ]


@pytest.mark.parametrize(
    ("command", "given", "expected"),
    [
        ("codex-acp", {}, ("AGENTS.md",)),
        ("gemini", {}, ()),
        ("something-else", {}, ("AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")),
        ("opencode", {"ownInstructions": []}, ()),
    ],
)
def test_of_an_agent_it_is_known_or_set_what_it_reads(command, given, expected):
    settings = {"agents": {"x": {"command": [command], **given}}}

    assert acp.ENGINE.reads("x", {"settings": settings}) == expected


def test_a_file_that_is_no_place_of_instructions_is_refused_as_one():
    _, problems = agents.read({"agents": {"x": {"command": ["x"], "ownInstructions": ["a.md"]}}})

    assert problems == {
        "x": "engines.acp.agents.x.ownInstructions must be a list of AGENTS.md, CLAUDE.md, "
        ".claude/CLAUDE.md, CLAUDE.local.md"
    }


@pytest.mark.parametrize(("trusted", "expected"), [(True, 2), (False, 0)])
def test_claude_code_reads_two_of_them_with_the_projects_settings(trusted, expected):
    cfg = {"settings": {"projectSettings": trusted}}

    assert len(claude.ENGINE.reads(None, cfg)) == expected


def job(world: World, monkeypatch: pytest.MonkeyPatch, **choice: Any) -> Any:
    monkeypatch.setattr(select, "choose", lambda **_: select.Choice(**choice))
    sent = Turn(id=ids.turn_id(), project="alpha", chat=world.chat().chat.id, sender={})
    return jobs.job_for(sent, pin=False)


def test_the_job_of_a_turn_holds_the_words_and_its_record_the_places(
    world: World, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    (folder / "AGENTS.md").write_text("Be brief.\n")

    made = job(world, monkeypatch, engine="builtin", model="local:m")

    assert made.instructions.startswith('You work in the project "Alpha" (alpha)')
    assert made.instructions.endswith(f"{HEAD}\n\n{block('AGENTS.md', 'Be brief.')}")
    assert made.told == [whole("AGENTS.md", "Be brief.\n")]
    assert type(made).from_json(made.to_json()).told == made.told


def test_who_works_confined_in_a_repository_is_told_what_of_it_is_not_his(
    world: World, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(select, "confinement", lambda: Sandbox("bwrap"))
    said = "the hooks of its git repository are not yours to change"

    assert said not in job(world, monkeypatch, engine="builtin", model="local:m").instructions
    (folder / ".git").mkdir()
    assert said in job(world, monkeypatch, engine="builtin", model="local:m").instructions
    monkeypatch.setattr(select, "confinement", lambda: Sandbox("off"))
    assert said not in job(world, monkeypatch, engine="builtin", model="local:m").instructions


def test_a_runbook_is_told_nothing(world: World, folder: Path, monkeypatch: pytest.MonkeyPatch):
    (folder / "AGENTS.md").write_text("Be brief.\n")

    made = job(world, monkeypatch, engine="runbook")

    assert "Be brief." not in made.instructions
    assert made.told is None
