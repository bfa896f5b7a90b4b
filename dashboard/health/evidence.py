"""The evidence that the state machine takes, and the events that it returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from dashboard.health.record import Port, Reason, State
from dashboard.health.result import Result


@dataclass(frozen=True, slots=True)
class Probed:
    result: Result


@dataclass(frozen=True, slots=True)
class Scanned:
    """One completed scan. `at`: when it began, in Unix seconds; None means now."""

    port: Port
    at: float | None = None


@dataclass(frozen=True, slots=True)
class Started:
    """The service's process was spawned. Adopting a running process does not count as a start."""

    restart: bool = False
    by_user: bool = True


@dataclass(frozen=True, slots=True)
class Ready:
    """The condition for readiness in the service's file has been met."""


@dataclass(frozen=True, slots=True)
class Exited:
    """The service's process ended without being asked to. `retry_in`: seconds to its next start,
    None if there is none; `why`: it could not be started, so `code` is that of the run before, and
    the exit is not the result of a stop."""

    code: int | None
    retry_in: float | None = None
    crash_loop: bool = False
    why: str | None = None


@dataclass(frozen=True, slots=True)
class Stopping:
    """The user asked the service to stop."""


@dataclass(frozen=True, slots=True)
class Stopped:
    """The service that was asked to stop has ended, or did not run."""


@dataclass(frozen=True, slots=True)
class StopFailed:
    """The service's process is still alive 5 s after KILL."""


@dataclass(frozen=True, slots=True)
class Silenced:
    """`paused: true`, or a file that was invalid when first loaded."""

    reason: Literal[Reason.PAUSED, Reason.INVALID_FILE] = Reason.PAUSED


@dataclass(frozen=True, slots=True)
class Changed:
    """The app's file changed, or is no longer paused or invalid: probe and judge the app again."""


@dataclass(frozen=True, slots=True)
class Woke:
    """The machine was suspended for more than 5 s."""


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed. `states.due` says when a Tick is worthwhile."""


Evidence = (
    Probed
    | Scanned
    | Started
    | Ready
    | Exited
    | Stopping
    | Stopped
    | StopFailed
    | Silenced
    | Changed
    | Woke
    | Tick
)


@dataclass(frozen=True, slots=True)
class Edge:
    """One change of state, for the history. `at` is Unix seconds.

    `kept`: it is the state that the app had in the run before.
    """

    at: float
    before: State
    after: State
    reason: Reason
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """A `state` event is due on the stream."""

    state: State


Event = Edge | Notice
