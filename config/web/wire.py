"""Parsers and renderers: strict JSON in, compact JSON out, DRF's page for people who browse.

DRF's settings name these classes, so nothing here may import its views, which read the settings
when they are imported. An error is always JSON, whatever the caller accepts.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any

from django.db import DatabaseError
from rest_framework import exceptions as drf
from rest_framework import renderers
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from config import jsonio
from config.errors import Invalid, SvcError, TooLarge, translate

log = logging.getLogger(__name__)

BODY_LIMIT = 4 * 1024 * 1024
RETRY_S = "1"
REFUSED = re.compile(r";q=0(?:\.0*)?(?:;|$)")


class JSONRenderer(renderers.BaseRenderer):
    """Compact JSON in UTF-8; indented on the page for people."""

    media_type = "application/json"
    format = "json"
    charset = "utf-8"

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        if data is None:
            return b""
        return jsonio.dumps(data, indent="indent" in (renderer_context or {}))


class BrowsableRenderer(renderers.BrowsableAPIRenderer):
    """DRF's page for a successful GET, only with the raw JSON form."""

    def get_rendered_html_form(self, data: Any, view: Any, method: str, request: Request) -> Any:
        """Offer no HTML form but DELETE's button: a urlencoded form would be refused (415)."""
        return method == "DELETE" and "DELETE" in view.allowed_methods


def exception_handler(error: Exception, context: dict[str, Any]) -> Response:
    """DRF's exception hook: every error of every surface is JSON in the common shape."""
    known, request = translate(error), context["request"]
    if type(known) is SvcError:
        told = {"requestId": getattr(request._request, "request_id", "")}
        if known is error:  # the disk or git refused; the text says why
            log.error(known.text, extra=told)
        else:
            log.error("unhandled error", exc_info=error, extra=told)
    elif isinstance(error, DatabaseError):
        log.error(
            "the database failed a request",
            extra={"why": str(error), "requestId": getattr(request._request, "request_id", "")},
        )
    request.accepted_renderer = JSONRenderer()
    request.accepted_media_type = JSONRenderer.media_type
    response = Response(known.body(), status=known.status)
    if known.status == 503:
        response["Retry-After"] = RETRY_S
    if isinstance(error, drf.MethodNotAllowed):
        response["Allow"] = ", ".join(context["view"].allowed_methods)
    return response


class Negotiation(DefaultContentNegotiation):
    """HTML for a GET or HEAD that accepts text/html and not JSON; else JSON, never 406."""

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[Any, str]:
        chosen = [one for one in renderers if one.format == "api"]
        if chosen and request.method in {"GET", "HEAD"} and self._wants_html(request):
            return chosen[0], "text/html"
        rest = [one for one in renderers if one.format != "api"]
        return rest[0], rest[0].media_type

    def _wants_html(self, request: Request) -> bool:
        tokens = [token.replace(" ", "") for token in self.get_accept_list(request)]
        accepted = {token.partition(";")[0] for token in tokens if not REFUSED.search(token)}
        return "text/html" in accepted and "application/json" not in accepted


class BytesParser(BaseParser):
    """The raw bytes of the body; the guard has limited its size."""

    media_type = "*/*"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        return stream.read()


class JSONParser(BaseParser):
    """One JSON object; {} for an empty body. NaN, arrays, deep nesting and bad bytes are 400."""

    media_type = "application/json"

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Any = None
    ) -> dict[str, Any]:
        raw = stream.read(BODY_LIMIT + 1)
        if len(raw) > BODY_LIMIT:
            raise TooLarge(f"Request body is larger than {BODY_LIMIT} bytes")
        if not raw.strip():
            return {}
        try:
            value = jsonio.loads(raw)
        except jsonio.JsonError as error:
            raise Invalid(f"body: {error}") from None
        if not isinstance(value, dict):
            raise Invalid("body: must be a JSON object")
        return value
