"""Our tools as a model sees them: their names, descriptions and JSON schemas.

Made from the table in catalogue.py, so that the arguments of a tool are defined in one place. What
the gate would refuse with any arguments is not offered at all.
"""

from __future__ import annotations

from config.process.light_typing import Any, NamedTuple
from workspace.engines import catalogue, policy
from workspace.engines.base import Job
from workspace.engines.mcp.hosting import Servers


class Offer(NamedTuple):
    """One tool as a model sees it."""

    name: str
    description: str
    schema: dict[str, Any]


_KINDS = {"list": "array"}
_PATHS = "Paths are absolute or relative to the working directory."
_TODO = {
    "type": "object",
    "properties": {
        "content": {"type": "string"},
        "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
        "activeForm": {"type": "string"},
    },
    "required": ["content"],
}
_ITEMS = {"todos": _TODO}
_REFUSED = {"run_in_background"}  # an argument that the gate denies in every engine

DESCRIPTIONS: dict[str, tuple[str, dict[str, str]]] = {
    "Read": (
        f"Read a text file as numbered lines, or see a picture (PNG, JPEG, GIF, WebP). {_PATHS}",
        {"offset": "first line, from 1", "limit": "how many lines (2000)"},
    ),
    "Glob": (
        "Find files by name, for example **/*.py.",
        {"path": "the folder to look in (the working directory)"},
    ),
    "Grep": (
        "Search the contents of files with a regular expression (Python re).",
        {
            "path": "a file or folder (the working directory)",
            "glob": "only files whose name matches, for example *.py",
            "output_mode": "files_with_matches (default), content or count",
            "-i": "ignore case",
            "-n": "show line numbers, with content",
            "-A": "lines shown after each match",
            "-B": "lines shown before each match",
            "-C": "lines shown around each match",
            "head_limit": "most lines of answer (200)",
            "multiline": "the pattern may span lines",
        },
    ),
    "Edit": (
        f"Replace a text in a file. It has to occur once, unless replace_all is true. {_PATHS}",
        {"old_string": "exact text, without line numbers", "replace_all": "replace every place"},
    ),
    "Write": (
        f"Write a file, replacing it when it exists; folders are made. {_PATHS}",
        {},
    ),
    "NotebookEdit": (
        "Replace, insert or delete one cell of a Jupyter notebook.",
        {
            "cell_id": "the cell to change, or to insert after",
            "edit_mode": "replace (default), insert or delete",
        },
    ),
    "Bash": (
        "Run a command with /bin/bash in the working directory, in the foreground. The answer is "
        "its output, cut at 30000 characters.",
        {"timeout": "milliseconds (120000, at most 600000)", "description": "what it does"},
    ),
    "WebFetch": (
        "Fetch a page of the public web as text.",
        {"prompt": "what is looked for; it is returned in front of the text"},
    ),
    "WebSearch": (
        "Search the web.",
        {
            "allowed_domains": "only results of these domains",
            "blocked_domains": "no results of these domains",
        },
    ),
    "Task": (
        "Hand a task to a second agent with the same tools, which starts without this "
        "conversation and answers once.",
        {"description": "three to five words", "prompt": "all that it has to know"},
    ),
    "TodoWrite": ("Keep the list of what is to do, shown to the user. Send all of it.", {}),
}


def offers(job: Job) -> list[Offer]:
    """Our own tools that this turn may call."""
    gate = policy.Gate(job)
    return [
        Offer(name, DESCRIPTIONS[name][0], schema(name))
        for name in catalogue.TOOLS
        if gate.offers(name) and usable(job, name)
    ]


def service_offers(job: Job, part: str, listed: list[dict[str, Any]]) -> list[Offer]:
    """The operations of a part as its tools/list names them, filtered by the same gate."""
    gate = policy.Gate(job)
    found = [
        Offer(
            f"{catalogue.OURS}{part}__{row['name']}",
            row.get("description") or "",
            row["inputSchema"],
        )
        for row in listed
    ]
    return [offer for offer in found if gate.offers(offer.name) and usable(job, offer.name)]


def server_offers(servers: Servers) -> list[Offer]:
    """The tools of people's own servers, which the gate was asked about when they were listed."""
    return [Offer(one.name, one.description, one.schema) for one in servers.tools.values()]


def usable(job: Job, name: str) -> bool:
    """Whether mode and network permit the tool: plan mode has reading, bookkeeping and the web."""
    kind = policy.Gate(job).kind(name) or ""
    return (job.mode != "plan" or kind in "RPN") and (job.network.mode != "off" or kind != "N")


def schema(name: str) -> dict[str, Any]:
    """The JSON schema of a tool's arguments."""
    params, words = catalogue.TOOLS[name].params, DESCRIPTIONS[name][1]
    shown = [key for key in params if key not in _REFUSED]
    return {
        "type": "object",
        "properties": {key: _property(key, params[key], words.get(key)) for key in shown},
        "required": [key for key, param in params.items() if param.required],
        "additionalProperties": False,
    }


def _property(key: str, param: catalogue.Param, words: str | None) -> dict[str, Any]:
    found: dict[str, Any] = {"type": _KINDS.get(param.kind, param.kind)}
    given = {"description": words, "minimum": param.least, "maximum": param.most}
    found |= {name: value for name, value in given.items() if value is not None}
    if param.choices:
        found["enum"] = list(param.choices)
    if param.kind == "list":
        found["items"] = _ITEMS.get(key, {"type": "string"})
    return found
