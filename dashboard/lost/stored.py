"""The two state files of this room: whole or not at all, and never a reason not to start."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import orjson

from config.kernel.storage import files
from dashboard.files import errors

log = logging.getLogger(__name__)

T = TypeVar("T")
VERSION = 1


def load(path: Path, read: Callable[[dict[str, Any]], T]) -> T | None:
    """What the file holds, None when there is none; one that is not ours is put aside. Blocks."""
    try:
        found = files.read(path)
        if found is None:
            return None
        value = orjson.loads(found.data)
        if value["version"] != VERSION:
            raise ValueError(f"its version is {value['version']!r}")
        return read(value)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        _put_aside(path, error)
        return None


def save(path: Path, value: dict[str, Any]) -> None:
    """`read_only` when the disk refuses; the file is then as it was. Blocks."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    with _told():
        files.write(path, orjson.dumps({"version": VERSION, **value}, option=options))


def remove(path: Path) -> None:
    """`read_only` when the disk refuses. Blocks."""
    with _told():
        files.change(path, lambda _now: None)


@contextlib.contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except files.CannotWrite as error:
        raise errors.read_only(getattr(error.__cause__, "strerror", None) or str(error)) from error


def _put_aside(path: Path, error: Exception) -> None:
    """It may be of a newer version of this service, so it is kept."""
    aside = path.with_name(f"{path.name}.unreadable-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
    log.warning("put aside", extra={"file": str(path), "why": str(error), "aside": aside.name})
    try:
        path.rename(aside)
    except OSError as refused:
        log.warning("cannot be put aside", extra={"file": str(path), "why": str(refused)})
