"""Bookmark groups over REST, and the icons of their links."""

from __future__ import annotations

import hashlib

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.kernel.errors import Invalid
from dashboard import operations
from dashboard.api import bodies, pictures, shapes
from dashboard.api.base import (
    ME,
    ViewSet,
    as_text,
    conditions,
    documented,
    known,
    one,
    sent,
    tagged,
    unchanged,
    written,
)
from dashboard.operations import Record


@extend_schema(tags=["bookmarks"])
class BookmarkViewSet(ViewSet):
    """`/api/bookmarks`, `/api/bookmarks/:group` and its icons."""

    @extend_schema(operation_id="bookmarks_list")
    @documented(shapes.GroupList, bare=(304,))
    def list(self, request: Request) -> HttpResponseBase:
        """All groups; 304 when the caller has them as they are."""
        found = operations.list_bookmarks(ME)
        etag = _tag(found["groups"])
        if known(request, etag):
            return unchanged(etag)
        return Response(found, headers={"ETag": etag})

    @documented(shapes.Group, shapes.Text, bare=(304,), query=bodies.Form, errors=(404,))
    def retrieve(self, request: Request, group: str) -> HttpResponseBase:
        """One group; `form=yaml`: its file as text."""
        if as_text(request):
            found = operations.get_text(ME, kind="bookmarks", name=group)
        else:
            found = operations.get_bookmarks(ME, group=group)
        if found["etag"] and known(request, found["etag"]):
            return unchanged(found["etag"])
        return tagged(found)

    @documented(
        shapes.Group, status=201, also=200, query=bodies.Form, body=OpenApiTypes.OBJECT,
        errors=(409,),
    )  # fmt: skip
    def update(self, request: Request, group: str) -> Response:
        """Make or replace the group; `form=yaml`: its file as text."""
        text, body = as_text(request), sent(request)
        if text:
            done = operations.put_text(
                ME, kind="bookmarks", name=group, body=body, **conditions(request)
            )
        else:
            done = operations.put_bookmarks(ME, group=group, config=body, **conditions(request))
        return written(done)

    @documented(shapes.Group, body=OpenApiTypes.OBJECT, errors=(404, 409))
    def partial_update(self, request: Request, group: str) -> Response:
        """Merge a patch into the group; null removes a key."""
        match = request.headers.get("If-Match")
        if match is None:
            operations.get_bookmarks(ME, group=group)
        return written(
            operations.patch_bookmarks(ME, group=group, patch=sent(request), if_match=match)
        )

    @documented(shapes.Removed, errors=(400, 404, 409))
    def destroy(self, request: Request, group: str) -> Response:
        """Move the group's file to backups/removed."""
        match = request.headers.get("If-Match")
        return Response(operations.remove_bookmarks(ME, group=group, if_match=match))

    @documented.binary("image/png", bare=(204, 304), query=bodies.Url, errors=(404,))
    def icon(self, request: Request, group: str) -> HttpResponse:
        """The icon of a link of the group; 204 while there is none yet."""
        operations.get_bookmarks(ME, group=group)
        url = one(request, "url")
        if not url:
            raise Invalid('Query "url" must be a link of the group.', code="bad_query")
        found = operations.icon(ME, group=group, url=url)
        if found is None:
            return HttpResponse(status=204, headers=pictures.HEADERS)
        return pictures.answer(request, found)


def _tag(groups: list[Record]) -> str:
    """The weak tag of the list: over its members' tags (12.3)."""
    members = "".join(f"{one['group']} {one['etag']}\n" for one in groups)
    return f'W/"{hashlib.sha256(members.encode()).hexdigest()[:32]}"'
