"""The permission tables, made from the code: `python -m tests.promises.permissions` writes them.

Two tables: what management clients of typical scopes may do in a project, and which in-process
tools a turn sees under which switches.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from config.mcp.operations import Operation, Registry
from tests.promises import scripts
from workspace.access.policy import READ_ONLY_DEFAULT, Bounds, Gates, Scope
from workspace.access.principals import Agent, Client

PAGE = Path(__file__).resolve().parents[2] / "docs" / "permissions.md"

CHATS = ("create_chat", "fork_*", "send_message", "archive_chat", "unarchive_chat")
TWO = ("Read", "mcp__svc_manage__read_chat", "mcp__svc_manage__send_message")
HIDDEN = "no"

SCOPES = {
    "no scope": Scope(),
    "everything": Scope(allow=("*",)),
    "chats in alpha": Scope(projects=("alpha",), allow=(*READ_ONLY_DEFAULT, *CHATS)),
    "all but beta": Scope(allow=("*",), deny_projects=("bet*",)),
    "no writing": Scope(allow=("*",), deny=("create_*", "send_*", "fork_*", "set_trigger")),
    "batch without fork": Scope(allow=("fork_chat_batch", "archive_chat")),
    "malformed": Scope(allow=("list_?", "[a]*", "re*d_chat")),
    "no project": Scope(projects=(), allow=("*",)),
    "nothing": Scope(allow=()),
}  # fmt: skip
PROJECTS = ("alpha", "beta", "nope")

SWITCHES: dict[str, dict[str, Any]] = {
    "default": {"read": True},
    "all off": {},
    "write": {"read": True, "write": True},
    "write, projects": {"read": True, "write": True, "projects": True},
    "write, hooks": {"read": True, "write": True, "hooks": True},
    "all on": {"read": True, "write": True, "projects": True, "hooks": True},
    "project opens hooks": {"read": True, "write": True, "own": True},
    "project shuts hooks": {"read": True, "write": True, "hooks": True, "own": False},
    "hooks without write": {"read": True, "hooks": True},
    "no spawning": {"read": True, "write": True, "projects": True, "hooks": True, "limit": 0},
    "plan mode": {"read": True, "write": True, "projects": True, "hooks": True, "plan": True},
    "two tools": {"read": True, "write": True, "tools": TWO},
    "all on, caused by “chats in alpha”": {
        "read": True, "write": True, "projects": True, "hooks": True, "by": "chats in alpha",
    },
}  # fmt: skip


def client(name: str) -> Client:
    return Client(name, SCOPES[name])


def agent(name: str) -> Agent:
    """A turn of project alpha under these switches."""
    given = SWITCHES[name]
    own = {"alpha": given["own"]} if "own" in given else {}
    gates = Gates(
        given.get("read", False), given.get("write", False), given.get("projects", False),
        given.get("hooks", False), own.get,
    )  # fmt: skip
    return Agent(
        turn="msg_1", project="alpha", chat="c", chat_name="C", depth=0,
        spawn_limit=given.get("limit", 1), client="", tools=given.get("tools"),
        plan=given.get("plan", False), gates=gates,
        bounds=Bounds({"ci": SCOPES[given["by"]]} if "by" in given else {}),
    )  # fmt: skip


def client_cell(registry: Registry, name: str, operation: Operation) -> str:
    """The projects a client may do it in, or why not."""
    caller = client(name)
    if registry.find(operation.name, caller) is None:
        return HIDDEN
    reached = [slug for slug in PROJECTS if caller.reaches(slug)]
    if len(reached) == len(PROJECTS):
        return "every project"
    return ", ".join(reached) or "no project"


def turn_cell(registry: Registry, name: str, operation: Operation) -> str:
    return "yes" if registry.find(operation.name, agent(name)) else HIDDEN


def render(registry: Registry) -> str:
    """The page."""
    lines = [
        "# Who may do what",
        "",
        "Made from the code by `python -m tests.promises.permissions`; a test fails when this"
        " page differs from what the code decides.",
        "",
        "## Management clients",
        "",
        "What a client of each scope may do, and in which of the projects `alpha`, `beta` and"
        " `nope` (which does not exist). `no`: the tool does not exist for that client.",
        "",
        *_table(registry, SCOPES, lambda name, op: client_cell(registry, name, op)),
        "",
        "The scopes:",
        "",
        *[f"- **{name}**: {_scope(scope)}" for name, scope in SCOPES.items()],
        "",
        "## Agents in a running turn",
        "",
        "Which `mcp__svc_manage__*` tools a turn in project `alpha` sees. A client may have caused"
        " a turn, directly or through any number of triggers, hooks, forks and further turns. Such"
        " a turn sees and may do only what both its switches and the scope of the client allow,"
        " only in the client's projects, and it cannot start or stop an app; see"
        " [mcp.md](mcp.md#rights-travel-with-the-cause).",
        "",
        *_table(registry, SWITCHES, lambda name, op: turn_cell(registry, name, op)),
        "",
        "Tools of [MCP servers](engines.md#mcp-servers) are in [the tool list](tool-list.md). Only"
        " a person can allow the servers of a project's own `.mcp.json`: no turn and no client"
        " can.",
        "",
    ]
    return "\n".join(lines)


def _table(registry: Registry, columns: Any, cell: Any) -> list[str]:
    head = f"| operation | {' | '.join(columns)} |"
    rule = "|" + "---|" * (len(columns) + 1)
    rows = [
        f"| `{op.name}` | {' | '.join(cell(name, op) for name in columns)} |" for op in registry
    ]
    return [head, rule, *rows]


def _scope(scope: Scope) -> str:
    parts = {
        "projects": scope.projects, "allow": scope.allow,
        "deny": scope.deny, "denyProjects": scope.deny_projects,
    }  # fmt: skip
    shown = [
        f"{key} {', '.join(f'`{word}`' for word in words) or 'empty'}"
        for key, words in parts.items()
        if words or key in ("projects", "allow")
    ]
    return "; ".join(shown)


if __name__ == "__main__":
    scripts.set_up()
    from workspace.mcp.catalogue import REGISTRY

    PAGE.write_text(render(REGISTRY))
