"""Triggers over REST: list, read, replace, delete, run, convert, runtime, preview (spec 4.3)."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers as s
from rest_framework.request import Request
from rest_framework.response import Response

from config.kernel.errors import Invalid, Problem
from config.kernel.logs import timestamp
from config.kernel.web import rest
from config.network import MODES
from workspace import projects
from workspace.api import shapes
from workspace.api.answers import documented, perform, principal
from workspace.operations import REGISTRY
from workspace.operations.triggers import invalid
from workspace.project import default_zone
from workspace.schema import PERMISSION_MODES
from workspace.triggers import pausing, triggers
from workspace.triggers.entries import catalogue, prompts, validate
from workspace.triggers.entries.schema import PROMPT_FOLDER, Schedule
from workspace.triggers.schedule import clock


class TriggerList(shapes.Shape):
    paused = shapes.Pause(allow_null=True)
    triggers = shapes.Trigger(many=True)
    legacy = shapes.Trigger(many=True)
    invalid = s.ListField(child=s.DictField())
    grantableTools = s.ListField(child=s.DictField())  # noqa: N815
    events = s.ListField(child=s.CharField())
    triggerTypes = s.ListField(child=s.CharField())  # noqa: N815
    permissionModes = s.ListField(child=s.CharField())  # noqa: N815
    networks = s.ListField(child=s.CharField())
    promptFiles = s.ListField(child=s.CharField())  # noqa: N815
    timezone = s.CharField()


class OneTrigger(shapes.Shape):
    trigger = shapes.Trigger()


class SavedTrigger(shapes.Warned):
    trigger = shapes.Trigger()
    created = s.BooleanField()


class RemovedTrigger(shapes.Warned):
    ok = s.BooleanField()
    name = s.CharField()
    removed = s.BooleanField()


class StartedRun(shapes.Shape):
    ok = s.BooleanField()
    name = s.CharField()
    sessionId = s.CharField()  # noqa: N815
    runId = s.CharField()  # noqa: N815
    state = s.CharField()


class RuntimeList(shapes.Shape):
    paused = shapes.Pause(allow_null=True)
    runtime = shapes.Runtime(many=True)


class Switch(s.Serializer[Any]):
    paused = s.BooleanField(default=True)


class PausedProject(shapes.Shape):
    slug = s.CharField()
    since = s.CharField(allow_null=True)


class PauseState(shapes.Warned):
    paused = shapes.Pause(allow_null=True)
    projects = PausedProject(many=True)


class InstanceSwitched(PauseState):
    ok = s.BooleanField()
    changed = s.BooleanField()


class Switched(shapes.Warned):
    ok = s.BooleanField()
    paused = shapes.Pause(allow_null=True)
    changed = s.BooleanField()


class PreviewQuery(s.Serializer[Any]):
    cron = rest.Text(required=False, allow_blank=True)
    interval = rest.Text(required=False, allow_blank=True)
    timezone = rest.Text(required=False, allow_blank=True)


class Preview(shapes.Warned):
    next = s.ListField(child=s.CharField())
    timezone = s.CharField()


@extend_schema(tags=["triggers"])
class TriggerViewSet(rest.ViewSet):
    """`P/triggers…`, `P/schedules/:name/convert` and the preview of a schedule."""

    @documented(TriggerList, errors=(404,))
    def list(self, request: Request, slug: str) -> Response:
        """Every trigger, legacy schedules, invalid entries, and what a trigger may be made of."""
        found = REGISTRY.run("list_triggers", principal(request), project=slug)
        shown = [triggers.view(seen) for seen in found.seen]
        paused = pausing.of(projects.get(slug))
        return Response(
            {
                "paused": paused.wire() if paused else None,
                "triggers": [one for one in shown if "legacy" not in one],
                "legacy": [one for one in shown if "legacy" in one],
                "invalid": invalid(found.entries),
                "grantableTools": [asdict(tool) for tool in catalogue.GRANTABLE],
                "events": catalogue.EVENTS,
                "triggerTypes": catalogue.TRIGGER_TYPES,
                "permissionModes": PERMISSION_MODES,
                "networks": MODES,
                "promptFiles": prompts.names(projects.get(slug).working_dir, PROMPT_FOLDER),
                "timezone": projects.get(slug).effective("timezone"),
            }
        )

    @documented(RuntimeList, errors=(404,))
    def runtime(self, request: Request, slug: str) -> Response:
        """What is armed, queued and running, and when it fires next; cheap to poll."""
        project = projects.get(slug)
        paused = pausing.of(project)
        shown = paused.wire() if paused else None
        return Response({"paused": shown, "runtime": triggers.runtime(project, paused)})

    @documented(SavedTrigger, errors=(404,), body=shapes.TriggerBody)
    def reserved(self, request: Request, slug: str) -> Response:
        """Refused: a trigger of that name would have this route for its own."""
        return self.update(request, slug, name="runtime")

    @documented(OneTrigger, errors=(404,))
    def retrieve(self, request: Request, slug: str, name: str) -> Response:
        """One trigger; `ETag` is that of its entry alone."""
        seen = triggers.get(projects.get(slug), name)
        return rest.tagged({"trigger": triggers.view(seen)}, seen.trigger.etag)

    @documented(SavedTrigger, errors=(404, 409, 412), body=shapes.TriggerBody)
    def update(self, request: Request, slug: str, name: str) -> Response:
        """Create or replace a trigger with a whole record. Honours `If-Match`."""
        saved = triggers.put(
            projects.writable(slug),
            name,
            rest.body(request),
            if_match=rest.if_match(request),
        )
        answer = {"trigger": triggers.view(saved.seen), "created": saved.created}
        return rest.tagged(rest.warned(answer, saved.seen.warnings), saved.seen.trigger.etag)

    @documented(RemovedTrigger, errors=(404, 409, 412))
    def destroy(self, request: Request, slug: str, name: str) -> Response:
        """Delete and disarm; deleting what is absent is no error."""
        gone = REGISTRY.run(
            "remove_trigger",
            principal(request),
            project=slug,
            name=name,
            if_match=rest.if_match(request),
        )
        answer = {"ok": True, "name": name, "removed": gone.removed}
        return Response(rest.warned(answer, gone.warnings))

    @documented(StartedRun, status=202, errors=(404, 409, 502, 503))
    def run(self, request: Request, slug: str, name: str) -> Response:
        """Fire now, enabled or not; answers once the chat is made."""
        fired = REGISTRY.run("run_trigger", principal(request), project=slug, name=name)
        answer = {
            "ok": True,
            "name": name,
            "sessionId": fired.run.session_id,
            "runId": fired.run.id,
            "state": fired.state,
        }
        return Response(answer, status=202)

    @documented(OneTrigger, errors=(404, 409))
    def convert(self, request: Request, slug: str, name: str) -> Response:
        """Turn a legacy schedule into a trigger; its grid and armed state stay."""
        seen = triggers.convert(projects.get(slug), name)
        return rest.tagged({"trigger": triggers.view(seen)}, seen.trigger.etag)

    @documented(Switched, errors=(404, 409), body=Switch)
    def pause(self, request: Request, slug: str) -> Response:
        """Pause every trigger of the project, or let them go on; run now still works."""
        body = rest.read(request, Switch)
        done = perform(request, "pause_triggers", project=slug, paused=body.values["paused"])
        return Response(rest.warned(done, body.warnings))

    @documented(InstanceSwitched, errors=(409,), body=Switch)
    def pause_all(self, request: Request) -> Response:
        """Pause every trigger of the instance, or let them go on."""
        body = rest.read(request, Switch)
        done = perform(request, "pause_all_triggers", paused=body.values["paused"])
        return Response(rest.warned(done, body.warnings))

    @documented(PauseState)
    def paused(self, request: Request) -> Response:
        """What holds triggers back, in all and by project."""
        return Response(perform(request, "show_pauses"))

    @documented(Preview, query=PreviewQuery)
    def preview(self, request: Request) -> Response:
        """The next three times of a schedule that is not saved yet."""
        asked = rest.query(request, PreviewQuery)
        findings = validate.Findings()
        zone = asked.get("timezone") or default_zone()
        if zone != default_zone():  # the host's own may bear no name
            validate.check_zone(zone, findings)
        schedule = _schedule(asked.get("cron") or None, asked.get("interval") or None, findings)
        now, when = datetime.now(UTC), clock.armed(schedule.when, zone)
        first = clock.next_time(when, armed_at=now, after=now)
        times = clock.upcoming(when, armed_at=now, next_at=first)
        answer = {"next": [timestamp(time) for time in times], "timezone": zone}
        return Response(rest.warned(answer, findings.warnings))


def _schedule(cron: str | None, interval: str | None, findings: validate.Findings) -> Schedule:
    """The schedule somebody is still typing; Invalid with the sentence a save would give."""
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
