"""Bookmark groups over REST, and the icons of their links."""

from __future__ import annotations

import hashlib

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.errors import Invalid
from config.web import rest
from dashboard.api import bodies, pictures
from dashboard.api.base import (
    ViewSet,
    as_text,
    conditions,
    documented,
    not_modified,
    one,
    record_response,
    required_body,
    written_response,
)
from dashboard.operations import bookmarks, texts, thumbs
from dashboard.operations.bookmarks import GroupList
from dashboard.operations.common import Removed
from dashboard.operations.texts import Text
from dashboard.registry.records import Group


@extend_schema(tags=["bookmarks"])
class BookmarkViewSet(ViewSet):
    """`/api/bookmarks`, `/api/bookmarks/:group` and its icons."""

    @extend_schema(operation_id="bookmarks_list")
    @documented(GroupList, bare=(304,))
    def list(self, request: Request) -> HttpResponseBase:
        """All bookmark groups; 304 when they have not changed since the caller read them."""
        found = bookmarks.list_bookmarks()
        etag = _tag(found["groups"])
        if rest.matches_etag(request, etag):
            return not_modified(etag)
        return Response(found, headers={"ETag": etag})

    @documented(Group, Text, bare=(304,), query=bodies.Form, errors=(404,))
    def retrieve(self, request: Request, group: str) -> HttpResponseBase:
        """One bookmark group. With `form=yaml`: its file as text."""
        found = (
            texts.get_text(kind="bookmarks", name=group)
            if as_text(request)
            else bookmarks.get_bookmarks(group=group)
        )
        if found["etag"] and rest.matches_etag(request, found["etag"]):
            return not_modified(found["etag"])
        return record_response(found)

    @documented(
        Group, status=201, also=200, query=bodies.Form, body=OpenApiTypes.OBJECT,
        errors=(409,),
    )  # fmt: skip
    def update(self, request: Request, group: str) -> Response:
        """Create or replace the group. With `form=yaml`: its file as text."""
        text, body = as_text(request), required_body(request)
        if text:
            done = texts.put_text(kind="bookmarks", name=group, body=body, **conditions(request))
        else:
            done = bookmarks.put_bookmarks(group=group, config=body, **conditions(request))
        return written_response(done)

    @documented(Group, body=OpenApiTypes.OBJECT, errors=(404, 409))
    def partial_update(self, request: Request, group: str) -> Response:
        """Merge a JSON merge patch into the group; null removes a key."""
        match = request.headers.get("If-Match")
        if match is None:
            bookmarks.get_bookmarks(group=group)
        return written_response(
            bookmarks.patch_bookmarks(group=group, patch=required_body(request), if_match=match)
        )

    @documented(Removed, errors=(400, 404, 409))
    def destroy(self, request: Request, group: str) -> Response:
        """Remove the group: move its file to backups/removed."""
        match = request.headers.get("If-Match")
        return Response(bookmarks.remove_bookmarks(group=group, if_match=match))

    @documented.binary("image/png", bare=(204, 304), query=bodies.Url, errors=(404,))
    def icon(self, request: Request, group: str) -> HttpResponse:
        """The icon of a link of the group; 204 while there is none yet."""
        bookmarks.get_bookmarks(group=group)
        url = one(request, "url")
        if not url:
            raise Invalid('Query "url" must be a link of the group.', code="bad_query")
        found = thumbs.icon(group=group, url=url)
        if found is None:
            return HttpResponse(status=204, headers=pictures.HEADERS)
        return pictures.answer(request, found)


def _tag(groups: list[Group]) -> str:
    """The weak tag of the list, made from the tags of its groups."""
    members = "".join(f"{one['group']} {one['etag']}\n" for one in groups)
    return f'W/"{hashlib.sha256(members.encode()).hexdigest()[:32]}"'
