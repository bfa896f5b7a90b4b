"""The setting `engines.retry`: how often and how long a turn waits for its model's provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

KEYS = ("times", "seconds")
MOST_TIMES, MOST_SECONDS = 100, 7 * 86_400


class BadRetry(ValueError):
    """A value that is not allowed for the setting; the text is the reason."""


@dataclass(frozen=True, slots=True)
class RetrySetting:
    """At most `times` further tries, the last at most `seconds` after the first refusal."""

    times: int = 5
    seconds: int = 1800


def read(value: Any) -> RetrySetting:
    """The setting from the value in a file. Raises BadRetry."""
    if not isinstance(value, Mapping):
        raise BadRetry(f"must be a mapping of {' and '.join(KEYS)}, e.g. {{times: 5, seconds: 60}}")
    for key in value:
        if key not in KEYS:
            raise BadRetry(f'"{str(key)[:60]}" is not one of its keys: {", ".join(KEYS)}')
    standard = RetrySetting()
    return RetrySetting(
        times=_whole("times", value.get("times", standard.times), 0, MOST_TIMES),
        seconds=_whole("seconds", value.get("seconds", standard.seconds), 1, MOST_SECONDS),
    )


def _whole(key: str, value: Any, least: int, most: int) -> int:
    if type(value) is int and least <= value <= most:
        return value
    raise BadRetry(f"{key} must be a whole number from {least} to {most}")
