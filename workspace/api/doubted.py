"""A doubted project.yaml over REST: its changes, and a person's decision to follow it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from config.web import rest
from workspace.api.answers import documented, person
from workspace.api.projects import OneProject, count, view
from workspace.projects import doubted, store


class SeenFile(s.Serializer[Any]):
    etag = rest.Text(max_length=64, help_text="of the file, as it was shown")


class KeyChange(TypedDict):
    """One changed key of the file, as YAML."""

    key: str
    before: Annotated[str | None, "as it holds"]
    after: Annotated[str | None, "as the file says"]


class WaitingFile(TypedDict):
    etag: str
    changes: list[KeyChange]


class Doubt(TypedDict):
    waiting: Annotated[WaitingFile | None, "null where the file is followed, or cannot be read"]


@extend_schema(tags=["projects"])
class DoubtedViewSet(rest.ViewSet):
    """`P/follow`."""

    @documented(Doubt, errors=(404,))
    def retrieve(self, request: Request, slug: str) -> Response:
        """What would change if a project.yaml that a turn may have written were followed."""
        found = doubted.waiting(store.get(slug))
        return Response({"waiting": asdict(found) if found else None})

    @documented(OneProject, errors=(403, 404, 409), body=SeenFile)
    def follow(self, request: Request, slug: str) -> Response:
        """Follow project.yaml with exactly this content. Only a person may do this."""
        body = rest.read(request, SeenFile)
        person(request, doubted.NOT_A_PERSON)
        doubted.follow(store.get(slug), body.values["etag"])
        return Response(OneProject(project=view(store.get(slug), count(slug))))
