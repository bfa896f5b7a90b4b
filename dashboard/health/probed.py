"""The effect of a probe's result on a state: rows T1-T8 and T10."""

from __future__ import annotations

from dataclasses import replace

from dashboard.health.clock import Moment
from dashboard.health.judgement import (
    TWICE,
    count_result,
    failed_long,
    result_text,
    said_slow,
    slow,
    vacant,
    wanted_successes,
    why,
    why_degraded,
)
from dashboard.health.moves import KNOWN_BETTER, down_or_stopped, restore_held, with_state
from dashboard.health.record import Ask, Policy, Port, Reason, Record, State
from dashboard.health.result import Kind, Result

_KNOWN_UNASKED = KNOWN_BETTER | {Reason.BACKOFF}


def after(record: Record, result: Result, now: Moment, policy: Policy) -> Record:
    """The record after a result, which counts only if the probe began in the present state."""
    counts = not record.silenced and policy.probed and result.began >= record.fresh
    answered = record.ask is not None and result.began >= record.ask.at
    record = replace(
        record,
        ask=None if answered else record.ask,
        probed_at=now.mono,
        tries=record.tries + 1,
        seen_at=now.mono if counts else record.seen_at,
    )
    if not counts:
        return record
    record = restore_held(record)
    if record.port is Port.STRANGER:
        return record  # the answer came from a process that is not this app (T13)
    if result.kind is Kind.NO_PROBE:
        return _without_probe(record, result, now)
    if (left := _unproven(record, result)) > 0:
        return replace(record, ask=Ask(now.mono + left))
    record = replace(record, tally=count_result(record.tally, result, policy))
    match record.state:
        case State.UNKNOWN:
            return _first(record, result, now, policy)
        case State.STOPPING:
            return _first(record, result, now, policy) if record.undecided else record
        case State.STARTING:
            return _starting(record, result, now, policy)
        case State.UP | State.DEGRADED:
            return _running(record, result, now, policy)
    return _resting(record, result, now, policy)


def _without_probe(record: Record, result: Result, now: Moment) -> Record:
    """Nothing was probed, so only what its service has reported is known."""
    if record.reason in _KNOWN_UNASKED and not record.undecided:
        return record
    return with_state(record, State.UNKNOWN, Reason.NO_PROBE, now, message=result_text(result))


def _unproven(record: Record, result: Result) -> float:
    """Seconds that a process must still live before being alive counts: a process that ends
    immediately, over and over, is never up."""
    if result.lived is None or record.state in {State.UP, State.DEGRADED}:
        return 0.0
    return record.steady - result.lived


def _first(record: Record, result: Result, now: Moment, policy: Policy) -> Record:
    """T1, T2, and T12 when the stop failed."""
    if result.ok:
        return _up(record, result, now)
    if result.bad:
        return _degraded(record, result, now)
    return _silent(record, result, now, policy)


def _starting(record: Record, result: Result, now: Moment, policy: Policy) -> Record:
    """T3. A dev server that disappeared before it answered is no longer starting (T4)."""
    if result.ok:
        return _up(record, result, now)
    if record.tally.bad >= TWICE:
        return _degraded(record, result, now)
    if record.reason is Reason.LISTENER_SEEN and vacant(record):
        return _silent(record, result, now, policy)
    return record


def _running(record: Record, result: Result, now: Moment, policy: Policy) -> Record:
    """T5-T8."""
    if result.failed:
        long = failed_long(record, policy)
        return _silent(record, result, now, policy) if long else record
    if record.tally.gateway >= policy.failures:
        return with_state(record, State.DOWN, Reason.GATEWAY, now, message=result_text(result))
    if result.bad:
        unwell = record.state is State.DEGRADED or record.tally.bad >= TWICE
        return _degraded(record, result, now) if unwell else record
    if slow(record.tally, policy):
        text = said_slow(record.tally, policy)
        return _turn(record, State.DEGRADED, Reason.SLOW, now, text)
    if record.state is State.DEGRADED and record.tally.clean < TWICE:
        return record
    return _up(record, result, now)


def _resting(record: Record, result: Result, now: Moment, policy: Policy) -> Record:
    """T10. A server that comes back with 5xx is degraded. One that keeps failing is judged again:
    an app whose listener left is stopped, one that listens but is silent is down."""
    if result.ok:
        enough = record.tally.passing >= wanted_successes(record, policy)
        return _up(record, result, now) if enough else record
    if record.tally.broken >= TWICE:
        return _degraded(record, result, now)
    if record.tally.gateway >= policy.failures:
        return _turn(record, State.DOWN, Reason.GATEWAY, now, result_text(result))
    known_better = record.reason in KNOWN_BETTER or (
        record.reason is Reason.START_TIMEOUT and policy.alarm
    )
    if result.failed and not known_better and failed_long(record, policy):
        return _silent(record, result, now, policy)
    return record


def _up(record: Record, result: Result, now: Moment) -> Record:
    return _turn(record, State.UP, Reason(result.kind.value), now, result_text(result))


def _degraded(record: Record, result: Result, now: Moment) -> Record:
    return _turn(record, State.DEGRADED, why_degraded(result), now, result_text(result))


def _silent(record: Record, result: Result, now: Moment, policy: Policy) -> Record:
    there = record.port is Port.OWN or result.addr is not None
    reason = why(record, result)
    if record.state is State.DOWN and (policy.alarm or there):
        return _turn(record, State.DOWN, reason, now, result_text(result))
    return down_or_stopped(record, reason, now, policy, there=there, message=result_text(result))


def _turn(record: Record, state: State, reason: Reason, now: Moment, message: str) -> Record:
    """The record in `state`. If it is in `state` already, only reason and message change."""
    if record.state is not state:
        return with_state(record, state, reason, now, message=message)
    if (record.reason, record.message) == (reason, message):
        return record
    return replace(record, reason=reason, message=message)
