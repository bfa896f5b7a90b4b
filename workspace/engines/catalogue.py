"""The tools a turn can have: their class, their arguments, what is shown of a call.

One table for the gate, the runbook grammar and the tools themselves; nothing here runs a tool.
"""

from __future__ import annotations

from config.process.light_typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Param(NamedTuple):
    """One argument. `kind`: string, integer, number, boolean or list, as in the registry."""

    kind: str
    required: bool = False
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None


class Tool(NamedTuple):
    """`kind`: R read-only, E edits files, X executes, N network, S spawns, P bookkeeping."""

    kind: str
    params: dict[str, Param]
    path: str | None = None  # the argument that is a path
    shown: str = ""  # the argument that stands for the call in a list


# Operation of svc_manage, or full tool name of another part -> argument -> kind
Ops = dict[str, dict[str, str]]

OURS = "mcp__svc_"  # the prefix of this service's tools, of every part
SVC = f"{OURS}manage__"
LINE = 120  # characters of what is said of a call
SVC_READERS = frozenset({"list_projects", "list_chats", "read_chat", "list_triggers"})
SVC_SPAWNING = frozenset(
    {
        "create_project", "create_chat", "fork_chat", "send_message", "fork_chat_batch",
        "set_trigger", "run_trigger",
    }
)  # fmt: skip
BY_NAME = {"Skill": "X", "Monitor": "X", "ToolSearch": "P"}  # Claude Code's, never part of "all"
BODY = {"Bash": "command", "Write": "content", "NotebookEdit": "new_source"}

_TEXT, _NEEDED, _FLAG = Param("string"), Param("string", required=True), Param("boolean")
_COUNT, _LINE = Param("integer", least=0), Param("integer", least=1)
_MODES = Param("string", choices=("files_with_matches", "content", "count"))

TOOLS: dict[str, Tool] = {
    "Read": Tool("R", {"file_path": _NEEDED, "offset": _LINE, "limit": _LINE}, "file_path"),
    "Glob": Tool("R", {"pattern": _NEEDED, "path": _TEXT}, "path", "pattern"),
    "Grep": Tool(
        "R",
        {
            "pattern": _NEEDED, "path": _TEXT, "glob": _TEXT, "output_mode": _MODES, "-i": _FLAG,
            "-n": _FLAG, "-A": _COUNT, "-B": _COUNT, "-C": _COUNT, "head_limit": _LINE,
            "multiline": _FLAG,
        },
        "path",
        "pattern",
    ),
    "Edit": Tool(
        "E",
        {"file_path": _NEEDED, "old_string": _NEEDED, "new_string": _NEEDED, "replace_all": _FLAG},
        "file_path",
    ),
    "Write": Tool("E", {"file_path": _NEEDED, "content": _NEEDED}, "file_path"),
    "NotebookEdit": Tool(
        "E",
        {
            "notebook_path": _NEEDED, "new_source": _NEEDED, "cell_id": _TEXT,
            "cell_type": Param("string", choices=("code", "markdown")),
            "edit_mode": Param("string", choices=("replace", "insert", "delete")),
        },
        "notebook_path",
    ),
    "Bash": Tool(
        "X",
        {
            "command": _NEEDED, "timeout": Param("integer", least=1, most=600_000),
            "description": _TEXT, "run_in_background": _FLAG,
        },
        shown="command",
    ),
    "WebFetch": Tool("N", {"url": _NEEDED, "prompt": _TEXT}, shown="url"),
    "WebSearch": Tool(
        "N",
        {"query": _NEEDED, "allowed_domains": Param("list"), "blocked_domains": Param("list")},
        shown="query",
    ),
    "Task": Tool(
        "S",
        {"description": _NEEDED, "prompt": _NEEDED, "subagent_type": _TEXT},
        shown="description",
    ),
    "TodoWrite": Tool("P", {"todos": Param("list", required=True)}),
}  # fmt: skip


def is_tool(name: str) -> bool:
    own = service(name)
    return name in TOOLS or (own is not None and own[1].isidentifier())


def service(name: str) -> tuple[str, str] | None:
    """(part, operation) of a tool of this service: ("manage", "read_chat"); None for others."""
    part, parted, op = name.removeprefix(OURS).partition("__")
    return (part, op) if parted and name.startswith(OURS) else None


