"""What may be told to the state machine, and what it tells in return."""

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
    """One completed scan. `at`: when it began, in Unix seconds, None for now."""

    port: Port
    at: float | None = None


@dataclass(frozen=True, slots=True)
class Started:
    """The service's process was spawned. Adopting a running one is no start."""

    restart: bool = False
    by_user: bool = True


@dataclass(frozen=True, slots=True)
class Ready:
    """What the service's file asks for before it counts as ready has come."""


@dataclass(frozen=True, slots=True)
class Exited:
    """The service's process ended unasked. `retry_in`: seconds to its next start, None without;
    `why`: it could not even start, so `code` is of the run before, and no stop was all there is."""

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
    """It is still alive 5 s after KILL."""


@dataclass(frozen=True, slots=True)
class Silenced:
    """`paused: true`, or a file that was invalid when first loaded."""

    reason: Literal[Reason.PAUSED, Reason.INVALID_FILE] = Reason.PAUSED


@dataclass(frozen=True, slots=True)
class Changed:
    """The app's file changed, or is no longer paused or invalid: ask again, judge afresh."""


@dataclass(frozen=True, slots=True)
class Woke:
    """The machine was suspended for more than 5 s."""


@dataclass(frozen=True, slots=True)
class Tick:
    """Time has passed: `states.due` says when one is worth it."""


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

    `kept`: it is the state of the run before, found again.
    """

    at: float
    before: State
    after: State
    reason: Reason
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """A `state` event is due on the stream now."""

    state: State


Event = Edge | Notice
