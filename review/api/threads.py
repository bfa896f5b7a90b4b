"""Threads and comments over REST."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.web import rest
from review import reviewer
from review.api import bodies, queries
from review.api.base import ViewSet, documented, flag
from review.stacks import changes
from review.stacks import repo as repos
from review.threads import drafts, records
from review.threads.records import Comment, Thread

PLACE = ("path", "side", "line", "start_line", "start_side")


@extend_schema(tags=["review threads"])
class ThreadViewSet(ViewSet):
    """`{c}/threads` and below."""

    @documented(Thread, status=201, body=bodies.ThreadBody, errors=(404, 409))
    def create(self, request: Request, **place: Any) -> Response:
        """Start a thread: general, on a file, on a line or on a range."""
        wanted = bodies.all_of(request, "body", "author", *PLACE)
        if bodies.truth(request, "draft"):
            return Response(changes.draft(me=reviewer.me().id, **wanted, **place), status=201)
        wanted |= bodies.all_of(request, "look")
        return Response(changes.start_thread(me=reviewer.me().id, **wanted, **place), status=201)

    @documented(changes.NewComment, status=201, body=bodies.CommentBody, errors=(404, 409))
    def reply(self, request: Request, **place: Any) -> Response:
        """Add a comment."""
        wanted = bodies.all_of(request, "body", "author")
        if bodies.truth(request, "draft"):
            thread = place.pop("thread")
            made = changes.draft(me=reviewer.me().id, reply_to=thread, **wanted, **place)
            return Response(made, status=201)
        return Response(changes.reply(me=reviewer.me().id, **wanted, **place), status=201)

    @documented(Thread, body=bodies.ResolvedBody, errors=(404, 409))
    def resolve(self, request: Request, **place: Any) -> Response:
        """Resolve the thread, or reopen it."""
        wanted = bodies.all_of(request, "resolved")
        return Response(changes.resolve_thread(me=reviewer.me().id, **wanted, **place))

    @documented(Comment, body=bodies.EditBody, errors=(404, 409))
    def edit(self, request: Request, **place: Any) -> Response:
        """Edit a comment of your own."""
        wanted = bodies.all_of(request, "body", "was")
        return Response(changes.edit_comment(me=reviewer.me().id, **wanted, **place))

    @documented(changes.Deleted, errors=(400, 404, 409))
    def remove(self, request: Request, **place: Any) -> Response:
        """Delete a comment of your own; deleting the last one deletes the thread."""
        return Response(changes.delete_comment(me=reviewer.me().id, **place))


@extend_schema(tags=["review threads"])
class DraftViewSet(ViewSet):
    """`{c}/drafts` and `{c}/verdict`: comments that are not sent yet, and sending them."""

    @documented(records.Drafts, query=queries.Html, errors=(400, 404))
    def list(self, request: Request, **place: Any) -> Response:
        """Your drafts, placed on this commit. No one else can see them."""
        target = repos.target_at(**place)
        mine, error = drafts.readable(target, reviewer.me().id)
        html, mount = flag(request, "html"), rest.mount(request)
        shown = records.drafts(target, mine, html=html, mount=mount)
        return Response({"drafts": shown, "parse_error": error})

    @documented(Thread, body=bodies.EditBody, errors=(404, 409))
    def edit(self, request: Request, **place: Any) -> Response:
        """Change the text of a draft."""
        wanted = bodies.all_of(request, "body", "was")
        return Response(changes.edit_draft(me=reviewer.me().id, **wanted, **place))

    @documented(changes.DeletedDraft, errors=(400, 404))
    def remove(self, request: Request, **place: Any) -> Response:
        """Delete a draft."""
        return Response(changes.delete_draft(me=reviewer.me().id, **place))

    @documented(changes.Submitted, body=bodies.VerdictBody, errors=(404, 409))
    def submit(self, request: Request, **place: Any) -> Response:
        """Send all your drafts with a verdict."""
        wanted = bodies.all_of(request, "verdict", "body", "author")
        return Response(changes.submit(me=reviewer.me().id, **wanted, **place))

    @documented(changes.Judged, errors=(400, 404, 409))
    def withdraw(self, request: Request, **place: Any) -> Response:
        """Withdraw your verdict."""
        return Response(changes.withdraw(me=reviewer.me().id, **place))
