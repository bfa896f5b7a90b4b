"""A mistake in a file, as the API reports it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TypedDict

from config.logs import timestamp
from dashboard.files import entries
from dashboard.files.fields import Level


class FileError(TypedDict):
    file: str
    level: Level
    line: int | None
    column: int | None
    message: str
    since: str
    kept: bool


def file_error(one: entries.FileError) -> FileError:
    return {
        "file": one.file,
        "level": one.level,
        "line": one.line,
        "column": one.column,
        "message": one.message,
        "since": timestamp(one.since or datetime.now(UTC)),
        "kept": one.kept,
    }
