"""The notice of what was lost at the last reboot, over REST."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.web import rest
from dashboard.api import bodies
from dashboard.api.base import ViewSet, documented, fields
from dashboard.daemon import Views, read
from dashboard.operations import reboot
from dashboard.reboot.render import LostNotice
from dashboard.reboot.restarting import Restarted


@extend_schema(tags=["lost"])
class LostViewSet(ViewSet):
    """`/api/lost` and below."""

    @extend_schema(operation_id="lost_retrieve")
    @documented(LostNotice)
    def retrieve(self, request: Request) -> Response:
        """The notice of what was lost at the last reboot; null when nothing was lost."""
        return Response(read(Views.lost))

    @documented(Restarted, body=bodies.Restart, errors=(404, 409))
    def restart(self, request: Request, id: str) -> Response:  # noqa: A002
        """Start a lost item again, once."""
        return self._again(request, id, as_service=False)

    @documented(Restarted, body=bodies.Restart, errors=(404, 409))
    def keep(self, request: Request, id: str) -> Response:  # noqa: A002
        """Make a lost item a service that starts by itself in future, and start it."""
        return self._again(request, id, as_service=True)

    @documented(LostNotice, body=bodies.Nothing, errors=(404,))
    def dismiss(self, request: Request, id: str) -> Response:  # noqa: A002
        """Remove one item from the notice."""
        reboot.known_lost(id=id)
        rest.body(request)
        return Response(reboot.dismiss_lost(id=id))

    @extend_schema(operation_id="lost_dismiss_all")
    @documented(LostNotice, body=bodies.Nothing)
    def dismiss_all(self, request: Request) -> Response:
        """Remove all items from the notice."""
        rest.body(request)
        return Response(reboot.dismiss_lost())

    def _again(self, request: Request, id: str, *, as_service: bool) -> Response:  # noqa: A002
        reboot.known_lost(id=id)
        wanted = fields(request, "slug")
        return Response(reboot.restart_lost(id=id, as_service=as_service, **wanted))
