"""The state machine of an app: pure, with one step per piece of evidence.

The rows T1 to T15 named here: docs/design/dashboard.md#transitions
Only evidence that is newer than a state can change it: a probe that began before the last move is
dropped, so that no late answer makes a stopped app up.
"""

from __future__ import annotations

from dataclasses import replace

from dashboard.health import flapping, probed, scanned
from dashboard.health.clock import Moment
from dashboard.health.evidence import (
    Changed,
    Event,
    Evidence,
    Exited,
    Probed,
    Ready,
    Scanned,
    Silenced,
    Started,
    StopFailed,
    Stopped,
    Stopping,
    Tick,
    Woke,
)
from dashboard.health.judgement import describe_exit, keeps
from dashboard.health.moves import silence_over, with_state
from dashboard.health.record import (
    AGAIN_STEADY_S,
    STEADY_S,
    Ask,
    BeforeSleep,
    LastKnown,
    Policy,
    Port,
    Reason,
    Record,
    State,
    Tally,
)
from dashboard.health.scanned import ANSWERING

# These reasons show that something listens; that a service has ended would be the reason instead.
_LISTENING = frozenset({Reason.LISTENER_SEEN, Reason.TIMEOUT, Reason.GATEWAY, Reason.WRONG_PROCESS})
WAKE_SPREAD_S = 5.0
WAKE_PATIENCE_S = 15.0  # the least time to wait for a first result after a suspend


def step(
    record: Record, evidence: Evidence, now: Moment, policy: Policy
) -> tuple[Record, tuple[Event, ...]]:
    """The record after the evidence, with an Edge if its state changed and a Notice if due."""
    return flapping.announce(record, _after(record, evidence, now, policy), now)


def due(record: Record) -> float | None:
    """When a Tick would change something, in monotonic seconds; None if it never would."""
    times = [flapping.due(record), record.held.deadline if record.held else None]
    if record.state is State.STARTING:
        times.append(record.grace_until)
    return min((time for time in times if time is not None), default=None)


def _after(record: Record, evidence: Evidence, now: Moment, policy: Policy) -> Record:
    match evidence:
        case Probed(result):
            return probed.after(record, result, now, policy)
        case Scanned(port, at):
            late = record.reason is Reason.USER and at is not None and at < record.since
            return record if late else scanned.after(record, port, now, policy)
        case Tick():
            return _later(record, now, policy)
        case Woke():
            return _on_wake(record, now, policy)
        case Silenced(reason):
            return with_state(record, State.UNKNOWN, reason, now, message=reason.value)
        case Changed():
            return _on_change(record, now, policy)
    return record if record.silenced else _on_service(record, evidence, now, policy)


def _on_service(record: Record, evidence: Evidence, now: Moment, policy: Policy) -> Record:
    """The effect of what the service's process and its user do (T9, T11, T12)."""
    match evidence:
        case Started():
            return _on_start(record, evidence, now, policy)
        case Ready() if record.state is State.STARTING:
            return replace(record, steady=0.0, ask=Ask(now.mono))
        case Exited():
            return _on_exit(record, evidence, now, policy)
        case Stopping() if record.state is not State.STOPPED:
            return with_state(flapping.forgiven(record), State.STOPPING, Reason.USER, now)
        case Stopped() if not (record.state is State.STOPPED or _anothers(record)):
            return with_state(flapping.forgiven(record), State.STOPPED, Reason.USER, now)
        case StopFailed() if record.state is State.STOPPING:
            if not policy.probed:
                return with_state(record, State.UNKNOWN, Reason.NO_PROBE, now)
            return replace(record, undecided=True, fresh=now.mono, ask=Ask(now.mono))
    return record


def _anothers(record: Record) -> bool:
    """Whether the state is that of a process outside the service, which a stop does not end."""
    return record.state in ANSWERING or record.reason in _LISTENING


