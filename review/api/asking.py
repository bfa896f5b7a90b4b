"""Asking an agent about threads, over REST, and what changed since then."""

from __future__ import annotations

from functools import partial
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.errors import Invalid
from config.web import asking as agents
from config.web import rest
from review.api import bodies, queries
from review.api.base import ViewSet, documented
from review.stacks.asking import asking
from review.stacks.asking.chosen import Choice
from review.stacks.asking.since import Since, since


@extend_schema(tags=["review threads"])
class AskViewSet(ViewSet):
    """`/api/projects/:p/ask` and `{c}/threads/:t/since`."""

    @documented(asking.Offer, query=queries.Ask, errors=(400, 404))
    def offer(self, request: Request, project: str) -> Response:
        """The message about these threads, and the places it could be sent to. Nothing is sent."""
        asked = request.query_params
        given: dict[str, Any] = {name: asked.get(name) or None for name in ("repo", "sha", "stack")}
        if given["stack"] is not None and given["stack"].isdecimal():
            given["stack"] = int(given["stack"])
        given["threads"] = [asked["thread"]] if asked.get("thread") else None
        found = asking.offer(_choice(project, given), partial(agents.desks, request))
        return Response(found)

    @documented(asking.Answer, status=201, body=bodies.AskBody, errors=(404, 409))
    def ask(self, request: Request, project: str) -> Response:
        """Ask an agent: in the chat or project that is named, else where the stack was asked about
        before. Each thread then shows that it was asked about."""
        given = rest.body(request)
        found = asking.ask(
            _choice(project, given),
            asking.letter(given),
            partial(agents.desks, request),
            partial(agents.send, request),
        )
        return Response(found, status=201)

    @documented(Since, errors=(404,))
    def since(self, request: Request, **place: Any) -> Response:
        """What changed around a thread's lines since an agent was asked about it."""
        return Response(since(**place))


def _choice(project: str, given: dict[str, Any]) -> Choice:
    """The threads that are meant. Raises Invalid, which names the field."""
    for name in ("repo", "sha"):
        if not isinstance(given.get(name), str | None):
            raise Invalid(f'"{name}" must be text')
    stack, threads = given.get("stack"), given.get("threads") or []
    if isinstance(stack, bool) or not isinstance(stack, int | None):
        raise Invalid('"stack" must be a whole number')
    if not isinstance(threads, list) or not all(isinstance(one, str) for one in threads):
        raise Invalid('"threads" must be a list of ids')
    return Choice(project, given.get("repo"), given.get("sha"), stack, tuple(threads))
