"""Times and latencies as answers show them."""

from __future__ import annotations

from datetime import UTC, datetime

from config.logs import timestamp


def moment(ts: int) -> str:
    """Unix ms as RFC 3339."""
    return timestamp(datetime.fromtimestamp(ts / 1000, UTC))


def milliseconds(us: float | None) -> float | None:
    return None if us is None else round(us / 1000, 3)
