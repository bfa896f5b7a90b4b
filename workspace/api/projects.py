# ruff: noqa: N815 - the names are the JSON keys of the API
"""Projects over REST: list, create, read, change."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, NotRequired, TypedDict, cast

from django.db.models import Count, Max, Min, Q, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from config.logs import timestamp
from config.network import NetworkSetting
from config.storage import database
from config.web import palette, rest
from workspace import models, trash
from workspace.access import reach
from workspace.api.answers import Warned, documented, principal
from workspace.chats import spent, unread
from workspace.chats.spent import Spent
from workspace.chats.turns import questions
from workspace.chats.turns.states import BUSY
from workspace.projects import folders, project, store
from workspace.projects.project import CHANGELOG, OVERVIEW
from workspace.projects.schema import KEYS, STATUSES, PermissionMode, Status
from workspace.triggers import pausing, render
from workspace.worktrees import repository


class NewProject(s.Serializer[Any]):
    name = rest.Text()
    slug = rest.Text(max_length=64, required=False, allow_null=True)
    repo = rest.Text(max_length=2000, required=False, allow_null=True)
    path = rest.Text(
        max_length=4096,
        required=False,
        allow_null=True,
        help_text="a directory of this machine that agents are to work in, from / or ~/ on",
    )
    summary = rest.Text(max_length=2000, required=False, allow_null=True, allow_blank=True)
    group = rest.Text(max_length=100, required=False, allow_null=True, allow_blank=True)
    status = rest.Text(required=False, allow_null=True, help_text=", ".join(STATUSES))


class ProjectPatch(s.Serializer[Any]):
    """Any of the project's keys; null removes a key. Refusals name the key."""

    name = s.CharField(required=False)
    status = s.ChoiceField(STATUSES, required=False, allow_null=True)
    summary = s.CharField(required=False, allow_null=True, allow_blank=True)
    group = s.CharField(required=False, allow_null=True, allow_blank=True)
    model = s.CharField(required=False, allow_null=True, allow_blank=True)
    permissionMode = s.CharField(required=False, allow_null=True)
    maxTurns = s.IntegerField(required=False, allow_null=True)
    network = s.JSONField(
        required=False,
        allow_null=True,
        help_text="off, guarded, host, or {mode, hostPorts, allow, deny}",
    )
    mcpServers = s.JSONField(
        required=False,
        allow_null=True,
        help_text="{name: {command, args, env} or {url, headers}}, as project.yaml has it",
    )
    timezone = s.CharField(required=False, allow_null=True)
    path = s.CharField(required=False, allow_null=True)


class Link(TypedDict):
    label: str
    url: str


class Counts(TypedDict):
    chats: int
    archived: int
    running: int
    asking: int
    waiting: int
    triggers: int
    armed: int
    unread: int
    invalidTriggers: int


class Network(TypedDict):
    """What the turns of a project may reach; a host must match each list of `allow`."""

    mode: Annotated[str, "off, guarded, host"]
    hostPorts: list[int]
    allow: list[list[str]]
    deny: list[str]


class Effective(Warned):
    """The keys of project.yaml, each with its value in effect, and what is wrong with the file."""

    name: str
    status: Status
    summary: str
    group: str
    domain: list[str]
    links: list[Link]
    visibility: str
    pinned: list[str]
    started: str
    updated: str
    engine: str
    model: str
    models: list[str]
    permissionMode: PermissionMode
    maxTurns: int
    maxSpawnDepth: int
    hooksMcpEnabled: bool
    curation: dict[str, Any]
    repo: str
    path: Annotated[str, "the directory of yours that its agents work in"]
    turnEnv: list[str]
    instructions: str
    readInstructions: bool
    mcpServers: Annotated[dict[str, Any], "those of project.yaml that can be used"]
    network: Annotated[Any, "as project.yaml has it, else the instance's word"]
    timezone: str
    error: NotRequired[str]
    errorLine: NotRequired[int | None]


class Project(Effective):
    slug: str
    repoBacked: bool
    dir: str
    workingDir: str
    workingDirProblem: Annotated[str | None, "why no turn runs there now"]
    sharedWith: Annotated[list[str], "other projects that work at the same path"]
    repository: Annotated[bool, "whether git is in it"]
    worktrees: Annotated[
        bool, "whether it lies in a repository, so that a chat can have a worktree"
    ]
    hasOverview: bool
    effectiveNetwork: Network
    inherited: list[str]
    paused: render.Pause | None
    nextRunAt: str | None
    changedAt: str
    counts: Counts