def _on_start(record: Record, evidence: Started, now: Moment, policy: Policy) -> Record:
    if evidence.by_user:
        record = flapping.forgiven(record)
    if not policy.probed:
        return with_state(record, State.UNKNOWN, Reason.NO_PROBE, now)
    again = evidence.restart or record.reason is Reason.BACKOFF
    reason = Reason.RESTARTING if again else Reason.SPAWNED
    record = with_state(record, State.STARTING, reason, now)
    return replace(
        record,
        tally=Tally(),
        grace_until=now.mono + policy.grace,
        steady=STEADY_S if evidence.by_user else AGAIN_STEADY_S,
        ask=Ask(now.mono),
        empty_scans=0,
    )


def _on_exit(record: Record, evidence: Exited, now: Moment, policy: Policy) -> Record:
    how = evidence.why or describe_exit(evidence.code)
    if record.state is State.STOPPING and evidence.why is None:
        return with_state(record, State.STOPPED, Reason.USER, now)
    if evidence.retry_in is not None:
        text = f"{how}; starts again in {evidence.retry_in:.0f} s"
        record = with_state(record, State.STARTING, Reason.BACKOFF, now, message=text)
        return replace(record, grace_until=now.mono + evidence.retry_in + policy.grace)
    if evidence.crash_loop:
        why = (evidence.why or keeps(evidence.code)).removesuffix(".")
        text = f"{why}. No more automatic restarts: press Start, or change its file"
        return with_state(record, State.DOWN, Reason.CRASH_LOOP, now, message=text)
    fine = evidence.code == 0 and evidence.why is None and not policy.always
    state = State.STOPPED if fine else State.DOWN
    return with_state(record, state, Reason.EXITED, now, message=how)


def _later(record: Record, now: Moment, policy: Policy) -> Record:
    """T4, and the end of the waiting time of T15."""
    if record.held is not None and now.mono >= record.held.deadline:
        known = LastKnown(record.state, now.wall)
        record = with_state(
            record, State.UNKNOWN, Reason.RESUMED, now, message="no result since sleep"
        )
        return replace(record, last_known=known)
    grace = record.grace_until
    if record.state is State.STARTING and grace is not None and now.mono >= grace:
        text = f"no answer within {policy.grace:g} s of the start"
        return with_state(record, State.DOWN, Reason.START_TIMEOUT, now, message=text)
    return record


def _on_wake(record: Record, now: Moment, policy: Policy) -> Record:
    """T15: keep the state, drop the results from around the suspend, and probe every app again."""
    if record.silenced or not policy.probed:
        return record
    record = replace(
        record,
        tally=Tally(),
        empty_scans=0,
        fresh=now.mono,
        seen_at=now.mono,
        ask=Ask(now.mono, WAKE_SPREAD_S),
    )
    if record.state in {State.UNKNOWN, State.STOPPING}:
        return record
    deadline = now.mono + WAKE_SPREAD_S + max(policy.interval, WAKE_PATIENCE_S)
    before = record.held or BeforeSleep(record.reason, record.message, deadline)
    return replace(
        record, held=before._replace(deadline=deadline), reason=Reason.RESUMED, message=""
    )


def _on_change(record: Record, now: Moment, policy: Policy) -> Record:
    """The app's settings changed: evidence about the old ones no longer counts."""
    if record.silenced:
        record = silence_over(record)
    managed = record.reason in {Reason.USER, Reason.EXITED, Reason.CRASH_LOOP}
    if not policy.probed and not managed:
        return with_state(record, State.UNKNOWN, Reason.NO_PROBE, now)
    if record.reason is Reason.NO_PROBE:
        record = replace(record, reason=Reason.NEW)
    if record.reason is Reason.NOT_RUNNING and policy.alarm:
        record = with_state(record, State.DOWN, Reason.NO_LISTENER, now, message="not running")
    return replace(
        record,
        tally=Tally(),
        port=Port.UNSEEN,
        empty_scans=0,
        fresh=now.mono,
        seen_at=now.mono,
        ask=Ask(now.mono) if policy.probed else None,
    )
