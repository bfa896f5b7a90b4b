"""The tool list is a wall (promise T7): by list, mode, path, in subagents, with a broken gate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.promises.rings import WHOLE, few
from tests.promises.test_t7_tools_are_limited import (
    ACTS,
    CLASSES,
    MODES,
    NOTEBOOK,
    REVIEW,
    SVC,
    allowed_to_model,
)
from tests.stubs.anthropic import Asked, Block, Reply, text, use
from tests.workspace.chats.turns.world import only
from tests.workspace.engines.claude.conftest import Desk, Record, ended, of, results
from tests.workspace.engines.manage import manage

Tools = list[str] | None
# The tools of the other parts come the way of svc_manage; test_every_engine.py has them.
KNOWN = {tool for tool in CLASSES if not tool.startswith((REVIEW, ACTS))}
ALONE = [[tool] for tool in CLASSES if tool in KNOWN]
TEAMS = [["Task", "Read", "Write"], ["Task", "Bash", f"{SVC}read_chat"]]
LISTS: list[Tools] = [None, [], *ALONE, *TEAMS]
EVERY: list[tuple[Tools, str]] = [(tools, mode) for tools in LISTS for mode in MODES]
# What a mode denies, and what a list does where the mode denies nothing; the whole ring takes every
# cell.
FEW: list[tuple[Tools, str]] = [(None, "default"), (TEAMS[0], "bypassPermissions")]
BROKEN = """
from workspace.engines import looped
async def gate(*given):
    raise RuntimeError("the gate is broken")