def part_tools(svc: Mapping[str, Any] | None) -> dict[str, Mapping[str, Any]]:
    """The operations that the parts give to a turn, by their full tool names: {kind, arguments}
    each, as in `svc` of its job."""
    parts = (svc or {}).get("parts", {})
    return {f"{OURS}{part}__{op}": parts[part][op] for part in parts for op in parts[part]}


def ops(svc: Mapping[str, Any] | None) -> Ops:
    """The arguments of every operation of a turn."""
    more = {name: dict(about["arguments"]) for name, about in part_tools(svc).items()}
    return {**(svc or {}).get("ops", {}), **more}


def kind(name: str) -> str | None:
    """The class letter of a tool, None if no engine has it. The class of a part's tool is known
    only to the job (`part_tools`)."""
    if name.startswith(SVC):
        return "R" if name[len(SVC) :] in SVC_READERS else "S"
    tool = TOOLS.get(name)
    return tool.kind if tool else BY_NAME.get(name)


def params(name: str, ops: Ops) -> dict[str, Param] | None:
    """The arguments of a tool; None for an operation that was not offered: they are unknown."""
    if service(name) is None:
        return TOOLS[name].params
    known = ops.get(name.removeprefix(SVC))
    return None if known is None else {key: Param(word) for key, word in known.items()}


def path(name: str, args: Mapping[str, Any]) -> str | None:
    """The path argument of a call, which the gate has to judge; None if the tool has none."""
    tool = TOOLS.get(name)
    if tool is None or tool.path is None:
        return None
    return str(args.get(tool.path) or ".")


def target(name: str, args: Mapping[str, Any]) -> str:
    """One line that shows what a call is about. People allow calls by this line, so it marks where
    it was cut, and a long argument does not hide the others."""
    if name.startswith("mcp__"):
        import json  # which the inside of a sandbox does without

        shown = dict(sorted(args.items(), key=lambda one: len(str(one[1]))))
        return _line(json.dumps(shown, ensure_ascii=False, default=str)) if args else ""
    tool = TOOLS.get(name)
    key = (tool.shown or tool.path or "") if tool else ""
    return _line(str(args.get(key, "")))


def _line(text: str) -> str:
    first, *more = text.strip().splitlines() or [""]
    return f"{first[: LINE - 2]} …" if more or len(first) > LINE else first


def problem(name: str, args: Mapping[str, Any], known: Mapping[str, Param] | None) -> str | None:
    """What is wrong with the arguments of a call, else None; the service checks its own."""
    if known is None or name.startswith(OURS):
        return None
    for key, value in args.items():
        if key not in known:
            return f'{name} has no argument "{key}"'
        wrong = _mismatch(known[key], value)
        if wrong:
            return f"{key} {wrong}"
    missing = [key for key, param in known.items() if param.required and key not in args]
    return f"{name} needs {missing[0]}" if missing else None


def _mismatch(param: Param, value: Any) -> str | None:
    match param.kind:
        case "string" if not isinstance(value, str):
            return "must be text"
        case "string" if param.choices and value not in param.choices:
            return f"is one of {', '.join(param.choices)}"
        case "boolean" if not isinstance(value, bool):
            return "must be true or false"
        case "list" if not isinstance(value, list):
            return "must be a list"
        case "integer" if not _in_range(param, value):
            return f"must be a whole number{_range(param)}"
    return None


def _in_range(param: Param, value: Any) -> bool:
    if not isinstance(value, int) or isinstance(value, bool):
        return False
    return (param.least or 0) <= value and (param.most is None or value <= param.most)


def _range(param: Param) -> str:
    least = param.least or 0
    return f" from {least} to {param.most}" if param.most else f" of {least} or more"


def convert(param: Param, value: str | None) -> Any:
    """An attribute's text in its argument's type; None = a bare key. Raises ValueError."""
    if value is None:
        if param.kind != "boolean":
            raise ValueError("needs a value")
        return True
    match param.kind:
        case "boolean" if value in ("true", "false"):
            return value == "true"
        case "integer" if value.isascii() and value.isdigit():
            return int(value)
        case "list":
            return [word.strip() for word in value.split(",") if word.strip()]
        case "boolean":
            raise ValueError("must be true or false")
        case "integer":
            raise ValueError("must be a whole number")
    return value
