"""Attachments over REST: upload and download (workspace/chats/attachments.py)."""

from __future__ import annotations

from typing import Any, TypedDict

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from config.web import rest
from config.web.wire import BytesParser
from workspace.api.answers import documented
from workspace.chats import attachments
from workspace.projects import store

SHOWN = {  # pages show images; any other file of a stranger must stay plain text or a download
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "private, max-age=31536000, immutable",
}


class UploadQuery(s.Serializer[Any]):
    name = rest.Text(required=False, allow_blank=True, help_text="as it was called")


class Uploaded(TypedDict):
    path: str
    name: str
    type: str
    size: int
    url: str
    created: bool


@extend_schema(tags=["chats"])
class AttachmentViewSet(rest.ViewSet):
    """`P/attachments` and `P/attachments/:name`."""

    parser_classes = (BytesParser,)

    @documented(
        Uploaded, status=201, errors=(404, 409), query=UploadQuery, body=OpenApiTypes.BINARY
    )
    def create(self, request: Request, slug: str) -> Response:
        """Store a file for the agents of a project; its path can be sent with a message."""
        name = rest.query(request, UploadQuery).get("name", "")
        sent: Any = request.data or b""
        kept = attachments.add(project=store.get(slug), name=name, data=sent)
        answer = Uploaded(
            path=kept.path,
            name=kept.name,
            type=kept.type,
            size=kept.size,
            url=kept.url,
            created=kept.created,
        )
        return Response(answer, status=201)

    @documented.binary("image/*", "text/plain", "application/pdf", errors=(404,))
    def retrieve(self, request: Request, slug: str, name: str) -> HttpResponse:
        """The file: images and text are shown inline, a PDF is a download."""
        found, data = attachments.get(project=store.get(slug), name=name)
        kind = found.type + ("; charset=utf-8" if found.type == "text/plain" else "")
        answer = HttpResponse(data, content_type=kind, headers=SHOWN)
        if found.type == "application/pdf":
            answer["Content-Disposition"] = "attachment"
        return answer
