"""Apps over REST: the list, one app, its file, its history."""

from __future__ import annotations

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.errors import Invalid
from config.web import rest
from dashboard.api import bodies
from dashboard.api.base import (
    ViewSet,
    as_text,
    conditions,
    documented,
    one,
    record_response,
    required_body,
    written_response,
)
from dashboard.history.windows import History
from dashboard.operations import apps, history, texts
from dashboard.operations.apps import AppList
from dashboard.operations.common import Removed
from dashboard.operations.texts import Text
from dashboard.registry.records import App


@extend_schema(tags=["apps"])
class AppViewSet(ViewSet):
    """`/api/apps`, `/api/apps/:slug` and its history."""

    @extend_schema(operation_id="apps_list")
    @documented(AppList, query=bodies.Filter)
    def list(self, request: Request) -> Response:
        """All declared and discovered apps with their state."""
        if len(request.query_params.getlist("tag")) > 1:
            raise Invalid('Query "tag" must be given once.', code="bad_query")
        wanted = {name: one(request, name) for name in ("state", "tag", "source")}
        return Response(apps.list_apps(**wanted))

    @documented(App, Text, query=bodies.Form, errors=(404,))
    def retrieve(self, request: Request, slug: str) -> Response:
        """One app with its configuration. With `form=yaml`: its file as text."""
        if as_text(request):
            return record_response(texts.get_text(kind="apps", name=slug))
        return record_response(apps.get_app(slug=slug))

    @documented(
        App, status=201, also=200, query=bodies.Form, body=OpenApiTypes.OBJECT, errors=(409,)
    )
    def update(self, request: Request, slug: str) -> Response:
        """Declare the app, or replace its configuration. With `form=yaml`: its file as text."""
        text, body = as_text(request), required_body(request)
        if text:
            done = texts.put_text(kind="apps", name=slug, body=body, **conditions(request))
        else:
            done = apps.put_app(slug=slug, config=body, **conditions(request))
        return written_response(done, location(request, slug) if done.created else None)

    @documented(App, also=201, body=OpenApiTypes.OBJECT, errors=(404, 409))
    def partial_update(self, request: Request, slug: str) -> Response:
        """Merge a JSON merge patch into the app's configuration; null removes a key."""
        match = request.headers.get("If-Match")
        if match is None:
            apps.known_app(slug=slug)
        done = apps.patch_app(slug=slug, patch=required_body(request), if_match=match)
        return written_response(done, location(request, slug) if done.created else None)

    @documented(Removed, query=bodies.Remove, errors=(404, 409))
    def destroy(self, request: Request, slug: str) -> Response:
        """Remove the app: move its file to backups/removed."""
        stop = one(request, "stop", "false")
        if stop not in ("true", "false"):
            raise Invalid('Query "stop" must be true or false.', code="bad_query")
        match = request.headers.get("If-Match")
        return Response(apps.remove_app(slug=slug, if_match=match, stop=stop == "true"))

    @documented(History, query=bodies.Window, errors=(404,))
    def history(self, request: Request, slug: str) -> Response:
        """Uptime and latency of an app over a day, a week or 90 days; also of a removed app."""
        window = one(request, "window", "24h") or ""
        return Response(history.app_history(slug=slug, window=window))


def location(request: Request, slug: str) -> dict[str, str]:
    """The Location header of the app, under the mount that the request used."""
    return {"Location": f"{rest.mount(request)}/api/apps/{slug}"}
