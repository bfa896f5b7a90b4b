"""Sessions of Claude Code in a project's working directory over REST: list, read, continue."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from config.logs import timestamp
from config.web import rest
from workspace.api import chatbodies as bodies
from workspace.api.answers import documented, principal
from workspace.api.chatview import view
from workspace.chats import index
from workspace.chats.messages import Message
from workspace.chats.sessions import claude_code, continuing, reading
from workspace.projects import store


class Session(TypedDict):
    """One conversation; `title` is its given title, else its first words."""

    id: str
    program: str
    title: str
    startedAt: str | None
    updatedAt: str
    bytes: int
    branch: str | None
    version: str | None


class SessionList(TypedDict):
    sessions: list[Session]
    total: int


class SessionPage(TypedDict):
    session: Session
    messages: list[Message]
    total: int
    next: int | None


class SessionsQuery(s.Serializer[Any]):
    limit = s.IntegerField(min_value=1, max_value=500, default=50)


class SessionQuery(s.Serializer[Any]):
    limit = s.IntegerField(min_value=1, max_value=500, default=100)
    before = s.IntegerField(min_value=0, max_value=2**31, required=False)


class Continue(s.Serializer[Any]):
    prompt = bodies.prompt(required=False)
    name = rest.Text(required=False, allow_null=True, allow_blank=True)
    model = rest.Text(required=False, allow_null=True, allow_blank=True)


@extend_schema(tags=["sessions"])
class SessionViewSet(rest.ViewSet):
    """`P/sessions` and everything below it. No file of Claude Code is ever changed."""

    @documented(SessionList, query=SessionsQuery, errors=(404,))
    def list(self, request: Request, slug: str) -> Response:
        """Claude Code's sessions in the project's working directory, newest first."""
        limit = rest.query(request, SessionsQuery)["limit"]
        found, total = claude_code.listing(store.get(slug).working_dir, limit)
        return Response(SessionList(sessions=[_row(one) for one in found], total=total))

    @documented(SessionPage, query=SessionQuery, errors=(404,))
    def retrieve(self, request: Request, slug: str, session_id: str) -> Response:
        """The newest messages of a session before message number `before`, oldest first."""
        asked = rest.query(request, SessionQuery)
        session = claude_code.get(store.get(slug).working_dir, session_id)
        messages, total, following = reading.page(session, **asked)
        return Response(
            SessionPage(session=_row(session), messages=messages, total=total, next=following)
        )

    @documented(bodies.Started, status=201, errors=(404, 409), body=Continue)
    def proceed(self, request: Request, slug: str, session_id: str) -> Response:
        """Make a chat that continues the session."""
        body = rest.read(request, Continue)
        values = {key: value for key, value in body.values.items() if value is not None}
        started = continuing.continue_here(
            principal=principal(request), project=store.get(slug), session_id=session_id, **values
        )
        answer = bodies.Started(
            chat=view(index.get(store.get(slug), started.chat.id)),
            messageId=started.turn.id if started.turn else None,
            state=started.state or None,
        )
        return Response(rest.with_warnings(answer, body.warnings), status=201)


def _row(session: claude_code.Session) -> Session:
    return {
        "id": session.id,
        "program": continuing.PROGRAM,
        "title": session.title,
        "startedAt": session.started or None,
        "updatedAt": timestamp(datetime.fromtimestamp(session.updated, UTC)),
        "bytes": session.bytes,
        "branch": session.branch or None,
        "version": session.version or None,
    }
