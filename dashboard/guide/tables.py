"""The live parts of the guide, as Markdown. Every value passes through escape.py."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from config.mcp.operations import Operation
from dashboard.guide.escape import block_quote, code, command, link, text
from dashboard.operations.common import Record, directory

NONE = "None."


def apps(found: Iterable[Record]) -> str:
    """slug, state, URL, port, cwd, start command, and whatever else distinguishes apps."""
    head = ("slug", "name", "state", "URL", "port", "cwd", "branch", "start command")
    return _table(head, (_app(one) for one in found))


def observed(found: Iterable[Record]) -> str:
    head = ("id", "port", "process", "cwd", "title")
    return _table(head, (_listener(one) for one in found))


def lost(notice: Record | None) -> str:
    head = ("id", "name", "port", "cwd", "command", "blocked")
    return _table(head, (_lost_row(one) for one in (notice or {}).get("items", ())))


def nodes(found: Iterable[Record]) -> str:
    """The other nodes, each with its own dashboard."""
    head = ("machine", "heard", "dashboard", "apps", "version")
    return _table(head, (_node(one) for one in found))


def errors(found: Iterable[Record]) -> str:
    head = ("file", "line", "level", "message")
    rows = ((code(e["file"]), code(e["line"]), e["level"], text(e["message"], 200)) for e in found)
    return _table(head, rows)


def app_notes(found: Iterable[Record]) -> str:
    """The notes for agents from the files of single apps."""
    noted = ((one["slug"], (one["config"] or {}).get("notes")) for one in found)
    parts = (f"### {slug}\n\n{block_quote(str(notes))}" for slug, notes in noted if notes)
    return "\n\n".join(parts)


def app_lines(found: Iterable[Record]) -> str:
    """One line per app with state and URL."""
    return "\n".join(f"- {_line(one)}" for one in found) or NONE


def links(group: Record) -> str:
    """One line per link of a group."""
    return "\n".join(f"- {_link(one)}" for one in group["links"]) or NONE


def tools(operations: Iterable[Operation]) -> str:
    """The tools in the order of their declaration."""
    head = ("tool", "arguments", "what it does")
    return _table(head, ((code(o.name), _arguments(o), o.description) for o in operations))


def _app(one: Record) -> Sequence[str]:
    identity = one["identity"] or {}
    reason = f" ({text(one['reason'])})" if one["reason"] and one["state"] != "up" else ""
    return (
        code(one["slug"]),
        text(one["name"]),
        f"{one['state']}{reason}",
        code(one["url"]),
        code(one["port"]),
        code(directory(one)),
        text((identity.get("git") or {}).get("branch")),
        code(_command(one)),
    )


def _node(one: Record) -> Sequence[str]:
    heard = "yes" if one["alive"] else f"not since {one['goneSince']}"
    counts = ", ".join(f"{count} {text(state)}" for state, count in one["apps"].items() if count)
    return (text(one["name"]), heard, code(one["dashboard"]), counts, text(one["version"]))


def _listener(one: Record) -> Sequence[str]:
    identity = one["identity"] or {}
    process = identity.get("process") or {}
    shown = (code(one["id"]), code(one["port"]), text(process.get("name")))
    return (*shown, code(identity.get("cwd")), text(identity.get("title")))


def _lost_row(one: Record) -> Sequence[str]:
    shown = (code(one["id"]), text(one["name"]), code(one["port"]), code(one["cwd"]))
    return (*shown, code(command(one["command"])), text(one["blocked"]))


def _line(one: Record) -> str:
    why = f", {text(one['message'])}" if one["message"] else ""
    return f"{link(one['name'], one['url'])}: {one['state']}, slug `{one['slug']}`{why}"


def _link(one: Record) -> str:
    about = f": {text(one['description'])}" if one["description"] else ""
    return f"{link(one['name'], one['url'])}{about}"


def _command(one: Record) -> str:
    """The declared start command; without one, the command line that the app was started with."""
    process = (one["identity"] or {}).get("process") or {}
    return command(_service(one).get("command") or process.get("argv"))


def _service(one: Record) -> Record:
    return (one["config"] or {}).get("service") or {}


def _arguments(operation: Operation) -> str:
    return ", ".join(f"`{a.name}{'*' if a.required else ''}`" for a in operation.arguments)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = list(_rows(rows))
    if not lines:
        return NONE
    return "\n".join([f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *lines])


def _rows(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    return (f"| {' | '.join(row)} |" for row in rows)
