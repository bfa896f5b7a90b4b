"""Observed listeners over REST: the list, claim, ignore, scan."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.kernel.web import rest
from dashboard import operations
from dashboard.api import bodies, shapes
from dashboard.api.apps import location
from dashboard.api.base import (
    ME,
    ViewSet,
    conditions,
    documented,
    fields,
    sent,
    tagged,
    written,
)


@extend_schema(tags=["observed"])
class ObservedViewSet(ViewSet):
    """`/api/observed` and below, `/api/scan`, and ignore.yaml as `/api/ignore`."""

    @extend_schema(operation_id="observed_list")
    @documented(shapes.ObservedList)
    def list(self, request: Request) -> Response:
        """What listens on this machine and no declared app stands for."""
        return Response(operations.list_observed(ME))

    @documented(shapes.App, status=201, body=bodies.Claim, errors=(404, 409))
    def claim(self, request: Request, id: str) -> Response:  # noqa: A002
        """Make it a declared app: writes apps/<slug>.yaml."""
        operations.known_listener(ME, id=id)
        done = operations.claim(ME, id=id, **fields(request, "slug", "name", "expected"))
        return written(done, location(request, done.record["slug"]))

    @documented(shapes.Ignored, body=bodies.Ignore, errors=(404, 409))
    def ignore(self, request: Request, id: str) -> Response:  # noqa: A002
        """Put a rule into ignore.yaml, by port, process or directory."""
        operations.known_listener(ME, id=id)
        match = request.headers.get("If-Match")
        asked = fields(request, "by", "reason")
        return written(operations.ignore(ME, id=id, if_match=match, **asked))

    @documented(shapes.Text)
    def rules(self, request: Request) -> Response:
        """ignore.yaml as text; an empty one, with the tag "absent", while there is none."""
        return tagged(operations.get_ignore(ME))

    @documented(shapes.Text, status=201, also=200, body=bodies.Rules, errors=(409,))
    def rewrite(self, request: Request) -> Response:
        """Make ignore.yaml hold this text, if it is valid."""
        return written(operations.put_ignore(ME, body=sent(request), **conditions(request)))

    @documented(shapes.Scan, body=bodies.Nothing, errors=(409,))
    def scan(self, request: Request) -> Response:
        """Scan now; answers when that is done."""
        rest.body(request)
        return Response(operations.scan(ME))
