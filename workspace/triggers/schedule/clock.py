"""When a schedule fires: grid, next times, and what became of times that passed.

Pure functions of the WHEN, the moment of arming and the time; and the scheduler's only clock, which
tests replace. See docs/design/workspace.md#catch-up-after-sleep.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from config import zones
from workspace.triggers.schedule import cron, interval

CATCH_UP_WITHIN = timedelta(hours=24)
ON_TIME = timedelta(seconds=1)  # a claim this soon after its nominal time counts as on time
COUNTED = 10_000  # missed times are counted up to this number


class Clock:
    """The time of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)


def with_zone(when: str, zone: str) -> str:
    """The WHEN as it is stored: a cron with its zone, unless that is UTC; an interval has none."""
    return f"{when} {zone}" if when.startswith("cron ") and zone != zones.UTC else when


def zone_of(when: str) -> str:
    """The zone of an armed WHEN."""
    return _split(when)[1]


def _split(when: str) -> tuple[str, str]:
    """Pattern and zone of an armed cron."""
    words = when.split()[1:]
    length = 1 if words[0].startswith("@") else 5
    return " ".join(words[:length]), " ".join(words[length:]) or zones.UTC


def next_time(when: str, *, armed_at: datetime, after: datetime) -> datetime:
    """The first nominal time strictly after `after`."""
    if when.startswith("cron "):
        pattern, zone = _split(when)
        return cron.parse(pattern).after(after, zones.find(zone))
    length = interval.parse(when.partition(" ")[2])
    steps = max(0, (after - armed_at) // length) + 1
    return armed_at + steps * length


def upcoming(when: str, *, armed_at: datetime, next_at: datetime, count: int = 3) -> list[datetime]:
    """The next nominal times of an armed schedule, `next_at` first."""
    times = [next_at]
    while len(times) < count:
        times.append(next_time(when, armed_at=armed_at, after=times[-1]))
    return times


@dataclass(frozen=True, slots=True)
class Passed:
    """Nominal times from the armed one up to now: how many, the latest, and the one to come."""

    count: int
    latest: datetime
    next: datetime


def passed_times(when: str, *, armed_at: datetime, next_at: datetime, now: datetime) -> Passed:
    """Requires `next_at <= now`. Counting stops at COUNTED, but the latest time is still found."""
    if when.startswith("interval "):
        length = interval.parse(when.partition(" ")[2])
        more = (now - next_at) // length
        latest = next_at + more * length
        return Passed(more + 1, latest, latest + length)
    count, latest = 1, next_at
    following = next_time(when, armed_at=armed_at, after=latest)
    while following <= now:
        if count == COUNTED:  # counted no further; only the last day can still fire
            latest = max(latest, now - CATCH_UP_WITHIN)
        else:
            count, latest = count + 1, following
        following = next_time(when, armed_at=armed_at, after=latest)
    return Passed(count, latest, following)


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a claimed nominal time. `skipped` is the reason, or ""."""

    cause: str
    scheduled_for: datetime
    missed: int | None
    skipped: str = ""


def decide(
    found: Passed, *, when: str, catch_up: str, now: datetime, serving_since: datetime
) -> Decision:
    """Fire, catch up, or skip what was missed while no scheduler was running."""
    dropped = found.count - 1
    on_time = now - found.latest < ON_TIME and not (dropped and catch_up == "once")
    if found.latest >= serving_since or on_time:
        return Decision(when.partition(" ")[0], found.latest, dropped or None)
    if catch_up == "once" and now - found.latest < CATCH_UP_WITHIN:
        return Decision("catch-up", found.latest, dropped)
    number = f"{found.count}" if found.count < COUNTED else f"{COUNTED} or more"
    reason = f"missed while the server was down ({number})"
    return Decision("catch-up", found.latest, found.count, reason)
