"""T7: outside of its list and mode no tool has any effect, measured at what it would have done."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.promises import tool_list
from tests.promises.rings import WHOLE
from tests.stubs import anthropic, openai
from tests.workspace.chats.turns.world import BASE, World, book, fence, kinds
from tests.workspace.engines.builtin.talk import Talk
from tests.workspace.engines.claude.conftest import Desk
from tests.workspace.engines.claude.stand_in import played
from tests.workspace.engines.manage import manage
from tests.workspace.engines.tool_servers import BWRAP, NOTE, READ, STUB, brought, marks, mine
from workspace.engines.mcp.server import Server
from workspace.engines.sandbox import Sandbox

SVC, REVIEW, ACTS = "mcp__svc_manage__", "mcp__svc_review__", "mcp__svc_apps__"
MODES = ("default", "acceptEdits", "bypassPermissions", "plan")
CLASSES = {
    "Read": "R", "Glob": "R", "Grep": "R", "Edit": "E", "Write": "E", "NotebookEdit": "E",
    "Bash": "X", "WebFetch": "N", "WebSearch": "N", "Task": "absent", "TodoWrite": "P",
    f"{SVC}read_chat": "R", f"{SVC}create_chat": "S",
    f"{REVIEW}list_threads": "R", f"{REVIEW}reply": "P",
    f"{ACTS}app_logs": "R", f"{ACTS}restart_app": "X",
}  # fmt: skip
LISTS: list[list[str] | None] = [None, [], *([tool] for tool in CLASSES)]
SERVER_LISTS: list[list[str] | None] = [None, [NOTE], ["mcp__mine"], ["mcp__mine__*"], ["Read"], []]
EVERY = [(tools, mode) for tools in SERVER_LISTS for mode in MODES]
FEW: list[tuple[list[str] | None, str]] = [
    (None, "bypassPermissions"),
    ([NOTE], "default"),
    (["mcp__mine"], "plan"),
    (["Read"], "bypassPermissions"),
]
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
        f"{REVIEW}list_threads": ("", "{}"),
        f"{REVIEW}reply": ("", '{"thread": "t-1", "body": "Done."}'),
        f"{ACTS}app_logs": ("", '{"slug": "a"}'),
        f"{ACTS}restart_app": ("", '{"slug": "a"}'),
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
        f"{REVIEW}list_threads": any(name == "list_threads" for name, _ in calls),
        f"{REVIEW}reply": any(name == "reply" for name, _ in calls),
        f"{ACTS}app_logs": any(name == "app_logs" for name, _ in calls),
        f"{ACTS}restart_app": any(name == "restart_app" for name, _ in calls),
    }
    return {tool for tool, traced in traces.items() if traced}


@pytest.fixture
def place(tmp_path: Path) -> Iterator[tuple[World, dict[str, Any], list[tuple[str, Any]]]]:
    world = World(tmp_path)
    (world.project / "known.txt").write_text("secret\n")
    (world.project / "edited.txt").write_text("old")
    (world.project / "n.ipynb").write_text(json.dumps(NOTEBOOK))
    ops = ("read_chat", "create_chat", "list_threads", "reply", "app_logs", "restart_app")
    answers = dict.fromkeys(ops, "{}")
    with manage(answers) as (svc, calls):
        svc["parts"] = tool_list.PARTS
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


def allowed_of_server(mode: str, tools: list[str] | None) -> bool:
    """The same for a tool of a server that people gave to agents: none of our classes fits it."""
    if mode == "plan":
        return False
    if tools is None:
        return mode == "bypassPermissions"
    return bool({NOTE, "mcp__mine", "mcp__mine__*"} & set(tools))


class Model:
    """A turn of an engine whose model makes one call after the other, whatever it was offered."""

    def __init__(self, engine: str, root: Path) -> None:
        self.engine, self.root = engine, root

    def calls(self, *calls: tuple[str, dict[str, Any]], **fields: Any) -> tuple[Path, list[Any]]:
        """The project, and the records of the turn."""
        if self.engine == "claude":
            pytest.importorskip("claude_agent_sdk")
            with anthropic.serve() as model:
                desk = Desk(self.root, model)
                return desk.project, played(desk, *calls, **fields)
        pytest.importorskip("pydantic_ai")
        with openai.serve() as model:
            model.say(*(openai.use(tool, args) for tool, args in calls))
            model.say(openai.text("ok"))
            world = World(self.root)
            fields = {"sender": {"kind": "trigger"}, **fields}
            return world.project, Talk(world, model, "local:m").run(**fields)


@pytest.fixture(params=["builtin", "claude"])
def model(request: pytest.FixtureRequest, tmp_path: Path) -> Model:
    return Model(request.param, tmp_path)


@pytest.mark.promise("T7")
@pytest.mark.parametrize(("tools", "mode"), EVERY if WHOLE else FEW)
def test_a_server_of_tools_is_started_and_called_as_list_and_mode_allow(model, tools, mode):
    project, records = model.calls((NOTE, {"text": "x"}), tools=tools, mode=mode, servers=(mine(),))

    allowed_here = allowed_of_server(mode, tools)
    assert marks(project) == ((1, ["note"]) if allowed_here else (0, []))
    denied = {record["tool"] for record in records if record["type"] == "permission"}
    assert denied == (set() if allowed_here else {NOTE})
    assert records[-1]["status"] == "ok"


@pytest.mark.promise("T7")
def test_of_a_server_nothing_but_the_named_tool_can_be_called(model):
    calls = [(READ, {"text": "known"}), (NOTE, {"text": "x"})]

    project, records = model.calls(*calls, tools=[NOTE], mode="default", servers=(mine(),))

    texts = [record["text"] for record in records if record["type"] == "tool_result"]
    assert texts == [f"No such tool available: {READ}", "noted x"]
    assert marks(project) == (1, ["note"])


@pytest.mark.promise("T7")
def test_a_server_reads_neither_another_project_nor_the_services_own_files(model, tmp_path):
    if BWRAP.mode != "bwrap":
        pytest.skip("bubblewrap does not work here")
    secrets = [tmp_path / "projects/other/known.txt", tmp_path / "data/svc.sqlite3"]
    for path in secrets:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("secret")
    hide = (str(tmp_path / "projects"), str(tmp_path / "data"))
    brought(tmp_path / "projects/alpha")

    project, records = model.calls(
        *((READ, {"text": str(path)}) for path in secrets),
        (NOTE, {"text": "x"}),
        tools=["mcp__mine"],
        servers=(Server("mine", ("python3", STUB.name, *map(str, secrets))),),
        sandbox=Sandbox("bwrap", "bwrap", None, hide),
    )

    texts = [record["text"] for record in records if record["type"] == "tool_result"]
    assert ["No such file" in text for text in texts] == [True, True, False]
    assert texts[-1] == "noted x"
    assert marks(project)[0] == 1


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
    given = {"no list": None, "named": [NOTE], "not named": ["Read"], "empty": []}[tools]
    assert (tool_list.cell(NOTE, tools, mode) == "yes") == allowed_of_server(mode, given)
