"""Triggers over REST: list, read, replace, delete, run, convert, runtime, preview."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, TypedDict

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from config.errors import Invalid, Problem
from config.logs import timestamp
from config.network import MODES
from config.web import rest
from config.web.shapes import serializer
from workspace.api.answers import Warned, documented, principal
from workspace.projects import store
from workspace.projects.project import Project, default_zone
from workspace.projects.schema import PERMISSION_MODES
from workspace.servers import offered
from workspace.triggers import commands, pausing, render
from workspace.triggers.entries import catalogue, prompts, validate
from workspace.triggers.entries.schema import PROMPT_FOLDER, Schedule, TriggerBody
from workspace.triggers.schedule import clock


class TriggerList(TypedDict):
    paused: render.Pause | None
    triggers: list[render.Trigger]
    legacy: list[render.Trigger]
    invalid: list[render.InvalidEntry]
    grantableTools: list[dict[str, Any]]
    events: list[str]
    eventKinds: list[dict[str, Any]]
    triggerTypes: list[str]
    permissionModes: list[str]
    networks: list[str]
    promptFiles: list[str]
    timezone: str


class OneTrigger(TypedDict):
    trigger: render.Trigger


class SavedTrigger(Warned):
    trigger: render.Trigger
    created: bool


class RemovedTrigger(Warned):
    ok: bool
    name: str
    removed: bool


class StartedRun(TypedDict):
    ok: bool
    name: str
    sessionId: str
    runId: str
    state: str


class RuntimeList(TypedDict):
    paused: render.Pause | None
    runtime: list[render.Runtime]


class Switch(s.Serializer[Any]):
    paused = s.BooleanField(default=True)


class PausedProject(TypedDict):
    slug: str
    since: str | None


class PauseState(Warned):
    paused: render.Pause | None
    projects: list[PausedProject]


class InstanceSwitched(PauseState):
    ok: bool
    changed: bool


class Switched(Warned):
    ok: bool
    paused: render.Pause | None
    changed: bool


class PreviewQuery(s.Serializer[Any]):
    cron = rest.Text(required=False, allow_blank=True)
    interval = rest.Text(required=False, allow_blank=True)
    timezone = rest.Text(required=False, allow_blank=True)


class Preview(Warned):
    next: list[str]
    timezone: str


@extend_schema(tags=["triggers"])
class TriggerViewSet(rest.ViewSet):
    """`P/triggers…`, `P/schedules/:name/convert` and the preview of a schedule."""

    @documented(TriggerList, errors=(404,))
    def list(self, request: Request, slug: str) -> Response:
        """All triggers, legacy schedules and invalid entries, and the values a trigger may have."""
        project = store.get(slug)
        found, entries = commands.list_triggers(project)
        shown = [render.trigger(seen) for seen in found]
        answer: TriggerList = {
            "paused": render.pause(pausing.for_display(project)),
            "triggers": [one for one in shown if "legacy" not in one],
            "legacy": [one for one in shown if "legacy" in one],
            "invalid": render.invalid(entries),
            "grantableTools": [
                asdict(tool) for tool in (*catalogue.GRANTABLE, *_of_servers(project))
            ],
            "events": [*catalogue.EVENTS],
            "eventKinds": [asdict(kind) for kind in catalogue.EVENT_KINDS],
            "triggerTypes": [*catalogue.TRIGGER_TYPES],
            "permissionModes": [*PERMISSION_MODES],
            "networks": [*MODES],
            "promptFiles": prompts.names(project.own_dir, PROMPT_FOLDER),
            "timezone": project.effective("timezone"),
        }
        return Response(answer)

    @documented(RuntimeList, errors=(404,))
    def runtime(self, request: Request, slug: str) -> Response:
        """What is armed, queued and running, and when each trigger fires next; cheap to poll."""
        project = store.get(slug)
        paused = pausing.for_display(project)
        rows = render.runtimes(project, paused)
        return Response(RuntimeList(paused=render.pause(paused), runtime=rows))

    @documented(SavedTrigger, errors=(404,), body=serializer(TriggerBody))
    def reserved(self, request: Request, slug: str) -> Response:
        """Always refused: a trigger named `runtime` would have the same address as this route."""
        return self.update(request, slug, name="runtime")

    @documented(OneTrigger, errors=(404,))
    def retrieve(self, request: Request, slug: str, name: str) -> Response:
        """One trigger; the `ETag` is that of its own entry."""
        seen = commands.get(store.get(slug), name)
        return rest.with_etag(OneTrigger(trigger=render.trigger(seen)), seen.trigger.etag)

    @documented(SavedTrigger, errors=(404, 409, 412), body=serializer(TriggerBody))
    def update(self, request: Request, slug: str, name: str) -> Response:
        """Create or replace a trigger with a whole record. Honours `If-Match`; with
        `If-None-Match: *` an existing trigger is not replaced."""
        saved = commands.put(
            store.writable(slug),
            name,
            rest.body(request),
            if_match=rest.if_match(request),
            fresh=rest.fresh(request),
        )
        answer = SavedTrigger(trigger=render.trigger(saved.seen), created=saved.created)
        return rest.with_etag(
            rest.with_warnings(answer, saved.seen.warnings), saved.seen.trigger.etag
        )

    @documented(RemovedTrigger, errors=(404, 409, 412))
    def destroy(self, request: Request, slug: str, name: str) -> Response:
        """Delete and disarm a trigger; it is no error if there is none."""
        project = store.get(slug)
        removed = commands.remove(project, name, if_match=rest.if_match(request))
        warnings = commands.removal_warnings(project, name) if removed else []
        answer = RemovedTrigger(ok=True, name=name, removed=removed)
        return Response(rest.with_warnings(answer, warnings))

    @documented(StartedRun, status=202, errors=(404, 409, 502, 503))
    def run(self, request: Request, slug: str, name: str) -> Response:
        """Fire the trigger now, enabled or not; answers once the chat is made."""
        fired = commands.run(store.get(slug), name, principal=principal(request))
        answer = StartedRun(
            ok=True,
            name=name,
            sessionId=fired.run.session_id,
            runId=fired.run.id,
            state=fired.state,
        )
        return Response(answer, status=202)

    @documented(OneTrigger, errors=(404, 409))
    def convert(self, request: Request, slug: str, name: str) -> Response:
        """Convert a legacy schedule into a trigger; its grid and armed state are kept."""
        seen = commands.convert(store.get(slug), name)
        return rest.with_etag(OneTrigger(trigger=render.trigger(seen)), seen.trigger.etag)

    @documented(Switched, errors=(404, 409), body=Switch)
    def pause(self, request: Request, slug: str) -> Response:
        """Pause or resume all triggers of the project; they can still be run by hand."""
        body = rest.read(request, Switch)
        changed = pausing.pause(store.get(slug), paused=body.values["paused"])
        pause = render.pause(pausing.for_display(store.get(slug)))
        answer = Switched(ok=True, paused=pause, changed=changed)
        return Response(rest.with_warnings(answer, body.warnings))

    @documented(InstanceSwitched, errors=(409,), body=Switch)
    def pause_all(self, request: Request) -> Response:
        """Pause or resume all triggers of the instance."""
        body = rest.read(request, Switch)
        changed = pausing.pause_instance(paused=body.values["paused"])
        answer: InstanceSwitched = {"ok": True, "changed": changed, **_pauses()}
        return Response(rest.with_warnings(answer, body.warnings))

    @documented(PauseState)
    def paused(self, request: Request) -> Response:
        """The pauses of the instance and of projects."""
        return Response(_pauses())

    @documented(Preview, query=PreviewQuery)
    def preview(self, request: Request) -> Response:
        """The next three times of a schedule, which need not be saved."""
        asked = rest.query(request, PreviewQuery)
        findings = validate.Findings()
        zone = asked.get("timezone") or default_zone()
        if zone != default_zone():  # the host's own zone may have no name
            validate.check_zone(zone, findings)
        schedule = _schedule(asked.get("cron") or None, asked.get("interval") or None, findings)
        now, when = datetime.now(UTC), clock.with_zone(schedule.when, zone)
        first = clock.next_time(when, armed_at=now, after=now)
        times = clock.upcoming(when, armed_at=now, next_at=first)
        answer = Preview(next=[timestamp(time) for time in times], timezone=zone)
        return Response(rest.with_warnings(answer, findings.warnings))


def _pauses() -> PauseState:
    """The instance's pause, and the projects that are paused themselves."""
    own = {project.slug: pausing.of_data(project.data) for project in store.all()}
    rows = [PausedProject(slug=slug, since=one.since) for slug, one in own.items() if one]
    return PauseState(paused=render.pause(pausing.of_instance()), projects=rows)


def _schedule(cron: str | None, interval: str | None, findings: validate.Findings) -> Schedule:
    """The schedule of a preview; Invalid with the same text as for a save."""
    if (cron is None) == (interval is None):
        raise Invalid(
            [Problem("trigger", "give exactly one of cron and interval", 'interval "30m"')]
        )
    if cron is not None:
        validate.check_cron(cron, findings)
    if interval is not None:
        validate.check_interval(interval, findings)
    if findings.problems:
        raise Invalid(findings.problems)
    return Schedule(cron, interval)


def _of_servers(project: Project) -> list[catalogue.Tool]:
    """An entry for each MCP server that turns of the project are given, for all its tools."""
    return [
        catalogue.Tool(name, "servers", words) for name, words in offered.grantable(project).items()
    ]
