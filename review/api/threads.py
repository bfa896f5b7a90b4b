"""Threads and comments over REST."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from review import operations
from review.api import bodies, shapes
from review.api.base import ViewSet, documented, person

PLACE = ("path", "side", "line", "start_line", "start_side")


@extend_schema(tags=["review threads"])
class ThreadViewSet(ViewSet):
    """`{c}/threads` and below."""

    @documented(shapes.Thread, status=201, body=bodies.ThreadBody, errors=(404, 409))
    def create(self, request: Request, **place: Any) -> Response:
        """Start a thread: general, on a file, on a line or on a range."""
        wanted = bodies.all_of(request, "body", "author", *PLACE)
        return Response(operations.add_thread(person(), **wanted, **place), status=201)

    @documented(shapes.NewComment, status=201, body=bodies.CommentBody, errors=(404, 409))
    def reply(self, request: Request, **place: Any) -> Response:
        """Add a comment."""
        wanted = bodies.all_of(request, "body", "author")
        return Response(operations.reply(person(), **wanted, **place), status=201)

    @documented(shapes.Thread, body=bodies.ResolvedBody, errors=(404, 409))
    def resolve(self, request: Request, **place: Any) -> Response:
        """Resolve the thread, or open it again."""
        wanted = bodies.all_of(request, "resolved")
        return Response(operations.resolve_thread(person(), **wanted, **place))

    @documented(shapes.Comment, body=bodies.EditBody, errors=(404, 409))
    def edit(self, request: Request, **place: Any) -> Response:
        """Edit a comment of one's own."""
        wanted = bodies.all_of(request, "body")
        return Response(operations.edit_comment(person(), **wanted, **place))

    @documented(shapes.Deleted, errors=(400, 404, 409))
    def remove(self, request: Request, **place: Any) -> Response:
        """Delete a comment of one's own; the last one takes its thread along."""
        return Response(operations.delete_comment(person(), **place))
