"""How a record moves from one state to the next: the only module that writes `state`."""

from __future__ import annotations

from dataclasses import replace

from dashboard.health.clock import Moment
from dashboard.health.judgement import since_move
from dashboard.health.record import LastKnown, Policy, Reason, Record, State

# Reasons that a failing probe does not replace: they say more than "it does not answer".
KNOWN_BETTER = frozenset({Reason.USER, Reason.EXITED, Reason.CRASH_LOOP})


def with_state(
    record: Record, state: State, reason: Reason, now: Moment, *, message: str = ""
) -> Record:
    """`record` in `state`. The same state and reason is not a move: only the message changes."""
    if record.state is state and record.reason is reason:
        return replace(record, message=message)
    since = record.since if state is record.state else now.wall
    if (known := goes_on(record, state)) is not None:
        since = known.at
        unscanned = (reason, known.reason) == (Reason.REFUSED, Reason.NO_LISTENER)
        better = known.reason is not reason and known.reason in KNOWN_BETTER
        if known.reason is not None and (better or unscanned):
            reason, message = known.reason, ""
    return replace(
        record,
        state=state,
        reason=reason,
        message=message,
        since=since,
        fresh=now.mono,
        seen_at=now.mono,
        moves=record.moves + 1,
        tries=0,
        tally=since_move(record.tally),
        last_known=None if state is not State.UNKNOWN else record.last_known,
        undecided=False,
        held=None,
    )


def goes_on(record: Record, state: State) -> LastKnown | None:
    """The state of the daemon's previous run, if it is the first state found in this run."""
    known = record.last_known
    if record.state is not State.UNKNOWN or known is None or known.reason is None:
        return None
    return known if known.state is state else None


def down_or_stopped(
    record: Record, reason: Reason, now: Moment, policy: Policy, *, there: bool, message: str
) -> Record:
    """The state of an app that does not answer (T2, T6): down if it should answer, or if something
    is there but silent; otherwise stopped, as it is merely not running."""
    if policy.alarm or there:
        return with_state(record, State.DOWN, reason, now, message=message)
    return with_state(record, State.STOPPED, Reason.NOT_RUNNING, now, message=message)


def restore_held(record: Record) -> Record:
    """The reason and message from before a sleep again, as there is evidence again (T15)."""
    if record.held is None:
        return record
    return replace(record, reason=record.held.reason, message=record.held.message, held=None)


def silence_over(record: Record) -> Record:
    return replace(record, reason=Reason.NEW, message="")
