"""The part itself over REST: health, the whole state at once, the settings."""

from __future__ import annotations

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config import __version__
from config.kernel import jsonio
from config.kernel.web import answers
from config.kernel.web.places import BadgeList, PlaceList, PlaceQuery, badges, found
from dashboard import operations
from dashboard.api import shapes
from dashboard.api.base import ME, ViewSet, documented, known, tagged, unchanged


@extend_schema(tags=["dashboard"])
class InstanceViewSet(ViewSet):
    """`/api/health`, `/api/state`, `/api/config`, `/api/nodes`."""

    @documented(shapes.Health)
    def health(self, request: Request) -> Response:
        """Whether the part answers; also before the files are loaded."""
        return Response({"ok": True, "version": __version__})

    @documented(shapes.State, bare=(304,))
    def state(self, request: Request) -> HttpResponseBase:
        """Everything the page shows; 304 when nothing changed since."""
        body, etag = operations.state(ME)
        if known(request, etag):
            return unchanged(etag)
        headers = {"ETag": etag}
        if request.accepted_renderer.format != "json":
            return Response(jsonio.loads(body), headers=headers)
        return HttpResponse(body, content_type=answers.JSON.decode(), headers=headers)

    @documented(shapes.NodeList)
    def nodes(self, request: Request) -> Response:
        """This node and the others on its PostgreSQL and Redis; `heard` while the Redis answers."""
        return Response(operations.list_nodes(ME))

    @documented(PlaceList, query=PlaceQuery)
    def places(self, request: Request) -> Response:
        """Where one can go in all parts, by name; best first."""
        return Response(found(request))

    @documented(BadgeList)
    def badges(self, request: Request) -> Response:
        """How much waits for somebody in each part."""
        return Response(badges(request))

    @documented(shapes.Config)
    def config(self, request: Request) -> Response:
        """config.yaml as it counts and as it is written; read-only over HTTP."""
        return tagged(operations.get_config(ME))
