"""Runs over REST: list those of one or all projects, read one, cancel one."""

from __future__ import annotations

from typing import Any, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from config.web import rest
from workspace.api.answers import Page, documented
from workspace.chats import files
from workspace.models import Run
from workspace.projects import store
from workspace.triggers import render, runs


class ProjectRunsQuery(Page):
    trigger = rest.Text(required=False, allow_blank=True)
    status = s.ChoiceField(render.STATUSES, required=False, allow_blank=True)
    cause = s.ChoiceField(render.CAUSES, required=False, allow_blank=True)
    client = rest.Text(required=False, allow_blank=True)
    q = rest.Text(
        required=False,
        allow_blank=True,
        max_length=200,
        help_text="words in the trigger, the reason or the summary; a page may be short while "
        "`next` is given",
    )
    since = s.DateTimeField(required=False)
    until = s.DateTimeField(required=False)


class RunsQuery(ProjectRunsQuery):
    project = rest.Text(required=False, allow_blank=True)


class RunList(TypedDict):
    runs: list[render.Run]
    next: str | None


class OneRun(TypedDict):
    run: render.Run


class Cancelled(TypedDict):
    ok: bool
    cancelled: bool


@extend_schema(tags=["runs"])
class RunViewSet(rest.ViewSet):
    """`P/runs`, `/api/runs` and `/api/runs/:runId`."""

    @documented(RunList, query=RunsQuery)
    def list(self, request: Request) -> Response:
        """Runs of all projects, newest first."""
        return Response(page(**rest.query(request, RunsQuery)))

    @documented(RunList, query=ProjectRunsQuery, errors=(404,))
    def of_project(self, request: Request, slug: str) -> Response:
        """Runs of one project, newest first."""
        store.get(slug)
        asked = rest.query(request, ProjectRunsQuery)
        return Response(page(**asked | {"project": slug}))

    @documented(OneRun, errors=(404,))
    def retrieve(self, request: Request, run_id: str) -> Response:
        """One run: which trigger fired, why, and how it ended."""
        return Response(OneRun(run=_render(runs.get(run_id))))

    @documented(Cancelled, errors=(404,))
    def cancel(self, request: Request, run_id: str) -> Response:
        """Cancel a queued or running run."""
        return Response(Cancelled(ok=True, cancelled=runs.cancel(run_id)))


def page(**asked: Any) -> RunList:
    found, following = runs.list(**asked)
    return RunList(runs=[_render(run) for run in found], next=following)


def _render(run: Run) -> render.Run:
    """The run as clients read it, and whether its chat was deleted."""
    shown = render.run(run)
    if run.session_id and not files.exists(run.project, run.session_id):
        shown["chatDeleted"] = True
    return shown
