"""How a route is described: its body, its answer, and the refusals it may give."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request

from config.kernel.web import rest
from workspace.access.principals import User
from workspace.api import shapes

Handler = TypeVar("Handler", bound=Callable[..., Any])
ALWAYS = (401, 403)
LIMIT_MAX = 500


class Limit(s.Serializer[Any]):
    """How long a page of a list may be."""

    limit = s.IntegerField(min_value=1, max_value=LIMIT_MAX, default=100)


class Page(Limit):
    """`limit` and `before` of every list (newest first)."""

    before = rest.Text(required=False, allow_blank=True, help_text="`next` of the page before")


def principal(request: Request) -> User:
    """Whoever the guard let in."""
    return cast("User", request.user)


def documented(
    answer: type[s.Serializer[Any]],
    *,
    status: int = 200,
    errors: Iterable[int] = (),
    query: type[s.Serializer[Any]] | None = None,
    body: type[s.Serializer[Any]] | None = None,
) -> Callable[[Handler], Handler]:
    """The OpenAPI entry of one handler. Refusals all have the one shape; those that come with
    having a query or a body need not be named."""
    asked = (400,) if query else ()
    sent = (400, 413, 415) if body else ()
    refusals = dict.fromkeys((*ALWAYS, *asked, *sent, *errors), shapes.Error)
    return extend_schema(
        request=body,
        responses={status: answer, **refusals},
        parameters=[query] if query else None,
    )


def page_of(rows: QuerySet[Any], limit: int) -> tuple[list[Any], str | None]:
    """The first `limit` rows, and the `before` of the next page when there is one."""
    found = list(rows[: limit + 1])
    shown = found[:limit]
    return shown, str(shown[-1].pk) if len(found) > limit else None
