"""Apply, fold and undo over REST."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.errors import NotFound
from review import reviewer
from review.api import bodies
from review.api.base import ViewSet, documented
from review.stacks import changes
from review.stacks.folding import apply
from review.stacks.folding import fold as folding


@extend_schema(tags=["review commits"])
class FoldingViewSet(ViewSet):
    """`{c}/apply`, `P/repos/:r/stacks/:n/fold` and `P/repos/:r/fold/undo`."""

    @documented(apply.Applied, status=201, body=bodies.ApplyBody, errors=(404, 409))
    def apply(self, request: Request, **place: Any) -> Response:
        """Make one fixup commit of suggestions and resolve their threads."""
        wanted = bodies.all_of(request, "suggestions")
        made = changes.apply_suggestions(me=reviewer.me().id, **wanted, **place)
        return Response(made, status=201)

    @documented(folding.Folded, body=bodies.Nothing, errors=(404, 409))
    def fold(self, request: Request, project: str, repo: str, n: str) -> Response:
        """Fold the fixups of a stack into the commits they amend."""
        if not n.isdecimal() or len(n) > 9:
            raise NotFound(f"Repo {repo} has no such stack")
        return Response(folding.fold(project, repo, int(n)))

    @documented(folding.Folded, body=bodies.UndoBody, errors=(404, 409))
    def undo(self, request: Request, project: str, repo: str) -> Response:
        """Set the branches of a fold back to where they were before it."""
        return Response(folding.undo(project, repo, bodies.all_of(request, "id")["id"]))
