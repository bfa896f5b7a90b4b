"""Projects over REST: list, create, read, change (workspace.md 10)."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from config.kernel.logs import timestamp
from config.kernel.storage import database
from config.kernel.web import rest
from workspace import models, projects
from workspace.access import reach
from workspace.api import shapes
from workspace.api.answers import documented, perform, principal
from workspace.operations import REGISTRY
from workspace.project import CHANGELOG, OVERVIEW, Project
from workspace.schema import KEYS, STATUSES
from workspace.triggers import pausing

EFFECTIVE = [key for key in KEYS if key != "slug"]


class NewProject(s.Serializer[Any]):
    name = rest.Text()
    slug = rest.Text(max_length=64, required=False, allow_null=True)
    repo = rest.Text(max_length=2000, required=False, allow_null=True)
    summary = rest.Text(max_length=2000, required=False, allow_null=True, allow_blank=True)
    group = rest.Text(max_length=100, required=False, allow_null=True, allow_blank=True)
    status = rest.Text(required=False, allow_null=True, help_text=", ".join(STATUSES))


class ProjectPatch(s.Serializer[Any]):
    """Any of the project's keys; null removes one. Refusals name the key (workspace.md 2)."""

    name = s.CharField(required=False)
    status = s.ChoiceField(STATUSES, required=False, allow_null=True)
    summary = s.CharField(required=False, allow_null=True, allow_blank=True)
    group = s.CharField(required=False, allow_null=True, allow_blank=True)
    model = s.CharField(required=False, allow_null=True, allow_blank=True)
    permissionMode = s.CharField(required=False, allow_null=True)  # noqa: N815
    maxTurns = s.IntegerField(required=False, allow_null=True)  # noqa: N815
    network = s.JSONField(
        required=False,
        allow_null=True,
        help_text="off, guarded, host, or {mode, hostPorts, allow, deny}",
    )
    timezone = s.CharField(required=False, allow_null=True)


class ProjectList(shapes.Shape):
    projects = shapes.Project(many=True)
    elsewhere = shapes.Away(many=True)


class OneProject(shapes.Warned):
    project = shapes.Project()


class ProjectPage(shapes.Shape):
    project = shapes.Project()
    overview = s.CharField(allow_null=True)
    changelog = s.CharField(allow_null=True)


class AllRead(shapes.Shape):
    ok = s.BooleanField()
    changed = s.IntegerField()


class Clone(shapes.Shape):
    slug = s.CharField()
    name = s.CharField()
    step = s.CharField(allow_null=True, help_text="what git does: Receiving objects, …")
    percent = s.IntegerField(allow_null=True, help_text="of that step")
    startedAt = s.CharField()  # noqa: N815


class CloneList(shapes.Shape):
    clones = Clone(many=True)


class CloneStopped(shapes.Shape):
    ok = s.BooleanField()
    slug = s.CharField()


@extend_schema(tags=["projects"])
class CloneViewSet(rest.ViewSet):
    """`/api/clones`: projects in the making (workspace/cloning.py)."""

    @documented(CloneList)
    def list(self, request: Request) -> Response:
        """Repositories that are being cloned, and how far they are."""
        return Response(perform(request, "list_clones"))

    @documented(CloneStopped, errors=(404,))
    def destroy(self, request: Request, slug: str) -> Response:
        """Stop the clone that makes this project; nothing of it stays."""
        return Response(perform(request, "stop_clone", slug=slug))