looped._Performance.gate = gate
"""


def prepare(project: Path, who: str) -> None:
    (project / f"{who}_known.txt").write_text(f"secret of {who}\n")
    (project / f"{who}_edited.txt").write_text("old")
    (project / f"{who}_n.ipynb").write_text(json.dumps(NOTEBOOK))


def first_calls(who: str, url: str) -> list[Block]:
    calls: dict[str, dict[str, Any]] = {
        "Read": {"file_path": f"{who}_known.txt"},
        "Glob": {"pattern": f"{who}_known*"},
        "Grep": {"pattern": f"secret of {who}"},
        "Edit": {"file_path": f"{who}_edited.txt", "old_string": "old", "new_string": "new"},
        "Write": {"file_path": f"{who}_written.txt", "content": "x"},
        "Bash": {"command": f"touch {who}_commanded"},
        "WebFetch": {"url": f"{url}/{who}", "prompt": "x"},
        "WebSearch": {"query": f"about {who}"},
        "TodoWrite": {"todos": []},
        f"{SVC}read_chat": {"session_id": who},
        f"{SVC}create_chat": {"prompt": who},
    }
    return [use(tool, args) for tool, args in calls.items()]


def script(desk: Desk, url: str) -> None:
    """Both agents call everything; a notebook is edited after it was read."""
    for who in ("main", "sub"):
        prepare(desk.project, who)
    searching = [Reply([text("found")])] * 2
    desk.stub.when(lambda asked: asked.tools == ["web_search"], *searching)
    edit = {"edit_mode": "insert", "cell_type": "code", "new_source": "x"}
    for who, more in (("sub", []), ("main", [task()])):
        replies = [
            Reply([use("Read", {"file_path": f"{who}_n.ipynb"})]),
            Reply([*first_calls(who, url), *more]),
            Reply([use("NotebookEdit", {"notebook_path": f"{who}_n.ipynb", **edit})]),
            Reply([text("ok")]),
        ]
        desk.stub.when(in_task if who == "sub" else (lambda asked: not in_task(asked)), *replies)


def task() -> Block:
    args = {"description": "d", "prompt": "SUB", "run_in_background": False}
    return use("Agent", args, call="toolu_task")


def in_task(asked: Asked) -> bool:
    return asked.says("SUB")


def effects(project: Path, who: str, calls: list[tuple[str, Any]], told: list[Record]) -> set[str]:
    """What left a trace: in files, at a server, or in what came back."""
    found = results(told)
    notebook = json.loads((project / f"{who}_n.ipynb").read_text())
    traces = {
        "Read": f"secret of {who}" in found["Read"][1],
        "Glob": f"{who}_known.txt" in found["Glob"][1],
        "Grep": f"{who}_known.txt" in found["Grep"][1],
        "Edit": (project / f"{who}_edited.txt").read_text() == "new",
        "Write": (project / f"{who}_written.txt").exists(),
        "NotebookEdit": bool(notebook["cells"]),
        "Bash": (project / f"{who}_commanded").exists(),
        "WebFetch": "SSL" in found["WebFetch"][1],  # it always asks for https
        "WebSearch": "found" in found["WebSearch"][1],
        f"{SVC}read_chat": ("read_chat", {"session_id": who}) in calls,
        f"{SVC}create_chat": ("create_chat", {"prompt": who}) in calls,
    }
    return {tool for tool, traced in traces.items() if traced}


@pytest.mark.promise("T7")
@pytest.mark.timeout(120)
@pytest.mark.parametrize(("tools", "mode"), EVERY if WHOLE else FEW, ids=str)
def test_only_what_list_and_mode_allow_has_an_effect(desk: Desk, tools: Tools, mode: str):
    allowed = {tool for tool in KNOWN if allowed_to_model(tool, mode, tools)}
    with manage({"read_chat": "{}", "create_chat": "{}"}) as (svc, calls):
        for op in ("read_chat", "create_chat"):  # what the service itself withholds
            listed = tools is None or f"{SVC}{op}" in tools
            if not listed or (mode == "plan" and op == "create_chat"):
                del svc["ops"][op]
        script(desk, svc["url"].removesuffix("/_svc/mcp"))
        records = desk.run(tools=tools, mode=mode, svc=svc, may_spawn=True)

    assert ended(records) == ("ok", None)
    own = [r for r in records if r.get("task") is None and r.get("call") != "toolu_task"]
    _hold(desk, "main", own, calls, allowed)
    offered = {"Task" if tool == "Agent" else tool for tool in desk.stub.asked[0].tools}
    assert offered <= set(KNOWN if tools is None else tools)
    inside = [r["call"] for r in of(records, "tool_use") if r.get("task") == "toolu_task"]
    assert bool(inside) == ("Task" in allowed)
    if inside:
        theirs = [r for r in records if r.get("call") in inside]
        _hold(desk, "sub", theirs, calls, allowed)


def _hold(
    desk: Desk, who: str, records: list[Record], calls: list[tuple[str, Any]], allowed: set[str]
) -> None:
    """What was allowed had its effect, and what was not is a denial on record."""
    calls_of = {r["call"] for r in of(records, "tool_use")}
    told = [r for r in records if r.get("call") in calls_of]
    impossible = {"TodoWrite", "Task"}
    if "Read" not in allowed:  # it edits no file that it has not read
        impossible |= {"Edit", "NotebookEdit"}
    assert effects(desk.project, who, calls, told) == allowed - impossible
    denied = {record["tool"] for record in of(told, "permission")}
    assert denied == KNOWN - allowed - {"Task"}


@pytest.mark.parametrize("mode", few(["bypassPermissions", "default"], 1))
def test_a_gate_that_raises_lets_nothing_run(desk: Desk, mode):
    """Edge case 12."""
    (desk.project / "a.txt").write_text("secret\n")
    read = use("Read", {"file_path": "a.txt"})
    write = use("Write", {"file_path": "b.txt", "content": "x"})
    desk.stub.say(read, write, use("Bash", {"command": "touch c.txt"}))
    desk.stub.say(text("ok"))

    records = desk.run(tools=["Read", "Write", "Bash"], mode=mode, patch=BROKEN)

    told = results(records)
    assert [is_error for is_error, _ in told.values()] == [True] * 3
    assert "secret" not in told["Read"][1]
    assert {path.name for path in desk.project.iterdir()} == {".chats", "a.txt"}
    assert ended(records) == ("ok", None)


PATHS: dict[str, tuple[str, dict[str, Any], str]] = {
    "read up": ("Read", {"file_path": "../../outside"}, "path is outside the project"),
    "read absolute": ("Read", {"file_path": "{root}/outside"}, "path is outside the project"),
    "read a link": ("Read", {"file_path": "link"}, "path is outside the project"),
    "glob absolute": ("Glob", {"pattern": "{root}/out*"}, "path is outside the project"),
    "glob up": ("Glob", {"pattern": "../../out*"}, "path is outside the project"),
    "glob below": ("Glob", {"pattern": "*", "path": "{root}"}, "path is outside the project"),
    "grep outside": ("Grep", {"pattern": "secret", "path": "{root}"}, "path is outside"),
    "write outside": ("Write", {"file_path": "{root}/new", "content": "x"}, "path is outside"),
    "write config": ("Write", {"file_path": ".claude/x", "content": "x"}, "protected path"),
    "write project": ("Write", {"file_path": "project.yaml", "content": "x"}, "protected path"),
    "write chats": ("Write", {"file_path": ".chats/x.jsonl", "content": "x"}, "protected path"),
    "background": ("Bash", {"command": "true", "run_in_background": True}, "run_in_background"),
}


@pytest.mark.parametrize("mode", few(["bypassPermissions", "acceptEdits"], 1))
def test_paths_are_confined_and_transcripts_are_protected_in_every_mode(desk: Desk, mode):
    """Edge cases 13 and 14."""
    root = desk.world.root
    (root / "outside").write_text("secret\n")
    (desk.project / "link").symlink_to(root / "outside")
    blocks = [
        use(
            tool,
            {k: v.format(root=root) if isinstance(v, str) else v for k, v in args.items()},
            name,
        )
        for name, (tool, args, _) in PATHS.items()
    ]
    desk.stub.say(*blocks)
    desk.stub.say(text("ok"))

    records = desk.run(tools=None, mode=mode)

    told = {r["call"]: (r["is_error"], r["text"]) for r in of(records, "tool_result")}
    always = {"write chats", "background"}
    for name, (_, _, reason) in PATHS.items():
        if mode != "bypassPermissions" or name in always:
            assert told[name][0], name
            assert told[name][1].startswith(reason), name
    assert not list((desk.project / ".chats").glob("x*"))
    assert (root / "new").exists() == (mode == "bypassPermissions")


@pytest.mark.slow
def test_a_tool_of_claude_code_that_is_listed_by_name_can_be_used(desk: Desk):
    desk.stub.say(use("Skill", {"skill": "simplify"}))
    desk.stub.say(text("ok"))

    records = desk.run(tools=["Skill"])

    assert of(records, "permission") == []
    assert not only(records, "tool_result")["is_error"]
