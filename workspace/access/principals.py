"""Who acts: a person at the browser, a client over /mcp, a running turn, or the service itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from config.kernel.operations import Operation


@dataclass(frozen=True, slots=True)
class User:
    """A person admitted by the browser auth mode; may do everything (workspace.md 12.1)."""

    username: str = "anonymous"
    email: str = ""
    groups: tuple[str, ...] = ()
    anonymous: bool = True

    kind = "user"
    client = ""
    spawn_cap: int | None = None

    @property
    def id(self) -> str:
        return self.username

    def actor(self) -> dict[str, Any]:
        return {"kind": "user", "id": self.username}

    sender = actor

    def grants(self, operation: Operation) -> bool:
        return True

    def check(self, operation: Operation, arguments: Mapping[str, Any]) -> None:
        """Everything is permitted."""


@dataclass(frozen=True, slots=True)
class System:
    """The service itself: the scheduler, recovery, the curator."""

    kind = "system"
    id = ""
    client = ""
    spawn_cap: int | None = field(default=None)

    def actor(self) -> dict[str, Any]:
        return {"kind": "system"}

    sender = actor

    def grants(self, operation: Operation) -> bool:
        return True

    def check(self, operation: Operation, arguments: Mapping[str, Any]) -> None:
        """Everything is permitted."""
