"""Answers made outside of views: the guard's refusals over ASGI, Django's own 404 and 500.

They always have the common JSON error body, never HTML, and never describe internal errors.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from django.http import HttpRequest, HttpResponse

from config.errors import MethodNotAllowed, NotFound, SvcError

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[dict[str, Any], Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]

JSON = b"application/json; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer to a refused request: status, JSON body and further headers."""

    status: int
    body: Mapping[str, Any] = field(default_factory=dict)
    headers: tuple[Header, ...] = ()


def refusal(error: SvcError, *headers: Header) -> Refusal:
    return Refusal(error.status, error.body(), headers)


async def send_json(
    send: Send, status: int, body: Mapping[str, Any], headers: Iterable[Header] = ()
) -> None:
    """Send a complete JSON answer."""
    data = orjson.dumps(body)
    fixed: list[Header] = [(b"content-type", JSON), (b"content-length", b"%d" % len(data))]
    await send({"type": "http.response.start", "status": status, "headers": [*fixed, *headers]})
    await send({"type": "http.response.body", "body": data, "more_body": False})


async def refuse(send: Send, why: Refusal) -> None:
    await send_json(send, why.status, why.body, why.headers)


async def nothing_here(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """The ASGI app of machine paths without a route: 404, `error` alone."""
    await send_json(send, 404, {"error": "not found"})


async def no_route(scope: dict[str, Any], receive: Receive, send: Send) -> None:
    """The ASGI app of every other path that no route can have: 404."""
    await refuse(send, refusal(NotFound("not found")))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler404: the same body for every path."""
    return django(NotFound("not found"))


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500: a fixed text; the details are in the log."""
    return django(SvcError("internal error"))


def method_not_allowed(
    request: HttpRequest, allow: str, text: str = "method not allowed"
) -> HttpResponse:
    """The 405 answer. A surface that words it differently has a `handler405` in its urlconf."""
    response = django(MethodNotAllowed(text))
    response["Allow"] = allow
    return response


def django(error: SvcError) -> HttpResponse:
    """The error as a Django response, for use outside of views."""
    return HttpResponse(orjson.dumps(error.body()), status=error.status, content_type=JSON.decode())