class Away(TypedDict):
    """A project that lives in another projects directory, and a node that has it."""

    slug: str
    name: str
    node: str | None
    url: str | None
    alive: Annotated[bool, "whether that host is heard of"]


class ProjectList(TypedDict):
    projects: list[Project]
    elsewhere: list[Away]


class OneProject(Warned):
    project: Project


class ProjectPage(TypedDict):
    project: Project
    overview: str | None
    changelog: str | None
    spent: Spent


class AllRead(TypedDict):
    ok: bool
    changed: int


class DeletedProject(TypedDict):
    ok: bool
    slug: str
    name: str
    deletedAt: str


@extend_schema(tags=["projects"])
class ProjectViewSet(rest.ViewSet):
    """`/api/projects` and `/api/projects/:slug`."""

    @documented(ProjectList)
    def list(self, request: Request) -> Response:
        """All projects by slug, broken ones with their error, and the projects of other homes."""
        return Response(list_projects())

    @documented(OneProject, status=201, errors=(409,), body=NewProject)
    def create(self, request: Request) -> Response:
        """Make a project: an empty directory, a clone of `repo`, or one that works at `path`."""
        body = rest.read(request, NewProject)
        values = {key: value for key, value in body.values.items() if value not in (None, "")}
        made = store.create(principal=principal(request), **values)
        answer = OneProject(project=view(made, count(made.slug)))
        return Response(rest.with_warnings(answer, body.warnings), status=201)

    @documented(ProjectPage, errors=(404,))
    def retrieve(self, request: Request, slug: str) -> Response:
        """One project with its curated documents; the `ETag` is that of project.yaml."""
        found = store.get(slug)
        answer = ProjectPage(
            project=view(found, count(slug)),
            overview=store.document_text(found, OVERVIEW),
            changelog=store.document_text(found, CHANGELOG),
            spent=_spent_record(slug),
        )
        return rest.with_etag(answer, found.etag)

    @documented(OneProject, errors=(404, 409, 412), body=ProjectPatch)
    def partial_update(self, request: Request, slug: str) -> Response:
        """Change some keys of project.yaml; null removes a key. Honours `If-Match`."""
        tag = rest.if_match(request)
        changed, warnings = store.update(slug, rest.body(request), if_match=tag)
        answer = OneProject(project=view(changed, count(slug)))
        return rest.with_etag(rest.with_warnings(answer, warnings), changed.etag)

    @documented(palette.DestinationList, errors=(404,))
    def around(self, request: Request, slug: str) -> Response:
        """What other parts have in its working directory: stacks and running apps."""
        at = store.working_dir(store.get(slug).slug)
        return Response({"places": palette.around(request, at.resolve()) if at else []})

    @documented(DeletedProject, errors=(404, 409))
    def destroy(self, request: Request, slug: str) -> Response:
        """Move the project and its files to the trash; refused while turns run or wait in it.

        A directory of yours in which it works is not touched."""
        gone = trash.delete(slug)
        deleted = timestamp(gone.deleted)
        return Response(DeletedProject(ok=True, slug=slug, name=gone.name, deletedAt=deleted))

    @documented(AllRead, errors=(404, 409))
    def read(self, request: Request, slug: str) -> Response:
        """Mark every chat of the project as read."""
        return Response(AllRead(ok=True, changed=unread.mark_all([store.get(slug)])))


def list_projects() -> ProjectList:
    here, tallies, places = store.all_with_taken(), count(), store.working_at()
    known = {project.slug for project in here}
    away = [_away(one) for one in store.elsewhere() if one.slug not in known]
    rows = [view(found, tallies, places) for found in here]
    return ProjectList(projects=rows, elsewhere=away)


@dataclass(frozen=True, slots=True)
class Tallies:
    """What the database knows of each project, by slug."""

    counts: dict[str, Counter[str]]
    spoken: dict[str, datetime]  # time of the last message of any chat
    fires: dict[str, datetime]  # the next time of any trigger


