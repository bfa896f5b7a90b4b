"""T7: outside of its list and mode no tool has any effect, measured at what it would have done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.promises import tool_list
from tests.workspace.chats.turns.world import BASE, World, book, fence, kinds
from tests.workspace.engines.manage import manage

SVC = "mcp__svc_manage__"
MODES = ("default", "acceptEdits", "bypassPermissions", "plan")
CLASSES = {
    "Read": "R", "Glob": "R", "Grep": "R", "Edit": "E", "Write": "E", "NotebookEdit": "E",
    "Bash": "X", "WebFetch": "N", "WebSearch": "N", "Task": "absent", "TodoWrite": "P",
    f"{SVC}read_chat": "R", f"{SVC}create_chat": "S",
}  # fmt: skip
LISTS: list[list[str] | None] = [None, [], *([tool] for tool in CLASSES)]
NOTEBOOK = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def allowed(tool: str, mode: str, tools: list[str] | None) -> bool:
    """The rules of an unattended turn, said once more and differently than the policy does."""
    kind = CLASSES[tool]
    if kind == "absent" or (tools is not None and tool not in tools):
        return False
    if mode == "plan":
        return kind in "RP" or (kind == "N" and tools is not None)
    by_mode = {"default": "RP", "acceptEdits": "RPE", "bypassPermissions": "RPEXNS"}[mode]
    return tools is not None or kind in by_mode


def allowed_to_model(tool: str, mode: str, tools: list[str] | None) -> bool:
    """The same for a turn that has a model: it may have tasks wherever it may spawn."""
    if tool == "Task":
        return mode != "plan" and (tools is None or tool in tools)
    return allowed(tool, mode, tools)


def steps(url: str) -> str:
    calls: dict[str, tuple[str, str]] = {
        "Read": ("file_path=known.txt", ""),
        "Glob": ("pattern=known*", ""),
        "Grep": ("pattern=secret", ""),
        "Edit": ("file_path=edited.txt", '{"old_string": "old", "new_string": "new"}'),
        "Write": ("file_path=written.txt", "x"),
        "NotebookEdit": ("notebook_path=n.ipynb edit_mode=insert", "x"),
        "Bash": ("", "touch commanded"),
        "WebFetch": (f"url={url}/page", ""),
        "WebSearch": ("query=x", ""),
        "Task": ("", '{"description": "d", "prompt": "p"}'),
        "TodoWrite": ("", '{"todos": []}'),
        f"{SVC}read_chat": ("", '{"session_id": "x"}'),
        f"{SVC}create_chat": ("", '{"prompt": "x"}'),
    }
    return book(
        *(fence(tool, body, f"allow_failure {attrs}") for tool, (attrs, body) in calls.items())
    )


def effects(world: World, calls: list[tuple[str, Any]], results: dict[str, str]) -> set[str]:
    """What left a trace: in files, at a server, or in what came back."""
    paths = [path for name, path in calls if name == "GET"]
    traces = {
        "Read": "secret" in results["Read"],
        "Glob": "known.txt" in results["Glob"],
        "Grep": "known.txt" in results["Grep"],
        "Edit": (world.project / "edited.txt").read_text() == "new",
        "Write": (world.project / "written.txt").exists(),
        "NotebookEdit": len(json.loads((world.project / "n.ipynb").read_text())["cells"]) > 0,
        "Bash": (world.project / "commanded").exists(),
        "WebFetch": "/page" in paths,
        "WebSearch": any(path.startswith("/search") for path in paths),
        "TodoWrite": "noted" in results["TodoWrite"],
        f"{SVC}read_chat": any(name == "read_chat" for name, _ in calls),
        f"{SVC}create_chat": any(name == "create_chat" for name, _ in calls),
    }
    return {tool for tool, traced in traces.items() if traced}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[tuple[World, dict[str, Any], list[tuple[str, Any]]]]:
    world = World(tmp_path)
    (world.project / "known.txt").write_text("secret\n")
    (world.project / "edited.txt").write_text("old")
    (world.project / "n.ipynb").write_text(json.dumps(NOTEBOOK))
    with manage({"read_chat": "{}", "create_chat": "{}"}) as (svc, calls):
        svc["ops"] = {"read_chat": {"session_id": "string"}, "create_chat": {"prompt": "text"}}
        yield world, svc, calls


@pytest.mark.promise("T7")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("tools", LISTS, ids=lambda tools: "all" if tools is None else str(tools))
def test_only_what_list_and_mode_allow_has_an_effect(place, tools, mode):
    world, svc, calls = place
    url = svc["url"].removesuffix("/_svc/mcp")

    records = world.run(
        steps(url),
        tools=tools,
        mode=mode,
        svc=svc,
        may_spawn=True,
        sender={"kind": "trigger"},
        engine_cfg={"tools": {"web": {"allowPrivate": True, "searchUrl": f"{url}/search"}}},
    )

    uses = {record["call"]: record["tool"] for record in records if record["type"] == "tool_use"}
    results = {uses[r["call"]]: r["text"] for r in records if r["type"] == "tool_result"}
    expected = {tool for tool in CLASSES if allowed(tool, mode, tools)}
    assert set(uses.values()) == set(results) == set(CLASSES)
    assert effects(world, calls, results) == expected
    denied = {record["tool"] for record in records if record["type"] == "permission"}
    assert denied == set(CLASSES) - expected - {"Task"}
    assert kinds(records)[-1] == "turn_end"
    assert records[-1]["status"] == "ok"


def test_the_page_of_the_tool_list_is_what_the_code_decides():
    assert tool_list.PAGE.read_text() == tool_list.render(), (
        "run python -m tests.promises.tool_list"
    )


def test_the_page_names_tests_that_are_there():
    assert [path for path in tool_list.SHOWN_BY.values() if not (BASE / path).is_file()] == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("tools", tool_list.LISTS)
def test_the_page_says_what_the_turns_of_this_test_show(tools, mode):
    """Two tellings of the same rows: the gate's own, and the one that real turns are held to."""
    for tool in set(CLASSES) - {"Task"}:
        given = {"no list": None, "named": [tool], "not named": [], "empty": []}[tools]
        assert (tool_list.cell(tool, tools, mode) == "yes") == allowed(tool, mode, given), tool
