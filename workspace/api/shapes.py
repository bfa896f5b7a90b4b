# ruff: noqa: N815 - the names are the JSON keys of the contract
"""The JSON shapes of workspace.md 10, as the OpenAPI description shows them.

They describe; the nouns and the `view` functions of this package make the values, and the suite
checks every answer against these shapes.
"""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers as s

from workspace.schema import PERMISSION_MODES, STATUSES

RUN_STATUSES = ("queued", "running", "completed", "failed", "cancelled", "interrupted", "skipped")
CAUSES = ("cron", "interval", "event", "catch-up", "manual", "api")


@extend_schema_serializer(many=False)  # a list is always inside an object
class Shape(s.Serializer[Any]):
    """A JSON object of the answer."""


class Warned(Shape):
    """An answer that may tell what of the request had no effect."""

    warnings = s.ListField(child=s.CharField(), required=False)


class Problem(Shape):
    field = s.CharField()
    reason = s.CharField()
    example = s.CharField(allow_null=True)


class Error(Shape):
    """Every refusal, on every route."""

    error = s.CharField()
    code = s.CharField()
    errors = Problem(many=True, required=False)  # type: ignore[assignment]
    runId = s.CharField(required=False)


class Link(Shape):
    label = s.CharField()  # type: ignore[assignment] # a field, not the field label
    url = s.CharField()


class Counts(Shape):
    chats = s.IntegerField()
    archived = s.IntegerField()
    running = s.IntegerField()
    waiting = s.IntegerField()
    triggers = s.IntegerField()
    armed = s.IntegerField()
    unread = s.IntegerField()
    invalidTriggers = s.IntegerField()


class Pause(Shape):
    """What holds triggers back; `since` is null when whoever wrote it did not say."""

    by = s.ChoiceField(("project", "instance", "status"))
    since = s.CharField(allow_null=True)
    status = s.CharField(required=False)


class Network(Shape):
    """What the turns of a project may reach; a host has to be in each list of `allow`."""

    mode = s.CharField(help_text="off, guarded, host")
    hostPorts = s.ListField(child=s.IntegerField())
    allow = s.ListField(child=s.ListField(child=s.CharField()))
    deny = s.ListField(child=s.CharField())


class Project(Shape):
    slug = s.CharField()
    name = s.CharField()
    status = s.ChoiceField(STATUSES)
    summary = s.CharField(allow_blank=True)
    group = s.CharField(allow_blank=True)
    domain = s.ListField(child=s.CharField())
    visibility = s.CharField()
    started = s.CharField(allow_blank=True)
    updated = s.CharField(allow_blank=True)
    links = Link(many=True)
    pinned = s.ListField(child=s.CharField())
    engine = s.CharField(allow_blank=True)
    model = s.CharField(allow_blank=True)
    models = s.ListField(child=s.CharField())
    permissionMode = s.ChoiceField(PERMISSION_MODES)
    maxTurns = s.IntegerField()
    maxSpawnDepth = s.IntegerField()
    hooksMcpEnabled = s.BooleanField()
    curation = s.DictField()
    turnEnv = s.ListField(child=s.CharField())
    network = s.JSONField(help_text="as project.yaml has it, else the instance's word")
    effectiveNetwork = Network()
    timezone = s.CharField()
    repo = s.CharField(allow_blank=True)
    repoBacked = s.BooleanField()
    dir = s.CharField()
    workingDir = s.CharField()
    hasOverview = s.BooleanField()
    inherited = s.ListField(child=s.CharField())
    paused = Pause(allow_null=True)
    nextRunAt = s.CharField(allow_null=True)
    changedAt = s.CharField()
    counts = Counts()
    error = s.CharField(required=False)
    errorLine = s.IntegerField(required=False, allow_null=True)
    warnings = s.ListField(child=s.CharField(), required=False)


class Away(Shape):
    """A project that lives in another projects directory, and a host that runs it."""

    slug = s.CharField()
    name = s.CharField()
    node = s.CharField(allow_null=True)
    url = s.CharField(allow_null=True)
    alive = s.BooleanField(help_text="whether that host is heard of")


class RunningTurn(Shape):
    id = s.CharField()
    startedAt = s.CharField(allow_null=True)
    runId = s.CharField(allow_null=True)


class LastTurn(Shape):
    status = s.CharField()
    reason = s.CharField(allow_null=True)
    finishedAt = s.CharField(allow_null=True)


class Provenance(Shape):
    origin = s.CharField()
    depth = s.IntegerField()
    parentSessionId = s.CharField(required=False)
    parentProject = s.CharField(required=False)


class FiredBy(Shape):
    name = s.CharField(allow_null=True)
    type = s.CharField(allow_null=True)
    cause = s.CharField(allow_null=True)
    agentName = s.CharField(allow_null=True)
    tools = s.ListField(child=s.CharField(), allow_null=True)
    permissionMode = s.CharField(allow_null=True)
    network = s.CharField(allow_null=True, help_text="as its run.network says")
    model = s.CharField(allow_null=True)
    maxTurns = s.IntegerField(allow_null=True)
    runId = s.CharField(allow_null=True)


class Usage(Shape):
    inputTokens = s.IntegerField(allow_null=True)
    outputTokens = s.IntegerField(allow_null=True)
    cacheReadTokens = s.IntegerField(allow_null=True)
    cacheWriteTokens = s.IntegerField(allow_null=True)
    totalTokens = s.IntegerField(allow_null=True)


