"""Threads and comments over REST."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from review import reviewer
from review.api import bodies
from review.api.base import ViewSet, documented
from review.stacks import changes
from review.threads.records import Comment, Thread

PLACE = ("path", "side", "line", "start_line", "start_side")


@extend_schema(tags=["review threads"])
class ThreadViewSet(ViewSet):
    """`{c}/threads` and below."""

    @documented(Thread, status=201, body=bodies.ThreadBody, errors=(404, 409))
    def create(self, request: Request, **place: Any) -> Response:
        """Start a thread: general, on a file, on a line or on a range."""
        wanted = bodies.all_of(request, "body", "author", *PLACE)
        return Response(changes.start_thread(me=reviewer.me().id, **wanted, **place), status=201)

    @documented(changes.NewComment, status=201, body=bodies.CommentBody, errors=(404, 409))
    def reply(self, request: Request, **place: Any) -> Response:
        """Add a comment."""
        wanted = bodies.all_of(request, "body", "author")
        return Response(changes.reply(me=reviewer.me().id, **wanted, **place), status=201)

    @documented(Thread, body=bodies.ResolvedBody, errors=(404, 409))
    def resolve(self, request: Request, **place: Any) -> Response:
        """Resolve the thread, or open it again."""
        wanted = bodies.all_of(request, "resolved")
        return Response(changes.resolve_thread(me=reviewer.me().id, **wanted, **place))

    @documented(Comment, body=bodies.EditBody, errors=(404, 409))
    def edit(self, request: Request, **place: Any) -> Response:
        """Edit a comment of one's own."""
        wanted = bodies.all_of(request, "body")
        return Response(changes.edit_comment(me=reviewer.me().id, **wanted, **place))

    @documented(changes.Deleted, errors=(400, 404, 409))
    def remove(self, request: Request, **place: Any) -> Response:
        """Delete a comment of one's own; the last one takes its thread along."""
        return Response(changes.delete_comment(me=reviewer.me().id, **place))
