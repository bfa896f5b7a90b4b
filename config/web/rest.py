"""Helpers of REST views: strict JSON in, compact JSON out, a page for people who browse the API.

A body is a JSON object or empty. An unknown key is never stored and never an error: it becomes a
warning. An error is always JSON, whatever the caller accepts.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from rest_framework import serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from config import jsonio


class ViewSet(viewsets.ViewSet):
    """Base of every viewset: JSON first, no OPTIONS."""

    http_method_names = ["get", "head", "post", "put", "patch", "delete"]  # noqa: RUF012


@dataclass(frozen=True, slots=True)
class Body:
    """What a caller sent: the values of known keys, and a warning for each unknown key."""

    values: dict[str, Any]
    warnings: list[str]


def body(request: Request) -> dict[str, Any]:
    """The object that was sent, {} for an empty body (wire.JSONParser admits nothing else)."""
    return cast("dict[str, Any]", request.data)


def read(
    request: Request, shape: type[serializers.Serializer[Any]], *, ignored: Collection[str] = ()
) -> Body:
    """The request's body in this shape. `ignored` keys cause no warning: the API's answers have
    them, and clients send them back.

    Only keys that were sent are in `values`, except those the shape gives a default.
    """
    sent = body(request)
    serializer = shape(data=sent)
    serializer.is_valid(raise_exception=True)
    known = set(serializer.fields)
    return Body(
        dict(serializer.validated_data),
        [_unknown(key, known) for key in sent if key not in known and key not in ignored],
    )


def query(request: Request, shape: type[serializers.Serializer[Any]]) -> dict[str, Any]:
    """The query string in this shape; unknown parameters are ignored, the last value wins."""
    serializer = shape(data=request.query_params.dict())
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def _unknown(key: str, known: set[str]) -> str:
    close = difflib.get_close_matches(key, sorted(known), n=1)
    hint = f' (did you mean "{close[0]}"?)' if close else ""
    return f'unknown key "{jsonio.clean(key[:100])}" ignored{hint}'


def with_etag(body: Mapping[str, Any], etag: str) -> Response:
    """An answer with its file's etag. It also holds live state, so it is never a 304."""
    return Response(body, headers={"ETag": f'"{etag}"'} if etag else {})


def if_match(request: Request) -> str | None:
    """The etag in If-Match that a write requires, or `*`; None without If-Match."""
    sent = request.headers.get("If-Match", "").strip()
    return sent.strip('"') or None


def fresh(request: Request) -> bool:
    """Whether a write may only create, never replace: `If-None-Match: *`."""
    return request.headers.get("If-None-Match", "").strip() == "*"


def key(request: Request) -> str:
    """The Idempotency-Key, by which a repeated request is recognised; "" if there is none."""
    return request.headers.get("Idempotency-Key", "").strip().strip('"')


def matches_etag(request: Request, etag: str) -> bool:
    """Whether If-None-Match names this etag, by weak comparison."""
    sent = request.headers.get("If-None-Match", "")
    listed = [one.strip().removeprefix("W/") for one in sent.split(",")]
    return "*" in listed or etag.removeprefix("W/") in listed


def mount(request: Request) -> str:
    """The prefix of every address of the part: its mount on the main port, else ""."""
    prefix: str = request.META.get("SCRIPT_NAME", "")
    return prefix


def with_warnings(body: Mapping[str, Any], warnings: list[str]) -> Mapping[str, Any]:
    """The answer, with `warnings` only when there are any."""
    return {**body, "warnings": warnings} if warnings else body


class Text(serializers.CharField):
    """A JSON string; numbers and booleans are refused. No NUL; lone surrogates are replaced.

    `line`: it must be one line, and is trimmed. `allow_blank` permits "".
    """

    default_error_messages: ClassVar[dict[str, Any]] = {
        "required": "is required",
        "null": "must not be null",
        "blank": "must not be blank",
        "max_length": "must be at most {max_length} characters",
    }

    def __init__(self, *, max_length: int = 200, line: bool = True, **kw: Any) -> None:
        super().__init__(max_length=max_length, trim_whitespace=line, **kw)
        self.line = line

    def run_validation(self, data: Any = serializers.empty) -> Any:
        return super().run_validation(jsonio.clean(data) if isinstance(data, str) else data)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            raise serializers.ValidationError("must be a string")
        text = data.strip() if self.line else data
        if self.line and len(text.splitlines()) > 1:
            raise serializers.ValidationError("must be one line")
        return text
