"""The current state of a service, as the daemon holds it and as the API shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict

from config.logs import timestamp
from dashboard.services import definition
from dashboard.services.record import Record, Status
from dashboard.services.system.clock import Clock

ALIVE = ("starting", "running", "stopping")


class Exit(TypedDict):
    code: int | None
    signal: str | None
    at: str | None


class Service(TypedDict):
    managed: bool
    status: Status
    reason: str | None
    message: str | None
    pid: int | None
    pgid: int | None
    startedAt: str | None
    restarts: int
    lastExit: Exit | None
    nextRetryAt: str | None
    adopted: bool
    autostart: bool
    once: bool
    stale: bool
    logBytes: int


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a service; `reason` is a reason of the states. `asked`: by a user."""

    slug: str
    before: Status
    status: Status
    reason: str
    asked: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """`services.*` of config.yaml; seconds, bytes and counts."""

    enabled: bool = True
    stop_timeout: float = 10.0
    log_max_bytes: int = 10 * 1024 * 1024
    log_keep: int = 5


@dataclass(frozen=True, slots=True)
class World:
    """What services need of the daemon; all but `login` is called in its event loop."""

    clock: Clock
    changed: Callable[[Change], None]
    login: Callable[[], Mapping[str, str]]  # the variables of the user's login shell; may block
    limits: Callable[[], Limits] = Limits  # called each time, as the file may change
    open_files: int | None = None


@dataclass(slots=True, eq=False)
class ServiceState:
    """One service by its slug. While it runs, `service` stays even if its file is deleted."""

    slug: str
    world: World
    service: definition.Service | None = None
    declared: bool = False
    record: Record | None = None
    status: Status = "stopped"
    reason: str = "not-running"
    message: str | None = None
    adopted: bool = False
    next_retry: datetime | None = None
    log_bytes: int = 0

    @property
    def alive(self) -> bool:
        return self.status in ALIVE

    @property
    def pid(self) -> int | None:
        return self.record.pid if self.record and self.alive else None

    @property
    def stale(self) -> bool:
        """Whether the command, cwd, environment or port in the file differ from what is running."""
        if not (self.alive and self.record and self.service):
            return False
        return not self.service.started_as(self.record.definition)

    def become(self, status: Status, reason: str, *, asked: bool = False) -> None:
        """Set the state and notify the daemon if it changed, or if a user asked for it."""
        before = self.status, self.reason
        self.status, self.reason = status, reason
        if status != "backoff":
            self.next_retry = None
        if asked or before != (status, reason):
            self.world.changed(Change(self.slug, before[0], status, reason, asked))

    def wire(self) -> Service:
        known = self.record
        last = known.last_exit if known else None
        running = known if self.alive else None
        return {
            "managed": True,
            "status": self.status,
            "reason": self.reason,
            "message": self.message,
            "pid": self.pid,
            "pgid": running.leader if running else None,
            "startedAt": timestamp(running.at) if running and running.at else None,
            "restarts": known.restarts if known else 0,
            "lastExit": (
                {"code": last.code, "signal": last.signal, "at": timestamp(last.at)}
                if last
                else None
            ),
            "nextRetryAt": timestamp(self.next_retry) if self.next_retry else None,
            "adopted": self.adopted and self.alive,
            "autostart": bool(self.service and self.service.autostart),
            "once": bool(known and known.once),
            "stale": self.stale,
            "logBytes": self.log_bytes,
        }
