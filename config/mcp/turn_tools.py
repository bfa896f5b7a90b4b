"""Tools that a part gives to the running turns of this service, beside those of its /mcp.

A part names a module in its AppConfig (`turn_tools`) with a `REGISTRY`, which must be cheap to
import (`late`). Its operations are the tools `mcp__svc_<part>__<operation>` of every turn whose
tool list has them; `<part>` is the name of the part's app, or the module's `PART`. They are run
with a TurnCaller, and the part must restrict them to what is in its directory. Only turns can call
them: docs/design/engines.md#tools-of-the-parts.

The gate decides by `Operation.group`: `read` only reads and `note` writes to the service's own
files, and both run in every permission mode; `act` needs permission like a command.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from django.apps import apps
from django.utils.module_loading import import_string

from config.mcp.operations import Operation, Principal, Registry

PREFIX = "mcp__svc_"  # the prefix of the name of every tool of the service
ACT = "act"
KINDS: Mapping[str, str] = {"read": "R", "note": "P", ACT: "X"}  # group -> class of a tool


class TurnCaller(Principal, Protocol):
    """The turn that calls: its chat, the engine it runs on, and the directory it works in."""

    @property
    def project(self) -> str: ...
    @property
    def chat(self) -> str: ...
    @property
    def engine(self) -> str: ...
    @property
    def directory(self) -> Path:
        """The real directory the turn works in."""
        ...

    @property
    def project_directory(self) -> Path:
        """The project's own directory; the chat's worktree, if it has one, is a different one."""
        ...

    @property
    def apps(self) -> tuple[str, ...]:
        """The apps that the event of the turn is about, wherever they are."""
        ...


@cache
def registries() -> Mapping[str, Registry]:
    """The tools of each part that has any, by the part's name."""
    given = [one for one in apps.get_app_configs() if hasattr(one, "turn_tools")]
    modules = {one.label: import_module(one.turn_tools) for one in given}
    return {getattr(one, "PART", label): one.REGISTRY for label, one in modules.items()}


def acting() -> Mapping[str, Operation]:
    """The operations that act outside of the sandbox, by the names of their tools."""
    parts = registries().items()
    return {tool(part, one): one for part, own in parts for one in own if one.group == ACT}


def tool(part: str, operation: Operation) -> str:
    """The name of an operation's tool."""
    return f"{PREFIX}{part}__{operation.name}"


def hidden() -> tuple[str, ...]:
    """The real folders that no turn can read; none without a sandbox. The part that runs turns
    provides this (`hidden` in its AppConfig)."""
    named = (one.hidden for one in apps.get_app_configs() if hasattr(one, "hidden"))
    return tuple(folder for name in named for folder in import_string(name)())


def behind(cwd: Path, needed: Sequence[Path], writable: Sequence[Path]) -> tuple[str, ...]:
    """The command that starts a program in a sandbox like that of turns working in `cwd`, to which
    further options can be appended; the sandbox also shows what is `needed`. Empty without a
    sandbox. Raises GitError if there should be one and it is unavailable. The part that runs turns
    provides this (`behind` in its AppConfig)."""
    named = (one.behind for one in apps.get_app_configs() if hasattr(one, "behind"))
    found = (import_string(name)(cwd, needed, writable) for name in named)
    return next(filter(None, found), ())


def late(name: str) -> Callable[..., Any]:
    """The function of that dotted name, imported when it is first called.

    Every worker of turns reads the list of tools but none runs one: the server does. If workers
    imported what the tools depend on, each would need some 20 MB more.
    """

    def call(*args: Any, **named: Any) -> Any:
        return import_string(name)(*args, **named)

    return call
