"""The values of the state machine: what state an app is in, why, and since when."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from dashboard.health.clock import Moment

STEADY_S, AGAIN_STEADY_S = 3.0, 10.0  # longer for a process that has just ended by itself
FIRST_SPREAD_S = 2.5  # the first probes after a daemon start begin within 3 s


class State(StrEnum):
    UNKNOWN = "unknown"
    STARTING = "starting"
    UP = "up"
    DEGRADED = "degraded"
    DOWN = "down"
    STOPPED = "stopped"
    STOPPING = "stopping"


class Reason(StrEnum):
    NEW = "new"
    PAUSED = "paused"
    NO_PROBE = "no-probe"
    INVALID_FILE = "invalid-file"
    RESUMED = "resumed"
    SPAWNED = "spawned"
    LISTENER_SEEN = "listener-seen"
    RESTARTING = "restarting"
    BACKOFF = "backoff"
    OK = "ok"
    REDIRECT = "redirect"
    AUTH = "auth-required"
    SERVER_ERROR = "http-5xx"
    SLOW = "slow"
    BODY = "body-mismatch"
    STATUS = "status-mismatch"
    TLS = "tls"
    NOT_HTTP = "not-http"
    REFUSED = "refused"
    TIMEOUT = "timeout"
    DNS = "dns"
    NO_LISTENER = "no-listener"
    GATEWAY = "gateway"
    EXITED = "exited"
    CRASH_LOOP = "crash-loop"
    WRONG_PROCESS = "wrong-process"
    START_TIMEOUT = "start-timeout"
    USER = "user"
    NOT_RUNNING = "not-running"


class Port(StrEnum):
    """What the last scan found where the app should listen."""

    UNSEEN = "unseen"  # no scan yet, scanning is off, or the host is another machine
    EMPTY = "empty"
    OWN = "own"
    STRANGER = "stranger"  # its process or cwd contradicts `match`


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How one app is judged. Times in seconds; `always` is `expected: always`, `should_run` a
    service that is meant to run; `probed` is False for health type `none`."""

    probed: bool = True
    always: bool = False
    should_run: bool = False
    interval: float = 30.0
    failures: int = 3
    successes: int = 1
    slow: float = 3.0
    grace: float = 60.0

    @property
    def alarm(self) -> bool:
        return self.always or self.should_run


class LastKnown(NamedTuple):
    """`lastKnown`: the state before this daemon run (or before a long sleep), at Unix seconds.

    `reason`: that of the run before, whose state continues if it is found again; None after a
    sleep.
    """

    state: State
    at: float
    reason: Reason | None = None


class Ask(NamedTuple):
    """A probe that is due regardless of the interval: at `at` plus the app's share of `spread`."""

    at: float
    spread: float = 0.0


class BeforeSleep(NamedTuple):
    """The reason and message before the machine slept, until there is evidence again (T15)."""

    reason: Reason
    message: str
    deadline: float


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of consecutive results, except `bad`: bad answers since the last fine one."""

    failing: int = 0
    refused: int = 0
    bad: int = 0
    gateway: int = 0
    broken: int = 0  # bad answers other than 502 and 504
    passing: int = 0
    clean: int = 0  # fine, and not slow
    latencies: tuple[float, ...] = ()  # seconds of the last three fine answers


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One app's state and its evidence. Times are monotonic seconds, except `since`."""

    state: State = State.UNKNOWN
    reason: Reason = Reason.NEW
    message: str = ""
    since: float  # Unix seconds
    born: float
    fresh: float  # a probe that began earlier says nothing about the present state
    moves: int = 0  # how often a row of the table has been taken
    last_known: LastKnown | None = None
    port: Port = Port.UNSEEN
    empty_scans: int = 0
    tally: Tally = Tally()
    tries: int = 0  # probes since the last move
    ask: Ask | None = None
    probed_at: float | None = None  # when the last result came
    seen_at: float  # when there was last any evidence
    grace_until: float | None = None
    steady: float = STEADY_S  # how long a process must live, if nothing else shows its health
    undecided: bool = False  # a stop failed: the next probe decides the state (T12)
    held: BeforeSleep | None = None
    changes: tuple[float, ...] = ()  # the last six changes that count as flapping
    settled: State | None = None  # the last of up, degraded, down, stopped
    flapping: bool = False
    heard: State | None = None  # the state last sent to the stream
    heard_at: float = float("-inf")
    owed: bool = False  # a move not yet sent to the stream

    @property
    def failing(self) -> int:
        return self.tally.failing

    @property
    def silenced(self) -> bool:
        """Whether only the user can change the state (T14)."""
        return self.reason in {Reason.PAUSED, Reason.INVALID_FILE}


def born(
    now: Moment, policy: Policy, known: LastKnown | None = None, *, spread: float = FIRST_SPREAD_S
) -> Record:
    """A record without evidence: after a daemon start, or for a new app (then `known` is None)."""
    return Record(
        reason=Reason.NEW if policy.probed else Reason.NO_PROBE,
        since=now.wall,
        born=now.mono,
        fresh=now.mono,
        seen_at=now.mono,
        last_known=known,
        heard=known.state if known else None,
        ask=Ask(now.mono, spread),
    )


def stale(record: Record, policy: Policy, now: float) -> bool:
    """Whether no result came for 3 intervals; never so for an app that is not probed."""
    if record.silenced or not policy.probed or record.state is State.STOPPING:
        return False
    return now - record.seen_at > 3 * policy.interval
