"""One JSON line per log record: time, level, msg and the record's own fields."""

from __future__ import annotations

import logging
from datetime import UTC, datetime

import orjson

_STANDARD = frozenset(logging.LogRecord("", 0, "", 0, "", (), None).__dict__) | {
    "message",
    "asctime",
    "taskName",
}


class JsonFormatter(logging.Formatter):
    """Fields given as `extra=` are put beside time, level and msg; a traceback is one field."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": timestamp(datetime.fromtimestamp(record.created, UTC)),
            "level": {"WARNING": "warn", "CRITICAL": "fatal"}.get(
                record.levelname, record.levelname.lower()
            ),
            "msg": record.getMessage(),
        }
        line |= {key: value for key, value in record.__dict__.items() if key not in _STANDARD}
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return orjson.dumps(line, default=str).decode()


class Failures(logging.Filter):
    """Passes only records with an exception: a deliberate 502 or 503 has none."""

    def filter(self, record: logging.LogRecord) -> bool:
        return bool(record.exc_info)


def timestamp(moment: datetime) -> str:
    """UTC with milliseconds, as every time the service writes: 2026-01-31T09:00:00.000Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
