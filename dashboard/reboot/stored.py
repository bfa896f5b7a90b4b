"""The two state files of this package: written whole or not at all, and never a reason not to
start."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, TypeVar

import orjson

from config.storage import files
from dashboard.files import errors, layout

log = logging.getLogger(__name__)

T = TypeVar("T")
VERSION = 1


def load(name: str, read: Callable[[dict[str, Any]], T]) -> T | None:
    """What the file holds, None if there is none; an unreadable file is put aside. Blocks."""
    try:
        found = files.read(layout.state_dir() / name)
        if found is None:
            return None
        value = orjson.loads(found.data)
        if value["version"] != VERSION:
            raise ValueError(f"its version is {value['version']!r}")
        return read(value)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        _put_aside(name, error)
        return None


def save(name: str, value: dict[str, Any]) -> None:
    """Write the file. `read_only` if the disk refuses, and the file is unchanged. Blocks."""
    options = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE
    data = orjson.dumps({"version": VERSION, **value}, option=options)
    with _logging_failures(name):
        files.write(layout.state_dir() / name, data)


def remove(name: str) -> None:
    """Delete the file. `read_only` if the disk refuses. Blocks."""
    with _logging_failures(name):
        files.change(layout.state_dir() / name, lambda _now: None)


@contextlib.contextmanager
def _logging_failures(name: str) -> Iterator[None]:
    try:
        with files.writing(name):
            yield
    except files.CannotWrite as error:
        raise errors.read_only(getattr(error.__cause__, "strerror", None) or str(error)) from error


def _put_aside(name: str, error: Exception) -> None:
    """Rename the file and keep it, as it may be that of a newer version of this service."""
    aside = f"{name}.unreadable-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}"
    log.warning("put aside", extra={"file": name, "why": str(error), "aside": aside})
    try:
        folder = layout.state_dir()
        (folder / name).rename(folder / aside)
    except OSError as refused:
        log.warning("cannot be put aside", extra={"file": name, "why": str(refused)})
