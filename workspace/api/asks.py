"""Permission questions over REST: those that wait for a person, answers, and what was allowed for
the rest of a chat."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from config.logs import timestamp
from config.storage import database
from config.web import rest
from workspace.api.answers import Warned, documented, person
from workspace.chats.turns import answers, questions
from workspace.chats.turns.questions import Asking
from workspace.projects import store

NOT_A_PERSON = "only a person answers a permission question: who asks does not answer"


class Permit(s.Serializer[Any]):
    allow = s.BooleanField()
    scope = s.ChoiceField(
        ("once", "chat"),
        default="once",
        help_text="chat: not asked again in this chat, for Bash about commands that begin so",
    )
    reason = rest.Text(
        required=False,
        allow_null=True,
        allow_blank=True,
        line=False,
        max_length=answers.REASON_MAX,
        help_text="the reason for the denial; the agent receives it",
    )


class RevokeQuery(s.Serializer[Any]):
    rule = rest.Text(max_length=500, help_text="one of `allow` of the chat")


class Asks(TypedDict):
    asks: list[Asking]


class Permitted(Warned):
    ok: bool
    allow: bool
    rule: NotRequired[Annotated[str, "what is allowed from now on, for scope chat"]]


class KeptWaiting(TypedDict):
    ok: bool
    until: Annotated[str | None, "when it is denied now; null when it is over"]


class Revoked(TypedDict):
    ok: bool
    revoked: bool


@extend_schema(tags=["chats"])
class AskViewSet(rest.ViewSet):
    """`/api/asks`, `C/permissions/:call`, and what was allowed for the rest of a chat."""

    @documented(Asks)
    def list(self, request: Request) -> Response:
        """All questions that wait for a person; the first one is the next to be denied."""
        return Response(Asks(asks=database.unless_gone(questions.everywhere, list)))

    @documented(Permitted, errors=(403, 404, 409), body=Permit)
    def answer(self, request: Request, slug: str, session_id: str, call: str) -> Response:
        """Answer a permission question of the running turn."""
        person(request, NOT_A_PERSON)
        body = rest.read(request, Permit)
        allow = body.values["allow"]
        rule = answers.answer(
            project=store.get(slug),
            chat=session_id,
            call=call,
            allow=allow,
            reason=body.values.get("reason") or "",
            in_chat=body.values["scope"] == "chat",
        )
        shown = Permitted(ok=True, allow=allow)
        if rule is not None:
            shown["rule"] = rule
        return Response(rest.with_warnings(shown, body.warnings))

    @documented(KeptWaiting, errors=(403, 404))
    def keep(self, request: Request, slug: str, session_id: str, call: str) -> Response:
        """Report that a person sees the question: its wait begins again, up to `limits.askHours` in
        total."""
        person(request, NOT_A_PERSON)
        until = answers.keep_waiting(project=store.get(slug), chat=session_id, call=call)
        return Response(KeptWaiting(ok=True, until=timestamp(until) if until else None))

    @documented(Revoked, query=RevokeQuery, errors=(403, 404, 409))
    def revoke(self, request: Request, slug: str, session_id: str) -> Response:
        """Revoke what was allowed for the rest of the chat, also in the running turn: it is asked
        for again."""
        person(request, NOT_A_PERSON)
        rule = rest.query(request, RevokeQuery)["rule"]
        revoked = answers.revoke(project=store.get(slug), chat=session_id, rule=rule)
        return Response(Revoked(ok=True, revoked=revoked))
