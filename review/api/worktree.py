"""What is not committed, over REST: the routes that commits have, and commit, discard, undo."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.web import rest
from review import assets, files
from review.api import bodies, queries
from review.api.base import MARKDOWN, ViewSet, binary, documented, flag
from review.stacks.worktree import committing, discarding, looks, reviewed
from review.threads import export, records


@extend_schema(tags=["review commits"])
class WorktreeViewSet(ViewSet):
    """`P/repos/:r/commits/WORKTREE`."""

    @documented(looks.Changes, query=queries.Contents, errors=(400, 404))
    def retrieve(self, request: Request, **place: Any) -> Response:
        """The files that differ from HEAD, staged or not, including new ones."""
        contents = request.query_params.get("contents", "all")
        return Response(looks.changes(contents=contents, **place))

    @documented(looks.Seen, query=queries.Path, errors=(400, 404))
    def file(self, request: Request, **place: Any) -> Response:
        """One of the files that differ, with its contents."""
        return Response(looks.file(path=request.query_params.get("path") or None, **place))

    @binary(*assets.TYPES.values(), query=queries.Image, errors=(400, 404))
    def image(self, request: Request, **place: Any) -> HttpResponse:
        """An image that differs, as HEAD has it (LEFT) or as it is now (RIGHT)."""
        path, side = request.query_params.get("path"), request.query_params.get("side")
        data, kind = looks.image(path=path, side=side, **place)
        return HttpResponse(data, content_type=kind, headers=IMAGE)

    @documented(records.Review, query=queries.Html, errors=(404,))
    def review(self, request: Request, **place: Any) -> Response:
        """The threads on what is not committed, and its viewed marks."""
        target = reviewed.at(sha=files.WORKTREE, **place)
        html, mount = flag(request, "html"), rest.mount(request)
        return Response(records.review(target, html=html, mount=mount))

    @binary(MARKDOWN, query=queries.ThreadsText, errors=(404,))
    def threads_text(self, request: Request, **place: Any) -> HttpResponse:
        """The threads on what is not committed, as Markdown with path, line and code; of one file
        or one thread if asked."""
        asked = request.query_params
        text = export.markdown(
            reviewed.at(sha=files.WORKTREE, **place),
            unresolved_only=flag(request, "unresolved"),
            path=asked.get("path"),
            thread=asked.get("thread"),
        )
        return HttpResponse(text, content_type=MARKDOWN)

    @documented(committing.Committed, status=201, body=bodies.CommitBody, errors=(404, 409))
    def commit(self, request: Request, **place: Any) -> Response:
        """Commit these files, or all without `files`; with `look`, only if unchanged since that
        look."""
        wanted = bodies.all_of(request, "files", "message", "look")
        return Response(committing.commit(**wanted, **place), status=201)

    @documented(discarding.Listed, errors=(404,))
    def discarded(self, request: Request, **place: Any) -> Response:
        """What was discarded here and can be restored, the latest first."""
        return Response(discarding.list_discarded(**place))

    @documented(discarding.Discarded, body=bodies.DiscardBody, errors=(404, 409))
    def discard(self, request: Request, **place: Any) -> Response:
        """Reset a file to what HEAD has. Its content is kept for an undo."""
        wanted = bodies.all_of(request, "path", "look")
        return Response(discarding.discard(**wanted, **place))

    @documented(discarding.Discarded, body=bodies.UndoBody, errors=(404, 409))
    def undo(self, request: Request, **place: Any) -> Response:
        """Restore what a discard took, and stage again what was staged."""
        return Response(discarding.undo(name=rest.body(request).get("id"), **place))


IMAGE = assets.HEADERS | {"Cache-Control": "no-store"}  # the file may change with every look
