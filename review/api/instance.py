"""The part itself over REST: health, the reviewer, the examples, the list of projects."""

from __future__ import annotations

from typing import TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.web.palette import BadgeList, DestinationList, DestinationQuery, badges, places
from review import reviewer
from review.api import bodies
from review.api.base import ViewSet, documented
from review.examples import installing
from review.examples.installing import Examples
from review.stacks.listing import ProjectList, project_list


class Ok(TypedDict):
    ok: bool


class Reviewer(TypedDict):
    id: str
    name: str


@extend_schema(tags=["review"])
class InstanceViewSet(ViewSet):
    """`/api/health`, `/api/me`, `/api/examples`, `/api/examples/remove`, `/api/projects`."""

    @documented(Ok)
    def health(self, request: Request) -> Response:
        """Whether the part answers."""
        return Response({"ok": True})

    @documented(Reviewer)
    def me(self, request: Request) -> Response:
        """The name that signs what is written here."""
        me = reviewer.me()
        return Response({"id": me.id, "name": me.name})

    @documented(DestinationList, query=DestinationQuery, errors=(400,))
    def places(self, request: Request) -> Response:
        """The places in all parts that one can go to, by name; the best match first."""
        return Response(places(request))

    @documented(BadgeList)
    def badges(self, request: Request) -> Response:
        """How many things need attention in each part."""
        return Response(badges(request))

    @extend_schema(operation_id="projects_list")
    @documented(ProjectList)
    def projects(self, request: Request) -> Response:
        """Every project under review, with its counts."""
        return Response(project_list())

    @documented(Examples, body=bodies.Nothing, status=201, also=200, errors=(409,))
    def add(self, request: Request) -> Response:
        """Add the example projects, or bring removed ones back; 201 when any was created."""
        done = installing.add()
        return Response(done, status=201 if done["created"] else 200)

    @documented(Examples, body=bodies.Nothing, errors=(409,))
    def remove(self, request: Request) -> Response:
        """Put the example projects away. Nothing is deleted."""
        return Response(installing.remove())
