"""The dashboard's own address: the port that is wanted, what became of it, further names."""

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
    """`wanted`: the one that was to be opened; `decided`: not by config.yaml; `trouble`: why it
    could not be had."""

    wanted: int | None = None
    decided: bool = True
    trouble: FileError | None = None

    def restart_needed(self, config: Config) -> list[str]:
        """The keys of config.yaml that only a restart puts into effect."""
        return [] if self.decided or config.port == self.wanted else ["port"]


def wanted(options: Any) -> int | None:
    """The port to open: as the service's own settings say, else as config.yaml does."""
    said: int | None = options.dashboard_port
    return said if _decided(options) else int(store.config().parsed.port)


def look(options: Any, ports: Mapping[str, int]) -> OwnPort:
    """What the server made of it; `ports` are those that are open."""
    port, decided = wanted(options), _decided(options)
    if port is None or "dashboard" in ports:
        return OwnPort(ports.get("dashboard"), decided)
    message = f"port {port} is held by {holder(port)}; serving only /dashboard on the main port"
    trouble = FileError("config.yaml", "error", message, since=datetime.now(UTC))
    return OwnPort(port, decided, trouble)


def names(options: Any, host: str | None) -> tuple[str, ...]:
    """The further host names it is reached by: as the service's own settings say, else `host`, the
    fronted.host of config.yaml."""
    said: tuple[str, ...] = options.fronted_host
    return said or ((host,) if host else ())


def _decided(options: Any) -> bool:
    """The environment wins, then svc.config.yaml where it names another port than the default."""
    return NAME in options.environ or options.dashboard_port != DEFAULTS["port"]
