"""What the home page shows, in one answer: to ask each route for its part would take up to twenty
requests. It has nothing that those routes do not have."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.storage import database
from config.web import rest
from workspace import models
from workspace.api import projects, runs, trash
from workspace.api.answers import documented
from workspace.api.chatview import Chat, views
from workspace.chats import listing
from workspace.chats.turns import questions
from workspace.chats.turns.questions import Asking
from workspace.chats.turns.states import BUSY
from workspace.projects import store
from workspace.triggers import commands, pausing, render

RECENT = timedelta(days=1)
FAILED, BUSIEST, NEXT = 50, 50, 6  # rows at most


class Next(TypedDict):
    project: str
    trigger: render.Trigger


class Now(projects.ProjectList):
    deleted: list[trash.TrashedProject]
    asks: list[Asking]
    paused: render.Pause | None
    failed: runs.RunList
    busy: list[Chat]
    next: list[Next]


@extend_schema(tags=["projects"])
class NowViewSet(rest.ViewSet):
    """`/api/now`."""

    @documented(Now)
    def list(self, request: Request) -> Response:
        """All projects, and what asks, failed in the last day, runs or waits, and fires next."""
        since = datetime.now(UTC) - RECENT
        answer: Now = {
            **projects.list_projects(),
            "deleted": trash.list_trashed(),
            "asks": database.unless_gone(questions.everywhere, list),
            "paused": render.pause(pausing.of_instance()),
            "failed": runs.page(status="failed", since=since, limit=FAILED),
            "busy": _busy(),
            "next": _next(),
        }
        return Response(answer)


def _busy() -> list[Chat]:
    """Chats with a running turn, newest first, then chats with a waiting message."""
    turns = models.Turn.objects.filter(state__in=(*BUSY, "queued")).order_by()
    rows = turns.values_list("project", "chat").distinct()
    slugs = {slug for slug, _ in rows}
    among = [project for project in store.all() if project.slug in slugs]
    chats = {chat for _, chat in rows}
    found = listing.listing(among, which="all", limit=BUSIEST, only=chats)
    return sorted(views(found.rows), key=lambda chat: not chat["running"])


def _next() -> list[Next]:
    """The triggers that fire next by the clock, of projects that are not paused."""
    free = {project.slug: project for project in store.all() if not pausing.for_display(project)}
    armed = models.TriggerState.objects.filter(enabled=True, next_at__isnull=False)
    rows = list(armed.filter(project__in=free).order_by("next_at", "project", "name")[:NEXT])
    seen = {
        (slug, one.trigger.name): one
        for slug in {row.project for row in rows}
        for one in commands.list_triggers(free[slug])[0]
    }
    found = [(row.project, seen.get((row.project, row.name))) for row in rows]
    return [Next(project=slug, trigger=render.trigger(one)) for slug, one in found if one]
