"""Removed apps and groups over REST."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.api import bodies
from dashboard.api.base import ViewSet, documented, fields
from dashboard.operations import removed
from dashboard.operations.removed import RemovedList, Restored


@extend_schema(tags=["removed"])
class RemovedViewSet(ViewSet):
    """`/api/removed` and below."""

    @extend_schema(operation_id="removed_list")
    @documented(RemovedList)
    def list(self, request: Request) -> Response:
        """The removed apps and groups, the newest first."""
        return Response(removed.list_removed())

    @documented(Restored, body=bodies.Restore, errors=(400, 404, 409))
    def restore(self, request: Request) -> Response:
        """Put a removed file back; 409 when its name is in use again."""
        return Response(removed.restore_removed(**{"file": None, **fields(request, "file")}))
