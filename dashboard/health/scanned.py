"""The effect of a scan of the listeners on a state: rows T6, T9 and T13."""

from __future__ import annotations

from dataclasses import replace

from dashboard.health.clock import Moment
from dashboard.health.judgement import TWICE, vacant
from dashboard.health.moves import down_or_stopped, restore_held, with_state
from dashboard.health.record import Ask, Policy, Port, Reason, Record, State, Tally

ANSWERING = frozenset({State.UP, State.DEGRADED})
_RESTING = frozenset({State.DOWN, State.STOPPED})
# The connection was accepted before the first scan, so no listener has appeared since.
_WAS_THERE = frozenset({Reason.TIMEOUT, Reason.GATEWAY})


def after(record: Record, port: Port, now: Moment, policy: Policy) -> Record:
    """The record after one more scan."""
    before = record.port
    empty = min(record.empty_scans + 1, TWICE) if port is Port.EMPTY else 0
    record = replace(record, port=port, empty_scans=empty)
    if record.silenced or not policy.probed or record.state is State.STOPPING:
        return record
    match port:
        case Port.STRANGER:
            text = "another process listens on its port"
            return with_state(
                restore_held(record), State.DOWN, Reason.WRONG_PROCESS, now, message=text
            )
        case Port.OWN if before is not Port.OWN:
            return _on_appearance(record, before, now, policy)
        case Port.EMPTY:
            return _empty(record, before, now, policy)
    return record


def _on_appearance(record: Record, before: Port, now: Moment, policy: Policy) -> Record:
    """T9; in any other state, a reason to probe at once, except at the first scan."""
    if record.state in _RESTING and (before is not Port.UNSEEN or record.reason not in _WAS_THERE):
        record = with_state(record, State.STARTING, Reason.LISTENER_SEEN, now)
        record = replace(record, tally=Tally(), grace_until=now.mono + policy.grace)
    elif before is Port.UNSEEN:
        return record
    return record if record.ask is not None else replace(record, ask=Ask(now.mono))


def _empty(record: Record, before: Port, now: Moment, policy: Policy) -> Record:
    if record.state is State.STOPPED:
        return replace(restore_held(record), seen_at=now.mono)  # that nothing listens is a result
    if record.reason is Reason.WRONG_PROCESS or _listener_left(record):
        text = "nothing listens on its port"
        return down_or_stopped(record, Reason.NO_LISTENER, now, policy, there=False, message=text)
    if before is Port.OWN and record.state in ANSWERING and record.ask is None:
        return replace(record, ask=Ask(now.mono))
    return record


def _listener_left(record: Record) -> bool:
    """Whether the listener is gone for good, in a state that depends on it (T6)."""
    begun = record.state is State.STARTING and record.reason is Reason.LISTENER_SEEN
    return (record.state in ANSWERING or begun) and vacant(record)
