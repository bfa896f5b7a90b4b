"""The refusals of the file routes: their code words and sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from config.errors import Conflict, Invalid, NotFound, TooLarge, Unavailable
from dashboard.files.fields import Issue

SHOWN = 120  # characters of what was sent that an answer repeats


class BadValues(Invalid):
    """400 `invalid`: every value that is not valid, as `issues [{path, message}]`."""

    def __init__(self, issues: Sequence[Issue], **extra: Any) -> None:
        first = f"{issues[0].where}: {issues[0].message}"
        count = f"{len(issues)} values are not valid; first"
        super().__init__(f"{count if len(issues) > 1 else '1 value is not valid'}: {first}.")
        self.issues = tuple(issues)
        told = [{"path": one.where, "message": one.message} for one in issues]
        self.extra = {"issues": told, **extra}


def bad_slug(name: str) -> Invalid:
    return Invalid(
        f'"{name[:SHOWN]}" is not a valid name: use 1 to 63 of a-z, 0-9 and -, '
        "with a letter or digit at both ends.",
        code="bad_slug",
    )


def bad_etag(sent: str) -> Invalid:
    return Invalid(
        f"If-Match {sent[:SHOWN]} is not an entity tag; "
        "send the ETag as received, with its quotes, or *.",
        code="bad_etag",
    )


def not_found(kind: str, name: str) -> NotFound:
    return NotFound(f'No {"app" if kind == "apps" else "group"} "{name}".')


def changed(file: str, etag: str | None) -> Conflict:
    return Conflict(
        f"{file} has changed since you read it. Read it again and repeat the change.",
        code="changed",
        extra={"etag": etag},
    )


def exists(file: str, etag: str | None) -> Conflict:
    return Conflict(f"{file} exists already.", code="exists", extra={"etag": etag})


def invalid_file(file: str, line: int | None, column: int | None, message: str) -> Conflict:
    return Conflict(
        f"{file} is not valid (line {line or 1}: {message}). Nothing was written; "
        "fix it by hand or in the editor.",
        code="invalid_file",
        extra={"file": file, "line": line, "column": column},
    )


def unreadable(file: str, reason: str) -> Conflict:
    return invalid_file(file, None, None, f"the file cannot be read: {reason}")


def not_editable(file: str, line: int, column: int, message: str) -> Conflict:
    """The file is valid, but the change cannot be made without altering other parts of it."""
    return Conflict(
        f"{file} cannot be changed from here (line {line}: {message}). Nothing was written; "
        "change it by hand or in the editor.",
        code="invalid_file",
        extra={"file": file, "line": line, "column": column},
    )


def no_file(file: str) -> Conflict:
    """The name of the file is taken by a folder, a pipe or something else that is not a file."""
    return Conflict(
        f"{file} is not a regular file. Nothing was changed; move it away by hand.",
        code="invalid_file",
        extra={"file": file, "line": None, "column": None},
    )


def too_large() -> TooLarge:
    return TooLarge("The file would be larger than 256 KiB. Nothing was written.")


def read_only(detail: str) -> Unavailable:
    return Unavailable(
        f"The disk refused the write: {detail}. Nothing was changed.", code="read_only"
    )
