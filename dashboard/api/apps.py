"""Apps over REST: the list, one app, its file, its history."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.kernel.errors import Invalid
from dashboard import operations
from dashboard.api import bodies, shapes
from dashboard.api.base import (
    ME,
    ViewSet,
    as_text,
    conditions,
    documented,
    mount,
    one,
    sent,
    tagged,
    written,
)


@extend_schema(tags=["apps"])
class AppViewSet(ViewSet):
    """`/api/apps`, `/api/apps/:slug` and its history."""

    @extend_schema(operation_id="apps_list")
    @documented(shapes.AppList, query=bodies.Filter)
    def list(self, request: Request) -> Response:
        """Declared and discovered apps with their state."""
        if len(request.query_params.getlist("tag")) > 1:
            raise Invalid('Query "tag" must be given once.', code="bad_query")
        wanted = {name: one(request, name) for name in ("state", "tag", "source")}
        return Response(operations.list_apps(ME, **wanted))

    @documented(shapes.App, shapes.Text, query=bodies.Form, errors=(404,))
    def retrieve(self, request: Request, slug: str) -> Response:
        """One app with its configuration; `form=yaml`: its file as text."""
        if as_text(request):
            return tagged(operations.get_text(ME, kind="apps", name=slug))
        return tagged(operations.get_app(ME, slug=slug))

    @documented(
        shapes.App, status=201, also=200, query=bodies.Form, body=OpenApiTypes.OBJECT, errors=(409,)
    )
    def update(self, request: Request, slug: str) -> Response:
        """Declare the app, or replace its configuration; `form=yaml`: its file as text."""
        text, body = as_text(request), sent(request)
        if text:
            done = operations.put_text(ME, kind="apps", name=slug, body=body, **conditions(request))
        else:
            done = operations.put_app(ME, slug=slug, config=body, **conditions(request))
        return written(done, location(request, slug) if done.created else None)

    @documented(shapes.App, also=201, body=OpenApiTypes.OBJECT, errors=(404, 409))
    def partial_update(self, request: Request, slug: str) -> Response:
        """Merge a patch into the configuration; null removes a key."""
        match = request.headers.get("If-Match")
        if match is None:
            operations.known_app(ME, slug=slug)
        done = operations.patch_app(ME, slug=slug, patch=sent(request), if_match=match)
        return written(done, location(request, slug) if done.created else None)

    @documented(shapes.Removed, query=bodies.Remove, errors=(404, 409))
    def destroy(self, request: Request, slug: str) -> Response:
        """Move the app's file to backups/removed."""
        stop = one(request, "stop", "false")
        if stop not in ("true", "false"):
            raise Invalid('Query "stop" must be true or false.', code="bad_query")
        match = request.headers.get("If-Match")
        return Response(operations.remove_app(ME, slug=slug, if_match=match, stop=stop == "true"))

    @documented(shapes.History, query=bodies.Window, errors=(404,))
    def history(self, request: Request, slug: str) -> Response:
        """Uptime and latency over a day, a week or 90 days, also of a removed app."""
        window = one(request, "window", "24h") or ""
        return Response(operations.app_history(ME, slug=slug, window=window))


def location(request: Request, slug: str) -> dict[str, str]:
    """Where the app is, under the mount it was asked for."""
    return {"Location": f"{mount(request)}/api/apps/{slug}"}
