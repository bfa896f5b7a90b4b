"""The part itself over REST: health, the reviewer, the examples, the list of projects."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.kernel.web.places import BadgeList, PlaceList, PlaceQuery, badges, found
from review import operations, reviewer
from review.api import shapes
from review.api.base import ViewSet, documented, person


@extend_schema(tags=["review"])
class InstanceViewSet(ViewSet):
    """`/api/health`, `/api/me`, `/api/examples`, `/api/examples/remove`, `/api/projects`."""

    @documented(shapes.Ok)
    def health(self, request: Request) -> Response:
        """Whether the part answers."""
        return Response({"ok": True})

    @documented(shapes.Reviewer)
    def me(self, request: Request) -> Response:
        """Who signs what is written here."""
        me = reviewer.me()
        return Response({"id": me.id, "name": me.name})

    @documented(PlaceList, query=PlaceQuery, errors=(400,))
    def places(self, request: Request) -> Response:
        """Where one can go in all parts, by name; best first."""
        return Response(found(request))

    @documented(BadgeList)
    def badges(self, request: Request) -> Response:
        """How much waits for somebody in each part."""
        return Response(badges(request))

    @extend_schema(operation_id="projects_list")
    @documented(shapes.ProjectList)
    def projects(self, request: Request) -> Response:
        """Every project under review, with its counts."""
        return Response(operations.list_projects(person()))

    @documented(shapes.Examples, body=shapes.Nothing, status=201, also=200, errors=(409,))
    def add(self, request: Request) -> Response:
        """Add the example projects, or bring removed ones back; 201 when any was created."""
        done = operations.add_examples(person())
        return Response(done, status=201 if done["created"] else 200)

    @documented(shapes.Examples, body=shapes.Nothing, errors=(409,))
    def remove(self, request: Request) -> Response:
        """Put the example projects away; nothing is deleted."""
        return Response(operations.remove_examples(person()))
