"""What this room needs of the daemon (section 10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dashboard.services.supervise import Supervisor
from dashboard.services.system.clock import Clock


@dataclass(frozen=True, slots=True)
class Settings:
    """`lost.*` of config.yaml; `grace` in seconds."""

    enabled: bool = True
    grace: float = 120.0


@dataclass(frozen=True, slots=True)
class World:
    """All of it is called on the daemon's thread.

    `changed` is told the ids of the notice whenever something of the notice is another, none when
    it is cleared (the event of 10.4).
    """

    clock: Clock
    services: Supervisor
    changed: Callable[[Sequence[str]], None]
    settings: Callable[[], Settings] = Settings  # asked each time, as the file may change
