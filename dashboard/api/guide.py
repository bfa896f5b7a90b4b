"""What agents read before they act: three texts with live data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request

from dashboard.api.base import ViewSet, documented
from dashboard.guide import live, texts
from dashboard.mcp.catalogue import REGISTRY

PLAIN, MARKDOWN = "text/plain", "text/markdown"


@extend_schema(tags=["guide"])
class GuideViewSet(ViewSet):
    """The texts of the guide. Each shows what runs at this moment, so no client may cache it."""

    @extend_schema(operation_id="guide_index")
    @documented.binary(PLAIN)
    def llms(self, request: Request) -> HttpResponse:
        """The short index: what this service is, one line per app, links."""
        return _answer(request, PLAIN, texts.llms)

    @extend_schema(operation_id="guide_agent")
    @documented.binary(MARKDOWN)
    def agent_guide(self, request: Request) -> HttpResponse:
        """The rules, and live tables of apps, listeners, lost items and file errors."""
        return _answer(request, MARKDOWN, texts.agent_guide)

    @extend_schema(operation_id="guide_full")
    @documented.binary(MARKDOWN)
    def llms_full(self, request: Request) -> HttpResponse:
        """The guide, the API, the file formats and the MCP tools."""
        return _answer(request, MARKDOWN, texts.llms_full, REGISTRY)


def _answer(request: Request, kind: str, make: Callable[..., str], *more: Any) -> HttpResponse:
    scope = request._request.scope  # type: ignore[attr-defined]
    text = make(live.gather(live.base_url(scope)), *more)
    headers = {"Cache-Control": "no-store"}
    return HttpResponse(text, content_type=f"{kind}; charset=utf-8", headers=headers)