class Host(Shape):
    host = s.CharField()
    port = s.IntegerField()
    refused = s.BooleanField()


class Chat(Shape):
    sessionId = s.CharField()
    project = s.CharField()
    name = s.CharField()
    preview = s.CharField(allow_blank=True)
    createdAt = s.CharField()
    updatedAt = s.CharField()
    archived = s.BooleanField()
    running = s.BooleanField()
    queued = s.IntegerField()
    held = s.IntegerField()
    unread = s.BooleanField()
    turn = RunningTurn(allow_null=True)
    lastTurn = LastTurn(allow_null=True)
    provenance = Provenance()
    client = s.CharField(allow_null=True)
    trigger = FiredBy(allow_null=True)
    engine = s.CharField(allow_null=True)
    model = s.CharField(allow_null=True)
    usage = Usage(allow_null=True)
    messages = s.IntegerField()
    hosts = Host(many=True, required=False)
    error = s.CharField(required=False)
    damagedLines = s.IntegerField(required=False)


class QueueRow(Shape):
    id = s.CharField()
    state = s.CharField()
    position = s.IntegerField()
    prompt = s.CharField()
    model = s.CharField(allow_null=True)
    sender = s.DictField()
    createdAt = s.CharField()
    reason = s.CharField(required=False, allow_null=True)


class ToolCall(Shape):
    name = s.CharField()
    target = s.CharField(allow_blank=True, allow_null=True)
    ok = s.BooleanField(allow_null=True)
    durationMs = s.IntegerField(allow_null=True)
    input = s.JSONField()
    output = s.CharField(allow_blank=True, allow_null=True)
    truncated = s.BooleanField()


class Message(Shape):
    uuid = s.CharField()
    offset = s.IntegerField()
    role = s.ChoiceField(("user", "assistant", "tool", "notice"))
    content = s.CharField(allow_blank=True)
    timestamp = s.CharField()
    turnId = s.CharField()
    sender = s.DictField(required=False)
    toolCall = ToolCall(required=False)
    usage = Usage(required=False)


class When(Shape):
    type = s.ChoiceField(("schedule", "event", "webhook"))
    cron = s.CharField(required=False)
    interval = s.CharField(required=False)
    on = s.CharField(required=False)
    path = s.CharField(required=False)
    catchUp = s.CharField(required=False)
    timezone = s.CharField(required=False)


class What(Shape):
    prompt = s.CharField(required=False)
    promptFile = s.CharField(required=False)
    session = s.CharField(required=False)
    tools = s.ListField(child=s.CharField(), required=False)
    model = s.CharField(required=False)
    permissionMode = s.CharField(required=False)
    network = s.CharField(required=False)
    maxTurns = s.IntegerField(required=False)
    backoff = s.BooleanField(required=False)
    maxSpawnDepth = s.IntegerField(required=False)
    overlap = s.CharField(required=False)


class TriggerBody(Shape):
    """A whole trigger record: what is left out is not kept."""

    trigger = When()
    run = What()
    enabled = s.BooleanField(required=False)
    clients = s.ListField(child=s.CharField(), required=False)


class Run(Shape):
    id = s.CharField()
    project = s.CharField()
    trigger = s.CharField(allow_null=True)
    triggerType = s.CharField(allow_null=True)
    kind = s.ChoiceField(("trigger", "legacy", "curation"))
    cause = s.ChoiceField(CAUSES)
    actor = s.DictField()
    client = s.CharField(allow_null=True)
    event = s.DictField(allow_null=True)
    scheduledFor = s.CharField(allow_null=True)
    queuedAt = s.CharField()
    startedAt = s.CharField(allow_null=True)
    finishedAt = s.CharField(allow_null=True)
    durationSeconds = s.FloatField(allow_null=True)
    status = s.ChoiceField(RUN_STATUSES)
    reason = s.CharField(allow_null=True)
    sessionId = s.CharField(allow_null=True)
    chatDeleted = s.BooleanField(required=False)
    agentName = s.CharField(allow_null=True)
    engine = s.CharField(allow_null=True)
    model = s.CharField(allow_null=True)
    turns = s.IntegerField(allow_null=True)
    tools = s.ListField(child=s.DictField(), allow_null=True)
    usage = Usage(allow_null=True)
    costUsd = s.FloatField(allow_null=True)
    summary = s.CharField(allow_null=True)
    missed = s.IntegerField(allow_null=True)
    skips = s.IntegerField(allow_null=True)
    lastScheduledFor = s.CharField(allow_null=True)


class Runtime(Shape):
    name = s.CharField()
    type = s.CharField()
    enabled = s.BooleanField()
    running = s.BooleanField()
    queued = s.IntegerField()
    nextRunAt = s.CharField(allow_null=True)
    nextRuns = s.ListField(child=s.CharField())
    timezone = s.CharField(allow_null=True, help_text="in which a schedule is read")
    scheduleStatus = s.CharField(allow_null=True)
    lastError = s.CharField(allow_null=True)
    lastRun = Run(allow_null=True)
    paused = Pause(allow_null=True)
    legacy = s.BooleanField(required=False)


class Trigger(TriggerBody):
    name = s.CharField()
    agentName = s.CharField()
    legacy = s.BooleanField(required=False)
    warnings = s.ListField(child=s.CharField(), required=False)
    runtime = Runtime()