@extend_schema(tags=["projects"])
class ProjectViewSet(rest.ViewSet):
    """`/api/projects` and `/api/projects/:slug`."""

    @documented(ProjectList)
    def list(self, request: Request) -> Response:
        """Every project by slug, broken ones with their error; and those of other homes."""
        found = REGISTRY.run("list_projects", principal(request))
        tallies = count()
        here = [view(project, tallies) for project in found.here]
        return Response({"projects": here, "elsewhere": [*map(asdict, found.elsewhere)]})

    @documented(OneProject, status=201, errors=(409,), body=NewProject)
    def create(self, request: Request) -> Response:
        """Make a project: an empty directory, or a clone of `repo`."""
        body = rest.read(request, NewProject)
        values = {key: value for key, value in body.values.items() if value not in (None, "")}
        if "group" in values:
            values["area"] = values.pop("group")
        project = REGISTRY.run("create_project", principal(request), **values)
        answer = {"project": view(project, count(project.slug))}
        return Response(rest.warned(answer, body.warnings), status=201)

    @documented(ProjectPage, errors=(404,))
    def retrieve(self, request: Request, slug: str) -> Response:
        """One project with its curated documents; `ETag` is that of project.yaml."""
        project = projects.get(slug)
        answer = {
            "project": view(project, count(slug)),
            "overview": projects.document_text(project, OVERVIEW),
            "changelog": projects.document_text(project, CHANGELOG),
        }
        return rest.tagged(answer, project.etag)

    @documented(OneProject, errors=(404, 409, 412), body=ProjectPatch)
    def partial_update(self, request: Request, slug: str) -> Response:
        """Change some keys of project.yaml; null removes one. Honours `If-Match`."""
        tag = rest.if_match(request)
        project, warnings = projects.update(slug, rest.body(request), if_match=tag)
        answer = {"project": view(project, count(slug))}
        return rest.tagged(rest.warned(answer, warnings), project.etag)

    @documented(AllRead, errors=(404, 409))
    def read(self, request: Request, slug: str) -> Response:
        """Every chat of the project was read."""
        return Response(perform(request, "mark_all_read", project=slug))


@dataclass(frozen=True, slots=True)
class Tallies:
    """What the database knows of each project, by slug."""

    counts: dict[str, Counter[str]]
    spoken: dict[str, datetime]  # the last message of any chat
    fires: dict[str, datetime]  # the next time of any trigger


COUNTS = (
    "chats", "archived", "running", "waiting", "triggers", "armed", "unread", "invalidTriggers",
)  # fmt: skip


def view(project: Project, tallies: Tallies) -> dict[str, Any]:
    """The Project shape: effective values, what is inherited, live counts."""
    tallies = _nothing() if project.taken else tallies  # they are those of the other project
    pause = pausing.of(project)
    fires = None if pause else tallies.fires.get(project.slug)
    shown: dict[str, Any] = {"slug": project.slug}
    shown |= {key: project.effective(key) for key in EFFECTIVE}
    shown |= {
        "repoBacked": project.repo_backed,
        "dir": str(project.dir),
        "workingDir": str(project.working_dir),
        "hasOverview": (project.dir / OVERVIEW).is_file(),
        "effectiveNetwork": reach.shown(project.network),
        "inherited": project.inherited,
        "paused": pause.wire() if pause else None,
        "nextRunAt": timestamp(fires) if fires else None,
        "changedAt": timestamp(_changed(project, tallies.spoken.get(project.slug))),
        "counts": {name: tally[project.slug] for name, tally in tallies.counts.items()},
    }
    if project.error:
        shown |= {"error": project.error, "errorLine": project.error_line}
    return rest.warned(shown, project.warnings)


def _changed(project: Project, spoken: datetime | None) -> datetime:
    """When a chat or project.yaml itself last changed."""
    written = datetime.fromtimestamp(int(project.stat.split(":")[0]) / 1e9, UTC)
    return max(written, spoken or written)


def count(slug: str | None = None) -> Tallies:
    """What there is of each kind by project, from the database alone; nothing while it is gone."""
    return database.unless_gone(lambda: _counted(slug), _nothing)


def _nothing() -> Tallies:
    return Tallies({name: Counter() for name in COUNTS}, spoken={}, fires={})


def _counted(slug: str | None) -> Tallies:
    only = Q() if slug is None else Q(project=slug)
    chats = models.Chat.objects.filter(only)
    states = models.TriggerState.objects.filter(only)
    turns = models.Turn.objects.filter(only)
    armed = states.filter(enabled=True, next_at__isnull=False)
    counted = (
        chats.filter(archived=False),
        chats.filter(archived=True),
        turns.filter(state="running"),
        turns.filter(state="queued"),
        states,
        armed,
        chats.filter(unread=True),
        models.InvalidEntry.objects.filter(only),
    )
    counts = {name: _tally(rows) for name, rows in zip(COUNTS, counted, strict=True)}
    by_project = chats.order_by().values_list("project")
    return Tallies(
        counts,
        spoken=dict(by_project.annotate(Max("updated"))),
        fires=dict(armed.order_by().values_list("project").annotate(Min("next_at"))),
    )


def _tally(rows: QuerySet[Any]) -> Counter[str]:
    return Counter(dict(rows.order_by().values_list("project").annotate(count=Count("*"))))
