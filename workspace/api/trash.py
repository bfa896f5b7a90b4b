"""The trash of projects over REST: list, restore (workspace/trash.py)."""

from __future__ import annotations

from typing import TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.logs import timestamp
from config.web import rest
from workspace import trash
from workspace.api.answers import documented
from workspace.api.projects import OneProject, count, view


class TrashedProject(TypedDict):
    slug: str
    name: str
    deletedAt: str


class ProjectTrash(TypedDict):
    projects: list[TrashedProject]


@extend_schema(tags=["projects"])
class TrashViewSet(rest.ViewSet):
    """`/api/trash` and `/api/projects/:slug/restore`."""

    @documented(ProjectTrash)
    def list(self, request: Request) -> Response:
        """Deleted projects, the latest first; they are kept until restored."""
        return Response(ProjectTrash(projects=list_trashed()))

    @documented(OneProject, errors=(404, 409))
    def restore(self, request: Request, slug: str) -> Response:
        """Restore a deleted project as it was."""
        back = trash.restore(slug)
        return Response(OneProject(project=view(back, count(slug))))


def list_trashed() -> list[TrashedProject]:
    return [
        {"slug": one.slug, "name": one.name, "deletedAt": timestamp(one.deleted)}
        for one in trash.listing()
    ]
