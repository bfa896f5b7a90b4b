"""The first ASGI app for every request: gives it its id, fixed headers and surface.

It works under any ASGI server. Who is admitted is decided by the guards after it.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable, Mapping
from io import BytesIO
from typing import Any, cast

import orjson
from django.core.handlers.asgi import ASGIRequest
from django.urls import get_resolver

from config.web import surfaces
from config.web.answers import App, Header, Message, Receive, Refusal, Send, refuse
from config.web.http import threads
from config.web.late import Late

log = logging.getLogger(__name__)

SECURITY_HEADERS: dict[bytes, bytes] = {
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"x-frame-options": b"DENY",
    b"cross-origin-resource-policy": b"same-origin",
}


class Entrance:
    """ASGI: one app per surface, chosen by the port; the main port carries all of them.

    `apps` serve a surface on its own port, `mounts` serve it under its prefix of the main port.
    """

    def __init__(self, apps: dict[str, App], mounts: dict[str, App]) -> None:
        self.apps, self.mounts = apps, mounts

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise ValueError(f"no application for {scope['type']}")
        surface, mount = surfaces.of(scope)
        request_id = os.urandom(8).hex()
        path = f"{mount}/" if scope["path"] == mount else scope["path"]
        scope = {
            **scope,
            "path": path,
            "root_path": mount,
            "surface": surface,
            "request_id": request_id,
        }
        app = (self.mounts if mount else self.apps)[surface.name]
        stamped = Stamped(send, request_id, surface.headers)
        try:
            await app(scope, receive, stamped)
        except Exception:
            log.exception("unhandled error", extra={"requestId": request_id})
            if stamped.begun:
                raise
            await refuse(stamped, await threads.run(failure, scope))


def failure(scope: dict[str, Any]) -> Refusal:
    """The 500 answer in the surface's own words: that of its urlconf's handler500."""
    request = ASGIRequest({**scope, "path": "/", "query_string": b"", "headers": []}, BytesIO())
    request.request_id = scope["request_id"]  # type: ignore[attr-defined]
    answer = get_resolver(scope["surface"].urlconf).resolve_error_handler(500)(request)
    return Refusal(500, orjson.loads(answer.content))


def exactly(router: App, otherwise: App) -> App:
    """`router`, except for paths such as `//x`, which it would read as `/x`: to `otherwise`."""

    async def app(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        doubled = scope["path"].startswith(f"{scope['root_path']}//")
        await (otherwise if doubled else router)(scope, receive, send)

    return app


class Stamped:
    """ASGI's send; adds the request's id and those fixed headers that the answer lacks."""

    def __init__(self, send: Send, request_id: str, headers: Mapping[bytes, bytes]) -> None:
        self._send, self._headers, self._request_id = send, headers, request_id
        self.begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            fixed = {**SECURITY_HEADERS, **self._headers}
            fixed[b"x-request-id"] = self._request_id.encode()
            headers: list[Header] = []
            for name, value in message.get("headers", ()):
                headers.append((name := name.lower(), value))
                fixed.pop(name, None)
            message = {**message, "headers": [*headers, *fixed.items()]}
        await self._send(message)


def lazily(name: str) -> App:
    """The consumer or ASGI app called `name`, imported at the first request."""
    late, inner = Late(name), None

    async def app(scope: dict[str, Any], receive: Receive, send: Send) -> None:
        nonlocal inner
        if inner is None:
            found = await late.get()
            inner = cast("App", found.as_asgi() if hasattr(found, "as_asgi") else found)
        await inner(scope, receive, send)

    return app


def by_name(name: str) -> Callable[[], Awaitable[Any]]:
    """The function `name`, imported at the first call."""
    late = Late(name)

    async def call() -> Any:
        return (await late.get())()

    return call


def authenticator(name: str, *, blocking: bool) -> Callable[[dict[str, Any]], Any]:
    """The function `name` as a coroutine for the guard; a `blocking` one runs in a thread."""
    late = Late(name)

    async def authenticate(scope: dict[str, Any]) -> Any:
        decide = await late.get()
        return await threads.run(decide, scope) if blocking else decide(scope)

    return authenticate
