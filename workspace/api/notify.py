"""Notifications over REST: channels and their state, tests, and which chats pages show."""

from __future__ import annotations

from typing import Any, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from config.web import rest
from workspace.api.answers import documented
from workspace.chats import files
from workspace.notify import describe, presence
from workspace.projects import store


class Look(s.Serializer[Any]):
    page = s.RegexField(
        r"^[a-z0-9]{1,32}$",
        help_text="a name that the page gave itself",
        error_messages={"invalid": "must be 1 to 32 small letters and digits"},
    )
    looking = s.BooleanField(default=True, help_text="false: the page is hidden, or goes")


class Looked(TypedDict):
    ok: bool


@extend_schema(tags=["notifications"])
class NotifyViewSet(rest.ViewSet):
    """`/api/notify`, and whether a page shows a chat, on which `finished` depends."""

    @documented(describe.ChannelList)
    def list(self, request: Request) -> Response:
        """The channels of svc.config.yaml: what each is sent, whether it works, what waits."""
        return Response(describe.listing())

    @documented(describe.Tried, errors=(404,))
    def test(self, request: Request, name: str) -> Response:
        """Send a test to a channel; answer with the result."""
        return Response(describe.test(name))

    @documented(Looked, errors=(404,), body=Look)
    def look(self, request: Request, slug: str, session_id: str) -> Response:
        """Report that a page shows the chat: for 45 s the end of its turns is not notified."""
        asked = rest.read(request, Look).values
        files.read(store.get(slug), session_id)
        act = presence.look if asked["looking"] else presence.leave
        act(session_id, asked["page"])
        return Response(Looked(ok=True))
