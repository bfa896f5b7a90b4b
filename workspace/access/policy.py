"""Permissions: patterns, scopes of management clients, and the gates of the in-process tools.

Everything is denied by default and decided only here; no files, no database. The rules:
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
    """Whether a pattern matches: `*`, a prefix with one `*` at its end, or a literal."""
    return any(_match(pattern, word) for pattern in patterns)


def _match(pattern: str, word: str) -> bool:
    if pattern.endswith("*"):
        return word.startswith(pattern[:-1])
    return pattern == word


@lru_cache(1024)
def _permits(allow: tuple[str, ...], deny: tuple[str, ...], operation: str) -> bool:
    """Cached, as each request asks for every operation; there are few, and scopes never change."""
    return matches(allow, operation) and not matches(deny, operation)


def is_listed(tools: tuple[str, ...] | None, tool: str) -> bool:
    """Whether a turn's tool list offers `tool`; `mcp__server` means all tools of that server."""
    if tools is None:
        return True
    server = tool.rsplit("__", 1)[0]
    return any(entry == server or _match(entry, tool) for entry in tools)


@dataclass(frozen=True, slots=True)
class Scope:
    """What one management client may do, and in which projects. In both, deny beats allow."""

    projects: tuple[str, ...] = ("*",)
    allow: tuple[str, ...] = READ_ONLY_DEFAULT
    deny: tuple[str, ...] = ()
    deny_projects: tuple[str, ...] = ()
    max_spawn_depth: int | None = None
    permission_mode: str = "acceptEdits"  # the highest it may use

    def permits(self, operation: str) -> bool:
        return _permits(self.allow, self.deny, operation)

    def grants(self, operation: Operation) -> bool:
        return self.permits(operation.name)

    def acts(self, operation: Operation) -> bool:
        """Whether it may use this tool of a part, which acts outside of the sandbox: `allow` must
        have its exact name, a pattern is not enough."""
        return operation.name in self.allow and not matches(self.deny, operation.name)

    def reaches(self, project: str) -> bool:
        return matches(self.projects, project) and not matches(self.deny_projects, project)


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits set by all clients that a call descends from: every scope must permit it.

    Without clients there is no limit."""

    scopes: Mapping[str, Scope] = field(default_factory=dict)

    def permits(self, operation: str) -> bool:
        return all(scope.permits(operation) for scope in self.scopes.values())

    def acts(self, operation: Operation) -> bool:
        """Whether every scope permits this tool of a part, which acts outside of the sandbox."""
        return all(scope.acts(operation) for scope in self.scopes.values())

    def reaches(self, project: str) -> bool:
        return all(scope.reaches(project) for scope in self.scopes.values())

    def depth(self, limit: int) -> int:
        """The spawn limit `limit`, lowered to the smallest of the scopes."""
        caps = (scope.max_spawn_depth for scope in self.scopes.values())
        return min([limit, *(cap for cap in caps if cap is not None)])

    @property
    def mode(self) -> str | None:
        """The highest permission mode that every scope permits; None = any."""
        modes = (scope.permission_mode for scope in self.scopes.values())
        return min(modes, key=schema.rights, default=None)


@dataclass(frozen=True, slots=True)
class Gates:
    """The switches of the in-process tools; they do not concern clients of /mcp."""

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
