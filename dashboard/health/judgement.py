"""What results add up to: the counters of the state machine and the sentences for people."""

from __future__ import annotations

import signal
from dataclasses import replace
from statistics import median

from dashboard.health.record import Policy, Port, Reason, Record, Tally
from dashboard.health.result import Kind, Result

TWICE = 2
LATENCIES = 3
FLAPPING_SUCCESSES = 3


def count_result(tally: Tally, result: Result, policy: Policy) -> Tally:
    """The counters after one more result."""
    if result.ok:
        seconds = (result.ms or 0.0) / 1000
        return Tally(
            passing=tally.passing + 1,
            clean=tally.clean + 1 if seconds <= policy.slow else 0,
            latencies=(*tally.latencies, seconds)[-LATENCIES:],
        )
    if result.bad:
        gateway = result.kind is Kind.GATEWAY
        return Tally(
            bad=tally.bad + 1,
            gateway=tally.gateway + 1 if gateway else 0,
            broken=0 if gateway else tally.broken + 1,
            latencies=tally.latencies,
        )
    return Tally(
        failing=tally.failing + 1,
        refused=tally.refused + 1 if result.kind is Kind.REFUSED else 0,
        bad=tally.bad,
        latencies=tally.latencies,
    )


def since_move(tally: Tally) -> Tally:
    """The counters that stay valid in a new state: streaks of failing probes continue."""
    return replace(tally, bad=0, broken=0, passing=0, clean=0)


def slow(tally: Tally, policy: Policy) -> bool:
    """Whether the median of the last three latencies is over the limit (T7)."""
    return len(tally.latencies) == LATENCIES and median(tally.latencies) > policy.slow


def vacant(record: Record) -> bool:
    """Whether probes were refused twice and two scans found no listener (T6)."""
    return record.tally.refused >= TWICE and record.empty_scans >= TWICE


def failed_long(record: Record, policy: Policy) -> bool:
    return record.tally.failing >= policy.failures or vacant(record)


def wanted_successes(record: Record, policy: Policy) -> int:
    """The number of successes in a row that T10 requires."""
    return max(policy.successes, FLAPPING_SUCCESSES) if record.flapping else policy.successes


def why(record: Record, result: Result) -> Reason:
    """The reason that a result gives for the resulting state."""
    if result.kind is Kind.REFUSED and record.port is Port.EMPTY:
        return Reason.NO_LISTENER
    return Reason(result.kind.value)


def why_degraded(result: Result) -> Reason:
    """The reason for degraded: a 502 or 504 counts as an ordinary 5xx until it has lasted."""
    return Reason.SERVER_ERROR if result.kind is Kind.GATEWAY else Reason(result.kind.value)


def result_text(result: Result) -> str:
    """The text of a result in the message of the state; "" when everything is fine."""
    if result.error:
        return result.error
    plain = result.status is None or 200 <= result.status <= 299
    return "" if plain else f"answers {result.status}"


def said_slow(tally: Tally, policy: Policy) -> str:
    return f"answers in {median(tally.latencies):.1f} s; slow is over {policy.slow:g} s"


def describe_exit(code: int | None) -> str:
    """How a process ended, for people."""
    if code is None:
        return "ended; nobody saw how"
    number = code - 128 if code > 128 else -code  # a shell reports signal n as 128 + n
    try:
        return f"ended by {signal.Signals(number).name}"
    except ValueError:
        return f"exited with {code}"


def keeps(code: int | None) -> str:
    """How a process keeps ending, for people."""
    if code is None:
        return "keeps ending; nobody saw how"
    how = describe_exit(code)
    return f"keeps exiting with code {code}" if how.startswith("exited") else f"keeps being {how}"
