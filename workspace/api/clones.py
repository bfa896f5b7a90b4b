"""Clones over REST: projects that are being made (workspace/projects/cloning.py)."""

from __future__ import annotations

from typing import Annotated, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.logs import timestamp
from config.web import rest
from workspace.api.answers import documented
from workspace.projects import cloning


class Clone(TypedDict):
    slug: str
    name: str
    step: Annotated[str | None, "what git does: Receiving objects, …"]
    percent: Annotated[int | None, "of that step"]
    startedAt: str


class CloneList(TypedDict):
    clones: list[Clone]


class CloneStopped(TypedDict):
    ok: bool
    slug: str


@extend_schema(tags=["projects"])
class CloneViewSet(rest.ViewSet):
    """`/api/clones`: projects that are being made (workspace/projects/cloning.py)."""

    @documented(CloneList)
    def list(self, request: Request) -> Response:
        """Repositories that are being cloned, with their progress."""
        rows: list[Clone] = [
            {
                "slug": one.slug,
                "name": one.name,
                "step": one.step or None,
                "percent": one.percent,
                "startedAt": timestamp(one.began),
            }
            for one in cloning.running()
        ]
        return Response(CloneList(clones=rows))

    @documented(CloneStopped, errors=(404,))
    def destroy(self, request: Request, slug: str) -> Response:
        """Stop the clone that makes this project; nothing of it is kept."""
        cloning.stop(slug)
        return Response(CloneStopped(ok=True, slug=slug))
