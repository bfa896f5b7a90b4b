"""REST at the edge: strict JSON in, compact JSON out, one page for people who browse the API.

A body is a JSON object or nothing; an unknown key is a warning, never stored and never an error;
an error is always JSON, whatever the caller accepts.
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
    """What a caller sent: the known keys as values, the others as warnings."""

    values: dict[str, Any]
    warnings: list[str]


def body(request: Request) -> dict[str, Any]:
    """The object that was sent, {} for nothing (wire.JSONParser lets nothing else through)."""
    return cast("dict[str, Any]", request.data)


def read(
    request: Request, shape: type[serializers.Serializer[Any]], *, ignored: Collection[str] = ()
) -> Body:
    """The request's body in this shape. `ignored` keys are a DTO's own, sent back: no warning.

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
    """The query string in this shape; unknown parameters are ignored, the last of two wins."""
    serializer = shape(data=request.query_params.dict())
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def _unknown(key: str, known: set[str]) -> str:
    close = difflib.get_close_matches(key, sorted(known), n=1)
    hint = f' (did you mean "{close[0]}"?)' if close else ""
    return f'unknown key "{jsonio.clean(key[:100])}" ignored{hint}'


def tagged(body: Mapping[str, Any], etag: str) -> Response:
    """An answer with the tag of the file behind it. Live state stands beside it: never 304."""
    return Response(body, headers={"ETag": f'"{etag}"'} if etag else {})


def if_match(request: Request) -> str | None:
    """The tag a write is bound to, `*` included; None when there is no If-Match."""
    sent = request.headers.get("If-Match", "").strip()
    return sent.strip('"') or None


def fresh(request: Request) -> bool:
    """Whether a write is meant for what is not there yet: `If-None-Match: *`."""
    return request.headers.get("If-None-Match", "").strip() == "*"


def key(request: Request) -> str:
    """What tells a request that is sent again from another one; "" when it has none."""
    return request.headers.get("Idempotency-Key", "").strip().strip('"')


def known(request: Request, etag: str) -> bool:
    """Whether If-None-Match names this tag, weakly compared."""
    sent = request.headers.get("If-None-Match", "")
    listed = [one.strip().removeprefix("W/") for one in sent.split(",")]
    return "*" in listed or etag.removeprefix("W/") in listed


def mount(request: Request) -> str:
    """What stands before every address of the part: its prefix on the main port, else ""."""
    prefix: str = request.META.get("SCRIPT_NAME", "")
    return prefix


def warned(body: Mapping[str, Any], warnings: list[str]) -> Mapping[str, Any]:
    """The answer, with `warnings` only when there are any."""
    return {**body, "warnings": warnings} if warnings else body


class Text(serializers.CharField):
    """A JSON string, and nothing that merely prints as one. No NUL; lone surrogates are replaced.

    `line` = one trimmed line. `allow_blank` lets "" through.
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
