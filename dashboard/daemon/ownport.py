"""The dashboard's own address: the port it wants, whether it got it, and its further host names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from config.web.http.listeners import holder
from dashboard.files import store
from dashboard.files.entries import FileError
from dashboard.files.schema.config import DEFAULTS, Config

NAME = "SVC_DASHBOARD_PORT"


@dataclass(frozen=True, slots=True)
class OwnPort:
    """The dashboard's port. `wanted`: the port that was to be opened; `decided`: it was set
    elsewhere than in config.yaml; `trouble`: why it could not be opened."""

    wanted: int | None = None
    decided: bool = True
    trouble: FileError | None = None

    def restart_needed(self, config: Config) -> list[str]:
        """The keys of config.yaml that only a restart puts into effect."""
        return [] if self.decided or config.port == self.wanted else ["port"]


def port_to_open(options: Any) -> int | None:
    """The port to open: from the service's own settings, else from config.yaml."""
    said: int | None = options.dashboard_port
    return said if _is_decided(options) else int(store.config().parsed.port)


def look(options: Any, ports: Mapping[str, int]) -> OwnPort:
    """What became of the wanted port; `ports` are the ports that the server opened."""
    port, decided = port_to_open(options), _is_decided(options)
    if port is None or "dashboard" in ports:
        return OwnPort(ports.get("dashboard"), decided)
    message = f"port {port} is held by {holder(port)}; serving only /dashboard on the main port"
    trouble = FileError("config.yaml", "error", message, since=datetime.now(UTC))
    return OwnPort(port, decided, trouble)


def names(options: Any, host: str | None) -> tuple[str, ...]:
    """The further host names of the dashboard: from the service's own settings, else `host`, the
    fronted.host of config.yaml."""
    said: tuple[str, ...] = options.fronted_host
    return said or ((host,) if host else ())


def _is_decided(options: Any) -> bool:
    """Whether the environment or svc.config.yaml (by a port other than the default) decides."""
    return NAME in options.environ or options.dashboard_port != DEFAULTS["port"]
