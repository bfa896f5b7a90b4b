"""Observed listeners over REST: the list, claim, ignore, scan."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.web import rest
from dashboard.api import bodies
from dashboard.api.apps import location
from dashboard.api.base import (
    ViewSet,
    conditions,
    documented,
    fields,
    record_response,
    required_body,
    written_response,
)
from dashboard.daemon import Views, read
from dashboard.daemon.scanning import Scan
from dashboard.daemon.views import ObservedList
from dashboard.operations import observed, texts
from dashboard.operations.observed import Ignored
from dashboard.operations.texts import Text
from dashboard.registry.records import App


@extend_schema(tags=["observed"])
class ObservedViewSet(ViewSet):
    """`/api/observed` and below, `/api/scan`, and ignore.yaml as `/api/ignore`."""

    @extend_schema(operation_id="observed_list")
    @documented(ObservedList)
    def list(self, request: Request) -> Response:
        """The listeners of this machine that belong to no declared app."""
        return Response(read(Views.observed))

    @documented(App, status=201, body=bodies.Claim, errors=(404, 409))
    def claim(self, request: Request, id: str) -> Response:  # noqa: A002
        """Make a listener a declared app: writes apps/<slug>.yaml."""
        observed.known_listener(id=id)
        done = observed.claim(id=id, **fields(request, "slug", "name", "expected"))
        return written_response(done, location(request, done.record["slug"]))

    @documented(Ignored, body=bodies.Ignore, errors=(404, 409))
    def ignore(self, request: Request, id: str) -> Response:  # noqa: A002
        """Add a rule to ignore.yaml that hides a listener, by port, process or directory."""
        observed.known_listener(id=id)
        match = request.headers.get("If-Match")
        asked = fields(request, "by", "reason")
        return written_response(observed.ignore(id=id, if_match=match, **asked))

    @documented(Text)
    def rules(self, request: Request) -> Response:
        """ignore.yaml as text; without such a file, an empty text with the tag "absent"."""
        return record_response(texts.get_ignore())

    @documented(Text, status=201, also=200, body=bodies.Rules, errors=(409,))
    def rewrite(self, request: Request) -> Response:
        """Replace the text of ignore.yaml, if the text is valid."""
        return written_response(
            texts.put_ignore(body=required_body(request), **conditions(request))
        )

    @documented(Scan, body=bodies.Nothing, errors=(409,))
    def scan(self, request: Request) -> Response:
        """Scan the listeners; answers when the scan has finished."""
        rest.body(request)
        return Response(observed.scan())
