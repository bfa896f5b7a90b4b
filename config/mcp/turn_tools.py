"""Tools that a part gives to the running turns of this service, beside what it offers on its /mcp.

A part names a module in its AppConfig (`turn_tools`) with `REGISTRY`, which is light (`late`). Its
operations are the tools `mcp__svc_<part>__<operation>` of every turn whose tool list has them;
`<part>` is the name of the part's app, or what the module calls it (`PART`). They are run with a
TurnCaller, and it is the part that keeps them to what lies in its directory. Nobody but a turn
reaches them: docs/design/engines.md#tools-of-the-parts.

`Operation.group` is what the gate goes by: `read` looks and `note` says something in the service's
own files, which both run in every permission mode; `act` asks like a command.
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

PREFIX = "mcp__svc_"  # how the name of every tool of the service begins
ACT = "act"
KINDS: Mapping[str, str] = {"read": "R", "note": "P", ACT: "X"}  # group -> class of a tool


class TurnCaller(Principal, Protocol):
    """The turn that calls: its chat, the engine it runs on, and where it works."""

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
        """The project's own: another one where the chat has a worktree."""
        ...

    @property
    def apps(self) -> tuple[str, ...]:
        """The apps that the turn's event is about, wherever they lie."""
        ...


@cache
def registries() -> Mapping[str, Registry]:
    """The tools of each part that has any, by the part's name."""
    given = [one for one in apps.get_app_configs() if hasattr(one, "turn_tools")]
    modules = {one.label: import_module(one.turn_tools) for one in given}
    return {getattr(one, "PART", label): one.REGISTRY for label, one in modules.items()}


def acting() -> Mapping[str, Operation]:
    """Those that act outside of the sandbox, by the names of their tools."""
    parts = registries().items()
    return {tool(part, one): one for part, own in parts for one in own if one.group == ACT}


def tool(part: str, operation: Operation) -> str:
    """The name of an operation's tool."""
    return f"{PREFIX}{part}__{operation.name}"


def hidden() -> tuple[str, ...]:
    """The real folders that no turn reads; none without a sandbox. The part that has turns says so
    (`hidden` in its AppConfig)."""
    named = (one.hidden for one in apps.get_app_configs() if hasattr(one, "hidden"))
    return tuple(folder for name in named for folder in import_string(name)())


def behind(cwd: Path, needed: Sequence[Path], writable: Sequence[Path]) -> tuple[str, ...]:
    """What starts a program in a sandbox as turns have it that work in `cwd`, up to where its
    options may go on; it shows what is `needed` as well. Nothing without a sandbox. GitError where
    it is to be there and is not. The part that has turns says it (`behind` in its AppConfig)."""
    named = (one.behind for one in apps.get_app_configs() if hasattr(one, "behind"))
    found = (import_string(name)(cwd, needed, writable) for name in named)
    return next(filter(None, found), ())


def late(name: str) -> Callable[..., Any]:
    """The function of that dotted name, imported when it is first called.

    Every worker of turns reads which tools there are, and none runs one: the server does. With what
    the tools stand on, each worker would hold some 20 MB more.
    """

    def call(*args: Any, **named: Any) -> Any:
        return import_string(name)(*args, **named)

    return call