def view(
    found: project.Project,
    tallies: Tallies,
    places: Mapping[Path, list[str]] | None = None,
) -> Project:
    """A project as clients read it. Pass `places`, slugs by working directory, to show many
    projects."""
    tallies = _nothing() if found.taken else tallies  # they count the other project
    pause = pausing.for_display(found)
    fires = None if pause else tallies.fires.get(found.slug)
    effective = {key: found.effective(key) for key in KEYS if key != "slug"}
    counts = {name: tally[found.slug] for name, tally in tallies.counts.items()}
    place = found.place
    shared = _sharing(found, place, places)
    shown: Project = {
        "slug": found.slug,
        **cast("Effective", effective),
        "repoBacked": found.repo_backed,
        "dir": str(found.dir),
        "workingDir": str(place.dir),
        "workingDirProblem": place.problem or None,
        "sharedWith": shared,
        "repository": not place.problem and os.path.lexists(place.dir / ".git"),
        "worktrees": not place.problem and repository.top_of(place.dir) is not None,
        "hasOverview": (found.dir / OVERVIEW).is_file(),
        "effectiveNetwork": _network(found.network),
        "inherited": found.inherited,
        "paused": render.pause(pause),
        "nextRunAt": timestamp(fires) if fires else None,
        "changedAt": timestamp(_changed_at(found, tallies.spoken.get(found.slug))),
        "counts": cast("Counts", counts),
    }
    if found.error:
        shown |= {"error": found.error, "errorLine": found.error_line}
    if warnings := [*found.warnings, *_told_shared(shared)]:
        shown["warnings"] = warnings
    return shown


def _sharing(
    found: project.Project, place: folders.WorkingDirectory, places: Mapping[Path, list[str]] | None
) -> list[str]:
    """Slugs of the other projects that work at the same path."""
    if not place.apart or place.problem:
        return []
    at = store.working_at() if places is None else places
    return [slug for slug in at.get(place.dir, []) if slug != found.slug]


def _told_shared(slugs: list[str]) -> list[str]:
    named = ", ".join(slugs)
    return [f"path: {named} works there as well; their turns may meet in a file"] if slugs else []


def _network(setting: NetworkSetting) -> Network:
    holds = reach.network(setting)
    return {
        "mode": holds.mode,
        "hostPorts": list(holds.ports),
        "allow": [list(hosts) for hosts in holds.allow],
        "deny": list(holds.deny),
    }


def _away(one: project.Away) -> Away:
    return {
        "slug": one.slug,
        "name": one.name,
        "node": one.node,
        "url": one.url,
        "alive": one.alive,
    }


def _changed_at(found: project.Project, spoken: datetime | None) -> datetime:
    """When a chat or project.yaml itself last changed."""
    written = datetime.fromtimestamp(int(found.stat.split(":")[0]) / 1e9, UTC)
    return max(written, spoken or written)


def count(slug: str | None = None) -> Tallies:
    """Counts by project, only from the database; empty while it is gone."""
    return database.unless_gone(lambda: _tallies(slug), _nothing)


def _spent_record(slug: str) -> Spent:
    """Tokens and cost of the chats of a project, by their index rows."""
    chats = models.Chat.objects.filter(project=slug).order_by()
    rows: list[tuple[Any, float | None]] = database.unless_gone(
        lambda: list(chats.values_list("usage", "cost")), list
    )
    usage: dict[str, Any] | None = None
    cost: float | None = None
    for one, price in rows:
        usage, cost = spent.add_usage(usage, one), spent.add_cost(cost, price)
    return {"usage": spent.render_usage(usage), "cost": cost}


def _nothing() -> Tallies:
    return Tallies({name: Counter() for name in Counts.__annotations__}, spoken={}, fires={})


def _tallies(slug: str | None) -> Tallies:
    only = Q() if slug is None else Q(project=slug)
    chats = models.Chat.objects.filter(only)
    states = models.TriggerState.objects.filter(only)
    turns = models.Turn.objects.filter(only)
    armed = states.filter(enabled=True, next_at__isnull=False)
    counted = {
        "chats": chats.filter(archived=False),
        "archived": chats.filter(archived=True),
        "running": turns.filter(state__in=BUSY),
        "asking": questions.asking().filter(only),
        "waiting": turns.filter(state="queued"),
        "triggers": states,
        "armed": armed,
        "unread": chats.filter(unread=True),
        "invalidTriggers": models.InvalidEntry.objects.filter(only),
    }
    counts = {name: _tally(rows) for name, rows in counted.items()}
    by_project = chats.order_by().values_list("project")
    return Tallies(
        counts,
        spoken=dict(by_project.annotate(Max("updated"))),
        fires=dict(armed.order_by().values_list("project").annotate(Min("next_at"))),
    )


def _tally(rows: QuerySet[Any]) -> Counter[str]:
    return Counter(dict(rows.order_by().values_list("project").annotate(count=Count("*"))))
