"""Who may: patterns, scopes of management clients, and the gates of the in-process tools.

Default deny, decided here and nowhere else; pure values, no files, no database. The rules:
docs/design/workspace.md#scope-and-operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from config.mcp.operations import Operation
from workspace.projects import schema

READ_ONLY_DEFAULT = ("list_*", "read_chat")


def matches(patterns: Iterable[str], word: str) -> bool:
    """`*`, or a prefix with one `*` at its end; anything else is a literal."""
    return any(_match(pattern, word) for pattern in patterns)


def _match(pattern: str, word: str) -> bool:
    if pattern.endswith("*"):
        return word.startswith(pattern[:-1])
    return pattern == word


@lru_cache(1024)
def _permits(allow: tuple[str, ...], deny: tuple[str, ...], operation: str) -> bool:
    """Asked for every operation in each request; there are few, and a scope never changes."""
    return matches(allow, operation) and not matches(deny, operation)


def listed(tools: tuple[str, ...] | None, tool: str) -> bool:
    """Whether a turn's tool list offers `tool`; `mcp__server` stands for all its tools."""
    if tools is None:
        return True
    server = tool.rsplit("__", 1)[0]
    return any(entry == server or _match(entry, tool) for entry in tools)


@dataclass(frozen=True, slots=True)
class Scope:
    """What one management client may do, and where. Deny beats allow on both dimensions."""

    projects: tuple[str, ...] = ("*",)
    allow: tuple[str, ...] = READ_ONLY_DEFAULT
    deny: tuple[str, ...] = ()
    deny_projects: tuple[str, ...] = ()
    max_spawn_depth: int | None = None
    permission_mode: str = "acceptEdits"  # the highest one

    def permits(self, operation: str) -> bool:
        return _permits(self.allow, self.deny, operation)

    def grants(self, operation: Operation) -> bool:
        return self.permits(operation.name)

    def acts(self, operation: Operation) -> bool:
        """Whether it may act outside of the sandbox by this tool of a part: no star says so."""
        return operation.name in self.allow and not matches(self.deny, operation.name)

    def reaches(self, project: str) -> bool:
        return matches(self.projects, project) and not matches(self.deny_projects, project)


@dataclass(frozen=True, slots=True)
class Bounds:
    """What the clients that something descends from leave of its rights: every scope holds.

    Without a client nothing is bounded."""

    scopes: Mapping[str, Scope] = field(default_factory=dict)

    def permits(self, operation: str) -> bool:
        return all(scope.permits(operation) for scope in self.scopes.values())

    def acts(self, operation: Operation) -> bool:
        """Whether a tool of a part that acts outside of the sandbox is left."""
        return all(scope.acts(operation) for scope in self.scopes.values())

    def reaches(self, project: str) -> bool:
        return all(scope.reaches(project) for scope in self.scopes.values())

    def depth(self, limit: int) -> int:
        """The spawn limit that is left of this one."""
        caps = (scope.max_spawn_depth for scope in self.scopes.values())
        return min([limit, *(cap for cap in caps if cap is not None)])

    @property
    def mode(self) -> str | None:
        """The highest permission mode that is left; None = any."""
        modes = (scope.permission_mode for scope in self.scopes.values())
        return min(modes, key=schema.rights, default=None)


@dataclass(frozen=True, slots=True)
class Gates:
    """The switches of the in-process tools; never asked for /mcp clients."""

    read: bool
    write: bool
    projects: bool
    hooks: bool
    project_hooks: Callable[[str], bool | None]  # a project's own hooksMcpEnabled, if it has one

    def opens(self, operation: Operation, project: str) -> bool:
        if not self.read:
            return False
        if operation.group == "read":
            return True
        if operation.group == "trigger":
            own = self.project_hooks(project)
            return self.write and (self.hooks if own is None else own)
        return self.write and (self.projects or operation.name != "create_project")
