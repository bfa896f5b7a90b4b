"""The callers: a person at the browser, a client over /mcp, a running turn, the service itself.

Each principal answers the same questions: which operations it has (`grants`), what it may do in
which project (`check`, `reaches`), how records name it (`actor`, `sender`, `client`) and how deep
the turns it starts may spawn (`spawn_cap`). No transport adds rules of its own. What a client
causes stays within its scope: docs/design/trust.md#rights-travel-with-the-cause.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from config.errors import Denied
from config.mcp import operations, turn_tools
from config.mcp.operations import Operation
from workspace.access.policy import Bounds, Gates, Scope, is_listed

NO_DEFAULTS: Mapping[str, str] = {}


class Principal(operations.Principal, Protocol):
    """The interface of a caller that the nouns of the workspace use."""

    @property
    def kind(self) -> str: ...
    @property
    def id(self) -> str: ...
    @property
    def client(self) -> str:
        """The clientId recorded in what this call makes, or ""."""
        ...

    @property
    def clients(self) -> tuple[str, ...]:
        """All clients that this call descends from; their scopes also limit what it causes."""
        ...

    @property
    def bounds(self) -> Bounds:
        """The limits that the scopes of `clients` set to what this call causes."""
        ...

    @property
    def chain(self) -> tuple[str, ...]:
        """The triggers whose firings led to this call; none of them fires for what it causes."""
        ...

    @property
    def spawn_cap(self) -> int | None:
        """Upper bound of the spawn limit of what this caller starts; None = no bound."""
        ...

    @property
    def mode_cap(self) -> str | None:
        """The highest permission mode of what this caller stores or starts; None = any."""
        ...

    def actor(self) -> dict[str, Any]: ...
    def sender(self) -> dict[str, Any]: ...
    def reaches(self, project: str) -> bool:
        """Whether the caller sees this project in lists."""
        ...

    def check_project(self, operation: str, project: str) -> None:
        """Raise Denied if the project is out of scope, whether or not it exists."""
        ...


class _Unbounded:
    """The common base of people and the service: everything is visible and permitted."""

    __slots__ = ()
    client = ""
    clients = ()
    chain = ()
    project: ClassVar[str | None] = None
    chat: ClassVar[str | None] = None
    bounds = Bounds()
    spawn_cap: ClassVar[int | None] = None
    mode_cap: ClassVar[str | None] = None
    defaults = NO_DEFAULTS

    def grants(self, operation: Operation) -> bool:
        return True

    def check(self, operation: Operation, arguments: Mapping[str, Any]) -> None:
        """Everything is permitted."""

    def reaches(self, project: str) -> bool:
        return True

    def check_project(self, operation: str, project: str) -> None:
        """Everything is permitted."""


@dataclass(frozen=True, slots=True)
class User(_Unbounded):
    """A person admitted by the browser auth mode; may do everything."""

    username: str = "anonymous"
    email: str = ""
    groups: tuple[str, ...] = ()
    anonymous: bool = True

    kind: ClassVar[str] = "user"

    @property
    def id(self) -> str:
        return self.username

    def actor(self) -> dict[str, Any]:
        return {"kind": "user", "id": self.username}

    sender = actor


@dataclass(frozen=True, slots=True)
class System(_Unbounded):
    """The service itself: the scheduler, recovery, the curator."""

    kind: ClassVar[str] = "system"
    id: ClassVar[str] = ""

    def actor(self) -> dict[str, Any]:
        return {"kind": "system"}

    sender = actor


@dataclass(frozen=True, slots=True)
class Client:
    """A management client over /mcp: its scope decides."""

    client: str
    scope: Scope

    kind: ClassVar[str] = "client"
    project: ClassVar[str | None] = None
    chat: ClassVar[str | None] = None
    chain: ClassVar[tuple[str, ...]] = ()
    defaults: ClassVar[Mapping[str, str]] = NO_DEFAULTS

    @property
    def id(self) -> str:
        return self.client

    @property
    def clients(self) -> tuple[str, ...]:
        return (self.client,)

    @property
    def bounds(self) -> Bounds:
        return Bounds({self.client: self.scope})

    @property
    def spawn_cap(self) -> int | None:
        return self.scope.max_spawn_depth

    @property
    def mode_cap(self) -> str | None:
        return self.scope.permission_mode

    def actor(self) -> dict[str, Any]:
        return {"kind": "client", "id": self.client}

    sender = actor

    def grants(self, operation: Operation) -> bool:
        return self.scope.grants(operation)

    def check(self, operation: Operation, arguments: Mapping[str, Any]) -> None:
        if not self.grants(operation):
            raise Denied(_refusal(operation.name))
        project = arguments.get(operation.project_argument or "")
        if project is not None:
            self.check_project(operation.name, project)

    def reaches(self, project: str) -> bool:
        return self.scope.reaches(project)

    def check_project(self, operation: str, project: str) -> None:
        if not self.scope.reaches(project):
            raise Denied(_refusal(operation, project))


@dataclass(frozen=True, slots=True)
class Agent:
    """A running turn that calls over /_svc/mcp.

    It may do what both its gates and the clients it descends from permit."""

    turn: str
    project: str
    chat: str
    chat_name: str
    depth: int
    spawn_limit: int
    client: str
    tools: tuple[str, ...] | None  # None = all
    plan: bool
    gates: Gates = field(repr=False)
    bounds: Bounds = field(default_factory=Bounds, repr=False)
    chain: tuple[str, ...] = ()

    kind: ClassVar[str] = "agent"

    @property
    def id(self) -> str:
        return self.chat

    @property
    def clients(self) -> tuple[str, ...]:
        return tuple(self.bounds.scopes)

    @property
    def spawn_cap(self) -> int | None:
        return max(0, self.spawn_limit - 1)

    @property
    def mode_cap(self) -> str | None:
        return self.bounds.mode

    @property
    def defaults(self) -> Mapping[str, str]:
        return {"project": self.project, "session_id": self.chat}

    def actor(self) -> dict[str, Any]:
        return {"kind": "chat", "id": self.chat}

    def sender(self) -> dict[str, Any]:
        return {
            "kind": "chat", "project": self.project, "sessionId": self.chat, "name": self.chat_name,
        }  # fmt: skip

    def grants(self, operation: Operation) -> bool:
        return (
            self.gates.opens(operation, self.project)
            and self.bounds.permits(operation.name)
            and is_listed(self.tools, f"mcp__svc_manage__{operation.name}")
            and (operation.read_only or not self.plan)
            and (self.spawn_limit > 0 or not operation.code_execution)
        )

    def check(self, operation: Operation, arguments: Mapping[str, Any]) -> None:
        project = arguments.get(operation.project_argument or "")
        if not self.grants(operation):
            raise Denied(_refusal(operation.name))
        if project is not None:
            self.check_project(operation.name, project)
        if not self.gates.opens(operation, self.project if project is None else project):
            raise Denied(_refusal(operation.name, project))

    def reaches(self, project: str) -> bool:
        return self.bounds.reaches(project)

    def check_project(self, operation: str, project: str) -> None:
        """Denied if a client it descends from does not reach the project. Without such clients it
        may name any project; only the trigger tools are gated by project."""
        if not self.bounds.reaches(project):
            raise Denied(_refusal(operation, project))


@dataclass(frozen=True, slots=True)
class Helper:
    """A running turn as a caller of another part's tools: config.mcp.turn_tools.TurnCaller.

    Its tools depend on the switch of the service's own tools, on the clients it descends from, on
    its tool list and on its mode. What they may reach is decided by the part, from the directory
    the turn works in."""

    agent: Agent
    part: str
    engine: str
    directory: Path
    project_directory: Path
    apps: tuple[str, ...] = ()

    defaults: ClassVar[Mapping[str, str]] = NO_DEFAULTS

    @property
    def project(self) -> str:
        return self.agent.project

    @property
    def chat(self) -> str:
        return self.agent.chat

    def grants(self, operation: Operation) -> bool:
        return (
            self.agent.gates.read
            and self.agent.bounds.reaches(self.agent.project)
            and is_listed(self.agent.tools, turn_tools.tool(self.part, operation))
            and (operation.group != turn_tools.ACT or self._acts(operation))
        )

    def _acts(self, operation: Operation) -> bool:
        """Whether it may use a tool that acts outside of the sandbox, beyond all scopes."""
        return self.agent.bounds.acts(operation) and not self.agent.plan

    def check(self, operation: Operation, arguments: Mapping[str, Any]) -> None:
        if not self.grants(operation):
            raise Denied(_refusal(operation.name))


def _refusal(operation: str, project: str | None = None) -> str:
    where = f" (project {project})" if project is not None else ""
    return f"not permitted: operation {operation} is outside this client's scope{where}"
