"""What this package needs from the daemon."""

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
    """Everything is called on the daemon's thread.

    `changed` receives the ids of the notice whenever the notice has changed, none if it was
    cleared; the `reboot` event has the same ids.
    """

    clock: Clock
    services: Supervisor
    changed: Callable[[Sequence[str]], None]
    settings: Callable[[], Settings] = Settings  # called each time, as the file may change
