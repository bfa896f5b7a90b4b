"""What this room needs of the daemon."""

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

    `changed` gets the ids of the notice whenever something of it has changed, none when it is
    cleared: what the `reboot` event says.
    """

    clock: Clock
    services: Supervisor
    changed: Callable[[Sequence[str]], None]
    settings: Callable[[], Settings] = Settings  # asked each time, as the file may change
