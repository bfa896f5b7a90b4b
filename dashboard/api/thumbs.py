"""Thumbnails over REST."""

from __future__ import annotations

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from dashboard.api import bodies, pictures
from dashboard.api.base import ViewSet, documented, fields
from dashboard.operations import thumbs
from dashboard.operations.thumbs import RefreshResult


@extend_schema(tags=["apps"])
class ThumbViewSet(ViewSet):
    """`/api/apps/:slug/thumb` and `/api/thumbs/refresh`."""

    @documented.binary("image/png", "image/webp", bare=(304,), errors=(400, 404))
    def retrieve(self, request: Request, slug: str) -> HttpResponse:
        """The picture of an app: a screenshot, its favicon on a plate, or a card."""
        found = thumbs.thumb(slug=slug)
        return pictures.answer(request, found, {"X-Thumb-Kind": found.kind})

    @documented(RefreshResult, body=bodies.Refresh, errors=(404, 409))
    def refresh(self, request: Request) -> Response:
        """Take new screenshots now; answers when they have been taken."""
        return Response(thumbs.refresh_thumbs(**fields(request, "slug")))
