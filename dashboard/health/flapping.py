"""When a change is sent: at once, or held back while the app flaps.

Six changes among up, degraded, down and stopped within 10 minutes make an app flap, until 10
minutes have fewer than three. Meanwhile one event a minute; the newest state always comes last.
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
    """`after` with its flapping judged, and the events due: an edge at once, a notice in turn."""
    events: list[Event] = []
    if after.state is not before.state:
        kept = goes_on(before, after.state) is not None
        events.append(Edge(now.wall, before.state, after.state, after.reason, kept))
        after = _noted(after, now.mono)
    after = _judged(after, now.mono)
    if after.moves != before.moves:
        told = after.state is after.heard and after.state is not before.state
        after = replace(after, owed=not told)
    if after.owed and now.mono >= _free_at(after):
        events.append(Notice(after.state))
        after = replace(after, owed=False, heard=after.state, heard_at=now.mono)
    return after, tuple(events)


def forgiven(record: Record) -> Record:
    """After a user's action nothing is held back, and what went before does not count."""
    return replace(record, changes=(), settled=None, flapping=False)


def due(record: Record) -> float | None:
    """When the flapping ends or the held event may go, in monotonic seconds."""
    times = [_free_at(record)] if record.owed else []
    if record.flapping:
        times.append(_ends_at(record))
    return min(times, default=None)


def _noted(record: Record, now: float) -> Record:
    if record.state not in _COUNTED:
        return record
    if record.settled not in {None, record.state}:
        record = replace(record, changes=(*record.changes, now)[-MANY:])
    return replace(record, settled=record.state)


def _judged(record: Record, now: float) -> Record:
    if record.flapping:
        return replace(record, flapping=now < _ends_at(record))
    recent = [change for change in record.changes if change > now - WINDOW_S]
    return replace(record, flapping=True) if len(recent) >= MANY else record


def _ends_at(record: Record) -> float:
    """When the window of 10 minutes holds fewer than three changes."""
    return record.changes[-FEW] + WINDOW_S


def _free_at(record: Record) -> float:
    return record.heard_at + HOLD_S if record.flapping else float("-inf")
