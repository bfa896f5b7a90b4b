"""Removed apps and groups over REST."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard import operations
from dashboard.api import bodies, shapes
from dashboard.api.base import ME, ViewSet, documented, fields


@extend_schema(tags=["removed"])
class RemovedViewSet(ViewSet):
    """`/api/removed` and below."""

    @extend_schema(operation_id="removed_list")
    @documented(shapes.RemovedList)
    def list(self, request: Request) -> Response:
        """What was removed, the newest first."""
        return Response(operations.list_removed(ME))

    @documented(shapes.Restored, body=bodies.Restore, errors=(400, 404, 409))
    def restore(self, request: Request) -> Response:
        """Put a removed file back; 409 when its name is taken again."""
        return Response(operations.restore_removed(ME, **{"file": None, **fields(request, "file")}))
