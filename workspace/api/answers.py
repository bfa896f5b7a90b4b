"""How a route is described: its body, its answer, and the refusals it may give."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict, cast

from django.db.models import QuerySet
from rest_framework import serializers as s
from rest_framework.request import Request

from config.web import rest
from config.web.described import Described
from workspace.access.principals import User

LIMIT_MAX = 500


class Problem(TypedDict):
    field: str
    reason: str
    example: str | None


class Error(TypedDict):
    """Every refusal, on every route."""

    error: str
    code: str
    errors: NotRequired[list[Problem]]
    runId: NotRequired[str]


class Warned(TypedDict):
    """An answer that may tell what of the request had no effect."""

    warnings: NotRequired[list[str]]


documented = Described(Error, always=(401, 403))


class Limit(s.Serializer[Any]):
    """How long a page of a list may be."""

    limit = s.IntegerField(min_value=1, max_value=LIMIT_MAX, default=100)


class Page(Limit):
    """`limit` and `before` of every list (newest first)."""

    before = rest.Text(required=False, allow_blank=True, help_text="`next` of the page before")


def principal(request: Request) -> User:
    """Who the guard let in."""
    return cast("User", request.user)


def page_of(rows: QuerySet[Any], limit: int) -> tuple[list[Any], str | None]:
    """The first `limit` rows, and the `before` of the next page when there is one."""
    found = list(rows[: limit + 1])
    shown = found[:limit]
    return shown, str(shown[-1].pk) if len(found) > limit else None
