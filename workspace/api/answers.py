"""Shared parts of the descriptions of routes: refusals, pages of lists, callers."""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import Any, NotRequired, TypedDict, cast

from django.db.models import QuerySet
from rest_framework import serializers as s
from rest_framework.request import Request

from config.errors import Denied
from config.web import rest
from config.web.described import Described
from workspace.access import clients
from workspace.access.principals import User
from workspace.chats.turns import tokens
from workspace.models import Turn

LIMIT_MAX = 500


class Problem(TypedDict):
    field: str
    reason: str
    example: str | None


class Error(TypedDict):
    """The body of every refusal, on every route."""

    error: str
    code: str
    errors: NotRequired[list[Problem]]
    runId: NotRequired[str]


class Warned(TypedDict):
    """An answer that may have `warnings` about parts of the request that had no effect."""

    warnings: NotRequired[list[str]]


documented = Described(Error, always=(401, 403))


class Limit(s.Serializer[Any]):
    """`limit` of a list: the most rows in one answer."""

    limit = s.IntegerField(min_value=1, max_value=LIMIT_MAX, default=100)


class Page(Limit):
    """`limit` and `before` of every list (newest first)."""

    before = rest.Text(required=False, allow_blank=True, help_text="`next` of the page before")


def principal(request: Request) -> User:
    """The user that the guard admitted."""
    return cast("User", request.user)


def person(request: Request, refusal: str) -> User:
    """The user that the guard admitted. Denied if the request shows the token of a turn or of a
    management client: such a caller is no person, however it was admitted."""
    token = request.headers.get("Authorization", "").partition(" ")[2].strip()
    digest = sha256(token.encode()).digest()
    of_client = any(hmac.compare_digest(one.digest, digest) for one in clients.management().clients)
    if token and (of_client or Turn.objects.filter(token_hash=tokens.digest(token)).exists()):
        raise Denied(refusal)
    return principal(request)


def page_of(rows: QuerySet[Any], limit: int) -> tuple[list[Any], str | None]:
    """The first `limit` rows, and the `before` of the next page, None if there is none."""
    found = list(rows[: limit + 1])
    shown = found[:limit]
    return shown, str(shown[-1].pk) if len(found) > limit else None
