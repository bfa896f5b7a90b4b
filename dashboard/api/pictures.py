"""How images are sent: with their tag, to be revalidated on each use, for pages of this site
only."""

from __future__ import annotations

from django.http import HttpResponse
from rest_framework.request import Request

from config.web import rest
from dashboard.api.base import not_modified
from dashboard.rendering.icons import Icon
from dashboard.rendering.thumbs import Picture

HEADERS = {"Cache-Control": "no-cache", "Cross-Origin-Resource-Policy": "same-site"}


def answer(
    request: Request, image: Picture | Icon, headers: dict[str, str] | None = None
) -> HttpResponse:
    """The image, or 304."""
    sent = {**HEADERS, **(headers or {})}
    if rest.matches_etag(request, image.etag):
        return not_modified(image.etag, sent)
    return HttpResponse(image.data, content_type=image.type, headers={"ETag": image.etag, **sent})
