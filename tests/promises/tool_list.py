"""The table of promise T7, made from the gate: `python -m tests.promises.tool_list` writes it.

What the gate of a real turn decides for every tool, permission mode and kind of list; the tests
of each engine show that what it decides is what happens.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from config.mcp import turn_tools
from tests.promises import scripts
from workspace.engines import policy
from workspace.engines.acp import ENGINE as ACP
from workspace.engines.base import Job
from workspace.engines.catalogue import SVC, TOOLS, part_tools
from workspace.engines.mcp.server import Server
from workspace.engines.sandbox import Sandbox

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tool-list.md"
OPS = ("read_chat", "create_chat")
# One operation of each class that a part may give to turns.
PARTS = {
    "review": {
        "list_threads": {"kind": "R", "arguments": {}},
        "reply": {"kind": "P", "arguments": {"thread": "string", "body": "text"}},
    },
    "apps": {
        "app_logs": {"kind": "R", "arguments": {"slug": "string"}},
        "restart_app": {"kind": "X", "arguments": {"slug": "string"}},
    },
}
THEIRS = Server("mine")
NAMES = (*TOOLS, *(SVC + op for op in OPS), *part_tools({"parts": PARTS}), f"{THEIRS.prefix}note")
LISTS = {"no list": None, "named": "its own name", "not named": "another name", "empty": "[]"}
LACKS = {"runbook": ("Task",), "claude": ("TodoWrite",), "builtin": ()}
SHOWN_BY = {
    "runbook": "tests/promises/test_t7_tools_are_limited.py",
    "claude": "tests/workspace/engines/claude/test_walls.py",
    "builtin": "tests/workspace/engines/builtin/test_tool_lists.py",
    "acp": "tests/workspace/engines/acp/test_tool_lists.py",
}
ACP_COLUMNS = (("off", True), ("bwrap", True), ("off", False), ("bwrap", False))
ARGUMENTS = {"Read": {"file_path": "a"}, "Edit": {"file_path": "a"}, "Write": {"file_path": "a"}}


def job(tool: str, tools: str, mode: str, *, attended: bool = False, **more: Any) -> Job:
    """A turn whose list is of that kind."""
    other = "Glob" if tool == "Read" else "Read"
    given = {"no list": None, "named": [tool], "not named": [other], "empty": []}[tools]
    return Job(
        turn="msg_1", chat="c", project="alpha", cwd="/srv/alpha", chats_dir="/srv/alpha/.chats",
        run_dir="/srv/run", worker_pid=0, prompt="x", message="x", sender={}, engine="builtin",
        tools=given, mode=mode, attended=attended, may_spawn=True,
        svc={"ops": {op: {} for op in OPS}, "parts": PARTS}, servers=(THEIRS,), **more,
    )  # fmt: skip


def cell(tool: str, tools: str, mode: str) -> str:
    """yes; no; or ask: a person who attends the turn decides, and nobody else."""
    answers = [
        policy.Gate(job(tool, tools, mode, attended=attended)).decide(tool, ARGUMENTS.get(tool, {}))
        for attended in (False, True)
    ]
    if isinstance(answers[1], policy.Ask):
        return "ask"
    return "yes" if answers == [policy.ALLOW, policy.ALLOW] else "no"


def acp_cell(tools: str, mode: str, sandbox: str, *, attended: bool) -> str:
    """Whether an ACP agent is started at all."""
    cfg = {"settings": {"agents": {"agent": {"command": ["/bin/true"]}}}}
    more: dict[str, Any] = {"model": "agent", "engine_cfg": cfg, "sandbox": Sandbox(sandbox)}
    made = job("Read", tools, mode, attended=attended, **more)
    return "refused" if ACP.preflight(made) else "started"


def render() -> str:
    """The page."""
    lines = [
        "# The tool list is a wall",
        "",
        "Made from the code by `python -m tests.promises.tool_list`; a test fails when this page"
        " differs from what the code decides.",
        "",
        "The table says how a call of a tool is decided, by permission mode and by the turn's list"
        " of tools: there is no list (the project's own agent), it names the tool, it names others,"
        " or it is empty. `ask`: a person who attends the turn is asked; in a turn of a trigger or"
        " of another agent, `ask` is `no`. The path is checked in addition: outside the project,"
        " and for protected files in it, every `yes` is a `no` except in bypassPermissions;"
        " transcripts are protected in that mode too.",
        "",
        *_gate_table(),
        "",
        "The table applies to subagents too. If the gate itself fails, the call is denied."
        " In a turn whose spawn limit is 0, `Task` and the operations that start chats are `no`"
        " everywhere.",
        "",
        "The tools that the other parts give to a turn have three classes, and the table shows one"
        " or two of each: `list_threads` for reading, `reply` for saying something in the service's"
        " own files, `restart_app` for acting, which asks as a command does. These are all of them;"
        " each reaches only what belongs to the directory where the turn works:",
        "",
        *_given(),
        "",
        "`mcp__mine__note` stands for every tool of a server that people gave to agents. The server"
        " is started only if one of its tools could be allowed; a runbook has none of these tools.",
        "",
        "## By engine",
        "",
        "| engine | holds the list | has no | shown by |",
        "| --- | --- | --- | --- |",
        *_engine_rows(),
        "",
        "An ACP agent brings its own tools and may use them without asking. A turn is therefore"
        " refused before the agent is started if it has a list, if no person attends it in a mode"
        " below bypassPermissions, or if it is in plan mode without a sandbox:",
        "",
        *_acp_table(),
        "",
        "If the agent is started, each call for which it asks permission is decided by the first"
        " table, as the tool of its kind, and the sandbox confines what it does without asking.",
        "",
    ]
    return "\n".join(lines)


def _gate_table() -> list[str]:
    columns = [(mode, tools) for mode in policy.MODES for tools in LISTS]
    rows = [
        f"| `{tool}` | " + " | ".join(cell(tool, tools, mode) for mode, tools in columns) + " |"
        for tool in NAMES
    ]
    head = " | ".join(f"{mode}, {tools}" for mode, tools in columns)
    return [f"| tool | {head} |", "| --- |" + " --- |" * len(columns), *rows]


def _given() -> list[str]:
    """Every operation that a part gives to turns."""
    classes = {"R": "reads", "P": "says something", "X": "acts"}
    rows = [
        f"| `{turn_tools.tool(part, one)}` | {classes[turn_tools.KINDS[one.group]]} |"
        f" {one.description} |"
        for part, registry in turn_tools.registries().items()
        for one in registry
    ]
    return ["| tool | class | what it does |", "| --- | --- | --- |", *rows]


def _engine_rows() -> list[str]:
    return [
        f"| {name} | {'no' if name == 'acp' else 'yes'} | "
        f"{', '.join(f'`{tool}`' for tool in LACKS.get(name, ())) or '–'} | `{path}` |"  # noqa: RUF001
        for name, path in SHOWN_BY.items()
    ]


def _acp_table() -> list[str]:
    rows = [
        f"| {mode} | {tools} | "
        + " | ".join(acp_cell(tools, mode, box, attended=here) for box, here in ACP_COLUMNS)
        + " |"
        for mode in policy.MODES
        for tools in LISTS
    ]
    return [
        "| mode | list | attended, no sandbox | attended, bubblewrap | unattended, no sandbox |"
        " unattended, bubblewrap |",
        "| --- |" + " --- |" * 5,
        *rows,
    ]


if __name__ == "__main__":
    scripts.set_up()
    PAGE.write_text(render())
