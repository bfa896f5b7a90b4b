"""What is not committed, over REST: read alone, beside the routes of a commit."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from review.api import queries
from review.api.base import ViewSet, documented
from review.stacks import worktree
from review.stacks.contents import files as texts


@extend_schema(tags=["review commits"])
class WorktreeViewSet(ViewSet):
    """`P/repos/:r/commits/WORKTREE`."""

    @documented(worktree.Changes, query=queries.Contents, errors=(400, 404))
    def retrieve(self, request: Request, **place: Any) -> Response:
        """The files that differ from HEAD, staged or not, new ones too."""
        contents = request.query_params.get("contents", "all")
        return Response(worktree.changes(contents=contents, **place))

    @documented(texts.Record, query=queries.Path, errors=(400, 404))
    def file(self, request: Request, **place: Any) -> Response:
        """One of them with its contents."""
        return Response(worktree.file(path=request.query_params.get("path") or None, **place))
