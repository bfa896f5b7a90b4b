"""Durations and sizes as people write them: `500ms`, `30s`, `5m`, `6h`, `7d`; `10MiB`."""

from __future__ import annotations

import math
import re
from typing import Any

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
SIZES = {"": 1, "B": 1, "kB": 10**3, "KB": 10**3, "MB": 10**6, "GB": 10**9,
         "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}  # fmt: skip
DURATION = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?) ?(ms|s|m|h|d)?")
SIZE = re.compile(r"([0-9]{1,15}) ?([kKMG]i?B|B)?")


class Unfit(ValueError):
    """A value that the field cannot have; the text says what it must be."""


def read(value: Any) -> float:
    """The duration in seconds. Unfit if it is not a duration; a bare number is in seconds."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        if math.isfinite(value) and value >= 0:
            return float(value)
    elif isinstance(value, str) and (match := DURATION.fullmatch(value.strip())):
        return float(match[1]) * UNITS[match[2] or "s"]
    raise Unfit("must be a duration such as 500ms, 30s, 5m, 6h or 7d")


def read_size(value: Any) -> int:
    """The size in bytes. Unfit if it is not a size."""
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    match = SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None or (match[2] or "") not in SIZES:
        raise Unfit("must be a size such as 10MiB or 512KiB")
    return int(match[1]) * SIZES[match[2] or ""]
