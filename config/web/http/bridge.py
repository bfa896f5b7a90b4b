"""Django under ASGI: the body is read, then one thread of the pool answers the whole request.

Django's own ASGI handler switches between loop and threads and makes a thread (and a database
connection) per request. Here a running view is never cancelled half-way because a client left.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from io import BytesIO
from typing import Any

from django.core import signals
from django.core.handlers.asgi import ASGIRequest, get_script_prefix
from django.core.handlers.base import BaseHandler
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.urls import set_script_prefix

from config.web.answers import Header, Receive, Refusal, Send, refuse
from config.web.http import threads
from config.web.http.body import Gone, read_body

log = logging.getLogger(__name__)


class DjangoApp(BaseHandler):
    """The ASGI application that serves Django's routes."""

    def __init__(self) -> None:
        super().__init__()
        self.load_middleware(is_async=False)

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        try:
            body = await read_body(receive)
        except Gone:
            return
        response = await threads.run(self.answer, scope, body)
        if response is None:
            await refuse(send, Refusal(400, {"error": "malformed request", "code": "invalid"}))
            return
        await self._send(response, send)

    def answer(self, scope: dict[str, Any], body: bytes) -> HttpResponseBase | None:
        """Answer in a thread; None for a request that Django cannot represent."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        try:
            request = ASGIRequest(scope, BytesIO(body))
            request.META["CONTENT_LENGTH"] = str(len(body))  # also of a chunked body
        except (UnicodeError, ValueError):
            signals.request_finished.send(sender=self.__class__)
            return None
        response = self.get_response(request)
        if isinstance(response, HttpResponse):
            response.close()
        return response

    async def _send(self, response: HttpResponseBase, send: Send) -> None:
        start = {"type": "http.response.start", "status": response.status_code}
        if isinstance(response, HttpResponse):
            headers = _headers(response)
            if not response.has_header("Content-Length") and response.status_code not in (204, 304):
                headers.append((b"content-length", b"%d" % len(response.content)))
            await send({**start, "headers": headers})
            await send({"type": "http.response.body", "body": response.content})
            return
        assert isinstance(response, StreamingHttpResponse)
        try:
            await send({**start, "headers": _headers(response)})
            chunks: Iterator[bytes] = iter(response)
            while (chunk := await threads.run(next, chunks, None)) is not None:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        finally:
            await threads.run(response.close)


def _headers(response: HttpResponseBase) -> list[Header]:
    pairs = [(name.encode("latin1"), value.encode("latin1")) for name, value in response.items()]
    cookies = (cookie.output(header="").strip() for cookie in response.cookies.values())
    return pairs + [(b"set-cookie", cookie.encode("ascii")) for cookie in cookies]
