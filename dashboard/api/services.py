"""Managed services over REST: start, stop, restart, and their logs."""

from __future__ import annotations

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.web import rest
from dashboard.api import bodies
from dashboard.api.base import ViewSet, documented, one
from dashboard.operations import apps, services
from dashboard.operations.services import Action
from dashboard.services import logs
from dashboard.services.logs import Log


@extend_schema(tags=["services"])
class ServiceViewSet(ViewSet):
    """`/api/apps/:slug/service/:action` and `/api/apps/:slug/logs`."""

    @documented(Action, body=bodies.Nothing, errors=(404, 409))
    def act(self, request: Request, slug: str, action: str) -> Response:
        """Start, stop or restart a service; `ok: false` comes with the reason for the failure."""
        apps.known_app(slug=slug)
        rest.body(request)
        return Response(services.service(slug=slug, action=action))

    @documented(Log, query=bodies.Lines, errors=(404,))
    def logs(self, request: Request, slug: str) -> HttpResponseBase:
        """The last lines of the log, or those after or before a position. With `Accept:
        text/plain` the answer has only the lines."""
        lines = one(request, "lines", str(logs.DEFAULT_LINES)) or ""
        around = {name: one(request, name) for name in ("after", "before")}
        tail = services.app_logs(slug=slug, lines=lines, **around)
        if not _plain(request):
            return Response(tail.wire())
        text = "".join(f"{line}\n" for line in tail.lines) + (tail.wire()["partial"] or "")
        return HttpResponse(text, content_type="text/plain; charset=utf-8")


def _plain(request: Request) -> bool:
    accepted = request.headers.get("Accept", "")
    return "text/plain" in accepted and "application/json" not in accepted
