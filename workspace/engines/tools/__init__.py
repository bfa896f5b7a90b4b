"""Our tools, as the runbook engine and the builtin engine run them.

The gate has allowed the call. A tool still checks every path it opens, at the moment it holds the
descriptor. A failure is a ToolError with the text for the model or the reader.
"""

from __future__ import annotations

from config.process.light_typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from workspace.engines import catalogue
from workspace.engines.network import Network

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

    from workspace.engines.base import Args
    from workspace.engines.runner import Runner


# Tools that act on files or run a command, and therefore run inside the sandbox if there is one.
INSIDE = frozenset({"Bash", "Read", "Write", "Edit", "Glob", "Grep", "NotebookEdit"})

CHARACTERS = 100_000  # of one answer: more fills a model's context, and no record holds it


PICTURE = "as a picture"  # argument of Read that the builtin engine adds; no model can


class ToolError(Exception):
    """The tool fails; its answer is this text."""


class Output(NamedTuple):
    """What a tool answers. `status` is Bash's exit code, else 0 or 1; `raw` is its bare output."""

    text: str
    is_error: bool = False
    status: int = 0
    raw: str | None = None


class ToolContext(Protocol):
    """Where tools act: the part of a turn that tools need (TurnIO of base.py has it)."""

    def runner(self, tool: str, args: Args) -> Runner | None: ...

    def denial(self, path: str, *, write: bool) -> str | None: ...

    def stoppable(self) -> AbstractContextManager[None]: ...


class Settings(NamedTuple):
    """Settings that all tools of a turn share."""

    cwd: str
    web: Mapping[str, Any] = {}
    network: Network = Network("host")
    env: Mapping[str, str] = {}  # added to the environment of Bash commands


def run(
    tool: str, args: Mapping[str, Any], place: ToolContext, settings: Settings, seconds: float
) -> Output:
    """Run one allowed call. Modules are loaded on first use: a turn pays for what it calls."""
    try:
        if tool in INSIDE and (runner := place.runner(tool, dict(args))):
            try:
                return runner.run(tool, args, settings.env, seconds, place.stoppable())
            except Exception:
                fresh = place.runner(tool, dict(args)) if runner.vanished else None
                if fresh is None:
                    raise
            return fresh.run(tool, args, settings.env, seconds, place.stoppable())
        return _run(tool, args, place, settings, seconds)
    except ToolError as error:
        return Output(str(error), True, 1)
    except OSError as error:
        path = catalogue.path(tool, args)
        return Output(f"{error.strerror or error}" + (f": {path}" if path else ""), True, 1)


def _run(
    tool: str, args: Mapping[str, Any], place: ToolContext, settings: Settings, seconds: float
) -> Output:
    match tool:
        case "Bash":
            from workspace.engines.tools import shell

            return shell.run(args["command"], place, settings, seconds)
        case "Read" | "Write" | "Edit":
            from workspace.engines.tools import files

            if args.get(PICTURE):
                return files.picture(args, place, settings.cwd)
            return Output(files.TOOLS[tool](args, place, settings.cwd))
        case "Glob" | "Grep":
            from workspace.engines.tools import search

            with place.stoppable():
                return Output(search.TOOLS[tool](args, place, settings.cwd))
        case "NotebookEdit":
            from workspace.engines.tools import notebook

            return Output(notebook.edit(args, place, settings.cwd))
        case "WebFetch" | "WebSearch":
            from workspace.engines.tools import web

            with place.stoppable():
                return Output(web.TOOLS[tool](args, settings, seconds))
        case "TodoWrite":
            return Output(_todos(args["todos"]))
    raise ToolError(f"No such tool available: {tool}")


def shorten(output: Output) -> Output:
    """The answer cut to what a model may get."""
    left_out = len(output.text) - CHARACTERS
    if left_out <= 0:
        return output
    return output._replace(text=f"{output.text[:CHARACTERS]}\n[{left_out} characters left out]")


def _todos(todos: list[Any]) -> str:
    """Check the list; the record of the call is what keeps it."""
    states = ("pending", "in_progress", "completed")
    for number, todo in enumerate(todos, 1):
        if not isinstance(todo, dict) or not isinstance(todo.get("content"), str):
            raise ToolError(f"todos entry {number} needs content")
        if todo.get("status", "pending") not in states:
            raise ToolError(f"todos entry {number}: status is one of {', '.join(states)}")
    return f"{len(todos)} todos noted"
