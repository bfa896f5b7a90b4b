"""When a change is sent: immediately, or held back while the app flaps.

An app flaps after six changes among up, degraded, down and stopped within 10 minutes, until a
window of 10 minutes has fewer than three. While it flaps, one event is sent each minute; the
newest state is always sent last.
"""

from __future__ import annotations

from dataclasses import replace

from dashboard.health.clock import Moment
from dashboard.health.evidence import Edge, Event, Notice
from dashboard.health.moves import goes_on
from dashboard.health.record import Record, State

WINDOW_S = 600.0
MANY, FEW = 6, 3
HOLD_S = 60.0
_COUNTED = frozenset({State.UP, State.DEGRADED, State.DOWN, State.STOPPED})


def announce(before: Record, after: Record, now: Moment) -> tuple[Record, tuple[Event, ...]]:
    """`after` with its flapping judged, and the events due: an Edge at once, a Notice in turn."""
    events: list[Event] = []
    if after.state is not before.state:
        kept = goes_on(before, after.state) is not None
        events.append(Edge(now.wall, before.state, after.state, after.reason, kept))
        after = _settle(after, now.mono)
    after = _judge(after, now.mono)
    if after.moves != before.moves:
        told = after.state is after.heard and after.state is not before.state
        after = replace(after, owed=not told)
    if after.owed and now.mono >= _free_at(after):
        events.append(Notice(after.state))
        after = replace(after, owed=False, heard=after.state, heard_at=now.mono)
    return after, tuple(events)


def forgiven(record: Record) -> Record:
    """The record after a user's action: nothing is held back, earlier changes do not count."""
    return replace(record, changes=(), settled=None, flapping=False)


def due(record: Record) -> float | None:
    """When the flapping ends or the held event may be sent, in monotonic seconds."""
    times = [_free_at(record)] if record.owed else []
    if record.flapping:
        times.append(_ends_at(record))
    return min(times, default=None)


def _settle(record: Record, now: float) -> Record:
    if record.state not in _COUNTED:
        return record
    if record.settled not in {None, record.state}:
        record = replace(record, changes=(*record.changes, now)[-MANY:])
    return replace(record, settled=record.state)


def _judge(record: Record, now: float) -> Record:
    if record.flapping:
        return replace(record, flapping=now < _ends_at(record))
    recent = [change for change in record.changes if change > now - WINDOW_S]
    return replace(record, flapping=True) if len(recent) >= MANY else record


def _ends_at(record: Record) -> float:
    """When the window of 10 minutes will have fewer than three changes."""
    return record.changes[-FEW] + WINDOW_S


def _free_at(record: Record) -> float:
    return record.heard_at + HOLD_S if record.flapping else float("-inf")
