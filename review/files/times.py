"""Times as review files hold them: read in several forms, written in one."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

from django.utils import timezone as clock

FORM = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?"
    r"[ ]?([Zz]|[+-]\d\d:?\d\d)?)?"
)


def now() -> str:
    """The time now as RFC 3339 in UTC to the second, for everything that is only shown."""
    return _text(clock.now(), fraction=False)


def now_exact() -> str:
    """As `now`, with milliseconds, so that two writes within one second have an order (lineage)."""
    return of(clock.now())


def of(moment: datetime) -> str:
    """The moment in the same form, with milliseconds."""
    return _text(moment.astimezone(UTC), fraction=True)


@lru_cache(10_000)
def read(text: str) -> str | None:
    """Any RFC 3339 time or `YYYY-MM-DD HH:MM` (UTC) in our form; a fraction becomes milliseconds.

    None if it is not a time.
    """
    found = FORM.fullmatch(text.strip())
    if found is None:
        return None
    *numbers, fraction, zone = found.groups()
    year, month, day, hour, minute, second = (int(number or 0) for number in numbers)
    leap = second == 60
    try:
        moment = datetime(
            year, month, day, hour, minute, 59 if leap else second, tzinfo=_zone(zone)
        )
        moment += timedelta(seconds=leap, milliseconds=int((fraction or "0")[:3].ljust(3, "0")))
        return _text(moment.astimezone(UTC), fraction=fraction is not None)
    except (ValueError, OverflowError):
        return None


def exact(text: str | None) -> str:
    """A time from `read` with milliseconds, so that texts sort as moments do; "" for None."""
    if text is None or "." in text:
        return text or ""
    return text.removesuffix("Z") + ".000Z"


def seconds(text: str | None) -> str | None:
    """A time from `read` to the second, as answers show it."""
    if text is None or "." not in text:
        return text
    return text.partition(".")[0] + "Z"


def _zone(text: str | None) -> timezone:
    if text is None or text in "Zz":
        return UTC
    minutes = int(text[1:3]) * 60 + int(text[-2:])
    return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes))


def _text(moment: datetime, *, fraction: bool) -> str:
    kept = moment.isoformat(timespec="milliseconds" if fraction else "seconds")
    return kept.replace("+00:00", "Z")
