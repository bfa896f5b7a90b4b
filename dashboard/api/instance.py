"""The dashboard itself over REST: health, the whole state at once, the settings."""

from __future__ import annotations

from typing import TypedDict

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config import __version__, jsonio
from config.web import answers, rest
from config.web.palette import BadgeList, DestinationList, DestinationQuery, badges, places
from dashboard.api.base import ViewSet, documented, not_modified, record_response
from dashboard.daemon import Views, read
from dashboard.daemon.views import State
from dashboard.operations import nodes
from dashboard.operations.nodes import NodeList
from dashboard.registry.records import Config


class Health(TypedDict):
    ok: bool
    version: str


@extend_schema(tags=["dashboard"])
class InstanceViewSet(ViewSet):
    """`/api/health`, `/api/state`, `/api/config`, `/api/nodes`."""

    @documented(Health)
    def health(self, request: Request) -> Response:
        """Whether the dashboard answers; also before its files are loaded."""
        return Response({"ok": True, "version": __version__})

    @documented(State, bare=(304,))
    def state(self, request: Request) -> HttpResponseBase:
        """Everything the page shows; 304 when nothing has changed since the caller read it."""
        body, etag = read(Views.state)
        if rest.matches_etag(request, etag):
            return not_modified(etag)
        headers = {"ETag": etag}
        if request.accepted_renderer.format != "json":
            return Response(jsonio.loads(body), headers=headers)
        return HttpResponse(body, content_type=answers.JSON.decode(), headers=headers)

    @documented(NodeList)
    def nodes(self, request: Request) -> Response:
        """This node and the others on its PostgreSQL and Redis; `heard`: whether the Redis
        answers."""
        return Response(nodes.list_nodes())

    @documented(DestinationList, query=DestinationQuery)
    def places(self, request: Request) -> Response:
        """The destinations of all parts whose name matches; best match first."""
        return Response(places(request))

    @documented(BadgeList)
    def badges(self, request: Request) -> Response:
        """How much waits for a person in each part."""
        return Response(badges(request))

    @documented(Config)
    def config(self, request: Request) -> Response:
        """The settings in effect, and config.yaml as it is written; read-only over HTTP."""
        return record_response(read(Views.config))
