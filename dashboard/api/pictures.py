"""How images are sent: with their tag, asked for anew each time, to pages of this site (4, 12)."""

from __future__ import annotations

from django.http import HttpResponse
from rest_framework.request import Request

from dashboard.api.base import known, unchanged
from dashboard.looks.icons import Icon
from dashboard.looks.thumbs import Picture

HEADERS = {"Cache-Control": "no-cache", "Cross-Origin-Resource-Policy": "same-site"}


def answer(
    request: Request, image: Picture | Icon, headers: dict[str, str] | None = None
) -> HttpResponse:
    """The image, or 304."""
    told = {**HEADERS, **(headers or {})}
    if known(request, image.etag):
        return unchanged(image.etag, told)
    return HttpResponse(image.data, content_type=image.type, headers={"ETag": image.etag, **told})
