"""Five-field cron in a time zone: its grammar, and the instants it names.

croniter finds wall-clock minutes; this module places them in the zone, so that a time which does
not exist runs after the gap and one which exists twice runs once. See
docs/design/workspace.md#cron-and-daylight-saving.
"""

from __future__ import annotations

import copy
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any

from croniter import croniter

EXAMPLE = '"0 9 * * 1-5"'
LONGEST = 150
SHORTHANDS = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
_LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_ZONE = re.compile(r"\s*(?:CRON_)?TZ=(\S*)", re.IGNORECASE)  # how other crons name a zone
_SECOND = timedelta(seconds=1)
_LEAP = timedelta(days=7)  # shorter than the time between two offset changes in any zone


class BadCron(ValueError):
    """The text is not a cron pattern; the message says why."""


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    least: int
    most: int
    names: tuple[str, ...] = ()


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of month", 1, 31),
    _Field("month", 1, 12, ("", *_MONTHS)),
    _Field("day of week", 0, 7, tuple(_DAYS)),
)


@dataclass(frozen=True, slots=True)
class Cron:
    """A valid pattern. `text` is as written, shorthand included.

    `warnings`: what the pattern means, where that is seldom what its author meant."""

    text: str
    pattern: str
    warnings: tuple[str, ...] = ()

    def after(self, moment: datetime, zone: tzinfo) -> datetime:
        """The first instant strictly after `moment`, in UTC."""
        hour = self.pattern.split()[1]
        follow = _after_real if "*" in hour or "/" in hour else _after_fixed
        return follow(_matcher(self.pattern), moment.astimezone(UTC), zone)


@functools.lru_cache(4096)
def parse(text: str) -> Cron:
    """Read a pattern or a shorthand. Raises BadCron, which names the field and the reason."""
    shown = text[:100]
    if len(text) > LONGEST:
        raise BadCron(f'"{shown}…" is longer than {LONGEST} characters')
    if zone := _ZONE.match(text):
        raise BadCron(f'"{shown}" names a zone: leave it out and give timezone: {zone[1][:64]}')
    fields = SHORTHANDS.get(text.strip().lower(), text).split()
    if text.lstrip().startswith("@") and len(fields) != 5:
        raise BadCron(f'"{shown}" is not one of {", ".join(SHORTHANDS)}')
    if len(fields) != 5:
        count = f"{len(fields)} field{'' if len(fields) == 1 else 's'}"
        raise BadCron(f'"{shown}" has {count}, 5 are needed')
    values = []
    for number, (word, field) in enumerate(zip(fields, _FIELDS, strict=True), 1):
        try:
            values.append(_values(word, field))
        except BadCron as error:
            reason = f'"{shown}" field {number} ({field.name}): {error}'
            raise BadCron(reason) from None
    _refuse_never(shown, fields, values)
    return Cron(text.strip(), " ".join(fields).lower(), (*_warnings(fields, values),))


def _warnings(words: list[str], values: list[set[int]]) -> Iterator[str]:
    """Warnings about a pattern that looks as if it did something else."""
    for word, field, found in zip(words, _FIELDS, values, strict=True):
        if "/" in word and len(found) == 1:
            yield f'"{word}" ({field.name}) is {min(found)} alone: no further step fits in'
    if "*" not in (words[2], words[4]):
        days = f'"{words[2]}" (day of month) or "{words[4]}" (day of week)'
        yield f"fires on every day that fits {days}, not only where both do"


def _values(word: str, field: _Field) -> set[int]:
    found: set[int] = set()
    for part in word.split(","):
        span, slash, step = part.partition("/")
        if span == "*":
            first, last = field.least, field.most
        else:
            start, dash, end = span.partition("-")
            first = _value(start, field)
            last = _value(end, field) if dash else (field.most if slash else first)
        if first > last:
            raise BadCron(f"{span} runs backwards")
        if slash and (not _digits(step) or int(step) == 0):
            raise BadCron(f"/{step} is not a step of 1 or more")
        found.update(range(first, last + 1, int(step) if slash else 1))
    return found


def _value(word: str, field: _Field) -> int:
    if word and word.lower() in field.names:
        return field.names.index(word.lower())
    if not _digits(word):
        raise BadCron(f'"{word}" is not a number, range, list or step')
    number = int(word)
    if not field.least <= number <= field.most:
        raise BadCron(f"{number} is not within {field.least}-{field.most}")
    return number


def _digits(word: str) -> bool:
    return word.isascii() and word.isdigit() and len(word) <= 4


def _refuse_never(shown: str, fields: list[str], values: list[set[int]]) -> None:
    """Refuse a pattern that never occurs: it names only days that none of its months has."""
    reachable = any(min(values[2]) <= _LONGEST[month - 1] for month in values[3])
    if fields[4] == "*" and not reachable:
        raise BadCron(f'"{shown}" never occurs')


@functools.lru_cache(4096)
def _matcher(pattern: str) -> Any:
    return croniter(pattern, datetime(2000, 1, 1), max_years_between_matches=12)  # noqa: DTZ001


def _next_wall(matcher: Any, wall: datetime) -> datetime:
    """The first matching wall-clock minute strictly after `wall`; both naive."""
    fresh = copy.copy(matcher)  # croniter keeps its position in itself, so the template is copied
    found: datetime = fresh.get_next(datetime, start_time=wall)
    return found


def _offset(moment: datetime, zone: tzinfo) -> timedelta:
    return moment.astimezone(zone).utcoffset() or timedelta()


def _after_fixed(matcher: Any, moment: datetime, zone: tzinfo) -> datetime:
    """The next instant for fixed hours: each wall-clock time runs once."""
    wall = moment.astimezone(zone).replace(tzinfo=None)
    while True:
        wall = _next_wall(matcher, wall)
        instant = _place(wall, zone)
        if instant > moment:
            return instant


def _place(wall: datetime, zone: tzinfo) -> datetime:
    """The first instant with this wall-clock time, or the end of the gap if it does not exist."""
    instant = wall.replace(tzinfo=zone, fold=0).astimezone(UTC)
    if instant.astimezone(zone).replace(tzinfo=None, fold=0) == wall:
        return instant
    change = _change(instant - timedelta(days=1), instant + timedelta(days=1), zone)
    return change or instant


def _after_real(matcher: Any, moment: datetime, zone: tzinfo) -> datetime:
    """The next instant for wildcard and step hours: every real minute counts, so stretches of equal
    offset are searched one at a time."""
    since, wall = moment, moment.astimezone(zone).replace(tzinfo=None)
    while True:
        wall = _next_wall(matcher, wall)
        instant = wall.replace(tzinfo=UTC) - _offset(since, zone)
        change = _change(since, instant, zone)
        if change is None:
            return instant
        since, wall = change, change.astimezone(zone).replace(tzinfo=None) - _SECOND


def _change(low: datetime, high: datetime, zone: tzinfo) -> datetime | None:
    """The first instant in (low, high] at which the offset differs from the one at `low`."""
    before = _offset(low, zone)
    while low < high:
        step = min(low + _LEAP, high)
        if _offset(step, zone) != before:
            return _bisect(int(low.timestamp()), int(step.timestamp()), before, zone)
        low = step
    return None


def _bisect(low: int, high: int, before: timedelta, zone: tzinfo) -> datetime:
    """The second at which the offset changes: it is `before` at `low` and differs at `high`."""
    while high - low > 1:
        middle = (low + high) // 2
        if _offset(datetime.fromtimestamp(middle, UTC), zone) == before:
            low = middle
        else:
            high = middle
    return datetime.fromtimestamp(high, UTC)
