"""Every refusal the service makes on purpose, and the one JSON body that carries it.

SvcError
├── Invalid            400 invalid            (holds every problem found, field by field)
├── Denied             403 (word of the rule)
├── NotFound           404 not_found
├── MethodNotAllowed   405 method_not_allowed
├── Conflict           409 conflict, exists, bad_project_file, legacy, queue_full, …
├── Stale              412 stale
├── TooLarge           413 too_large
├── UnsupportedMedia   415 unsupported_media_type
├── Upstream           502 trigger_failed, …
└── Unavailable        503 unavailable

An error is raised once, where the reason is known, with a sentence that names the fix; it is
caught once, at the edge. Any other exception is a defect: 500, fixed text, logged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import InterfaceError, OperationalError
from django.http import Http404
from rest_framework import exceptions as drf

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class SvcError(Exception):
    """A refusal with its HTTP status, its code word and its sentence."""

    status = 500
    code = "internal"

    def __init__(
        self, text: str, *, code: str | None = None, extra: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(text)
        self.text = text
        self.code = code or type(self).code
        self.extra = dict(extra or {})

    @property
    def tool_text(self) -> str:
        """The sentence for the result of a tool; a subclass may word it differently there."""
        return self.text

    def body(self) -> dict[str, Any]:
        return {"error": self.text, "code": self.code, **self.extra}


def printable(text: str, most: int = 100, *, instead: str = "") -> str:
    """A caller's text, fit to be repeated in a sentence: cut to `most` characters, on one line."""
    return "".join(char if char.isprintable() else instead for char in text[:most])


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake in one field. `str()` is the sentence a person reads."""

    field: str
    reason: str
    example: str | None = None

    def __str__(self) -> str:
        return f"{self.field}: {self.reason}" + (f", e.g. {self.example}" if self.example else "")


class Invalid(SvcError):
    """The request cannot be done as written; nothing was changed."""

    status = 400
    code = "invalid"

    def __init__(self, problems: str | Iterable[Problem], *, code: str | None = None) -> None:
        self.problems = [] if isinstance(problems, str) else list(problems)
        if isinstance(problems, str):
            super().__init__(problems, code=code)
            return
        more = len(self.problems) - 1
        first = str(self.problems[0])
        super().__init__(f"{first} (and {more} more)" if more else first, code=code)
        self.extra["errors"] = [
            {"field": p.field, "reason": p.reason, "example": p.example} for p in self.problems
        ]


class Denied(SvcError):
    status = 403
    code = "denied"


class NotFound(SvcError):
    status = 404
    code = "not_found"


class MethodNotAllowed(SvcError):
    status = 405
    code = "method_not_allowed"


class Conflict(SvcError):
    status = 409
    code = "conflict"


class Stale(SvcError):
    status = 412
    code = "stale"


class TooLarge(SvcError):
    status = 413
    code = "too_large"


class UnsupportedMedia(SvcError):
    status = 415
    code = "unsupported_media_type"


class Upstream(SvcError):
    status = 502
    code = "trigger_failed"


class Unavailable(SvcError):
    """The request cannot be served at the moment; Retry-After says when to try again."""

    status = 503
    code = "unavailable"


class DatabaseGone(OperationalError):
    """The database file was removed, or another file is in its place."""


FULL = ("disk is full", "No space left on device")  # as SQLite and PostgreSQL say it


def translate(error: Exception) -> SvcError:
    """Any exception as a SvcError that discloses no more than a caller may know."""
    match error:
        case SvcError():
            return error
        case drf.ParseError():
            return Invalid(f"body: {error.detail}")
        case drf.UnsupportedMediaType():
            return UnsupportedMedia("Content-Type must be application/json")
        case drf.MethodNotAllowed():
            return MethodNotAllowed("method not allowed")
        case drf.NotFound() | Http404():
            return NotFound("not found")
        case drf.ValidationError():
            return Invalid(list(_problems("", error.detail)))
        case DatabaseGone():
            return Unavailable(
                "The database was removed while the service ran; nothing was stored. Put the file "
                "back, or stop and start the service, which makes a new one from the files"
            )
        case OperationalError() if any(text in str(error) for text in FULL):
            return Unavailable(
                "The disk of the database is full, so nothing was stored; make room, then try again"
            )
        case OperationalError() | InterfaceError():
            return Unavailable("The database cannot be used at the moment; try again soon")
        case _:
            return SvcError("internal error")


def _problems(field: str, detail: Any) -> Iterable[Problem]:
    if isinstance(detail, dict):
        for name, inner in detail.items():
            yield from _problems(f"{field}.{name}" if field else str(name), inner)
    elif isinstance(detail, list):
        for inner in detail:
            yield from _problems(field, inner)
    else:
        yield Problem(field or "body", str(detail))
