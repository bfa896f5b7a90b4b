"""What a trigger is: WHEN it fires, WHAT it runs, and whether it is armed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal, NotRequired, TypedDict, cast, get_args

import orjson

from config import zones
from workspace.triggers.schedule import clock
from workspace.triggers.schedule import interval as intervals

PROMPT_FOLDER, LEGACY_FOLDER = ".svc/triggers", ".svc/schedules"  # of prompt files
DEBOUNCE = "30s"  # how long happenings are gathered if a trigger names no time
MAX_TURNS = 30  # of a firing whose trigger names no number

Session = Literal["new", "resume"]
OnAsk = Literal["deny", "wait"]
ON_ASK: tuple[OnAsk, ...] = get_args(OnAsk)


class When(TypedDict):
    type: Literal["schedule", "event", "webhook"]
    cron: NotRequired[str]
    interval: NotRequired[str]
    on: NotRequired[str]
    path: NotRequired[str]
    catchUp: NotRequired[str]
    timezone: NotRequired[str]


class What(TypedDict):
    prompt: NotRequired[str]
    promptFile: NotRequired[str]
    session: NotRequired[str]
    tools: NotRequired[list[str]]
    model: NotRequired[str]
    permissionMode: NotRequired[str]
    network: NotRequired[str]
    maxTurns: NotRequired[int]
    backoff: NotRequired[bool]
    onAsk: NotRequired[str]
    maxSpawnDepth: NotRequired[int]
    overlap: NotRequired[str]
    debounce: NotRequired[str]
    match: NotRequired[list[str]]


class TriggerBody(TypedDict):
    """A whole trigger record: what is left out is not kept."""

    trigger: When
    run: What
    enabled: NotRequired[bool]
    clients: NotRequired[list[str]]


@dataclass(frozen=True, slots=True)
class Schedule:
    """A time pattern: exactly one of cron and interval."""

    cron: str | None = None
    interval: str | None = None
    catch_up: str | None = None  # skip or once; absent = once
    timezone: str | None = None  # of a cron; absent = the project's zone

    type = "schedule"

    @property
    def when(self) -> str:
        """When it fires, in one line."""
        if self.cron is not None:
            return f"cron {' '.join(self.cron.split()).lower()}"
        return f"interval {intervals.canonical(self.interval or '')}"


@dataclass(frozen=True, slots=True)
class Event:
    """An event of catalogue.EVENTS."""

    on: str

    type, timezone = "event", None

    @property
    def when(self) -> str:
        return f"event {self.on}"


@dataclass(frozen=True, slots=True)
class Webhook:
    """Reserved: stored, never fired."""

    path: str | None = None

    type, timezone = "webhook", None
    when = "webhook"


@dataclass(frozen=True, slots=True)
class Run:
    """What a firing runs. None = not specified: the project or the default decides."""

    prompt: str | None = None
    prompt_file: str | None = None
    session: Session = "new"
    tools: tuple[str, ...] = ()
    model: str | None = None
    permission_mode: str | None = None
    network: str | None = None
    max_turns: int | None = None
    max_spawn_depth: int | None = None
    overlap: str | None = None
    backoff: bool | None = None
    debounce: str | None = None
    match: tuple[str, ...] = ()
    on_ask: OnAsk | None = None  # absent = deny


@dataclass(frozen=True, slots=True)
class Trigger:
    """One valid entry of `triggers`, or of the older `schedules` (legacy)."""

    name: str
    when: Schedule | Event | Webhook
    run: Run
    enabled: bool = False
    legacy: bool = False
    line: int | None = None
    clients: tuple[str, ...] = ()  # the clients that stored it: their scopes bound what it fires
    zone: str = field(default=zones.UTC, compare=False)  # in force: its own, the project's, …
    warnings: tuple[str, ...] = field(default=(), compare=False)

    @property
    def type(self) -> str:
        return self.when.type

    @property
    def armed(self) -> str:
        """When it fires, and in which zone, in one line; only a change of this re-arms it."""
        return clock.with_zone(self.when.when, self.zone)

    @property
    def needs_zone(self) -> bool:
        """Whether it is a cron that names no zone itself."""
        return isinstance(self.when, Schedule) and bool(self.when.cron) and not self.when.timezone

    @property
    def overlap(self) -> str:
        """Schedules skip by default; events queue, because each names a different chat."""
        return self.run.overlap or ("skip" if self.type == "schedule" else "queue")

    @property
    def backs_off(self) -> bool:
        """Whether it is tried less often while it fails; an event has no later time to wait for."""
        return self.type == "schedule" and self.run.backoff is not False

    @property
    def catch_up(self) -> str:
        return (self.when.catch_up if isinstance(self.when, Schedule) else None) or "once"

    @property
    def debounce(self) -> timedelta:
        """How long happenings are gathered before it fires."""
        written = self.run.debounce or DEBOUNCE
        return timedelta(0) if written == "0s" else intervals.parse(written)

    @property
    def curates(self) -> bool:
        """Whether it is an afterTurn entry: it customises the curator and never fires as a hook."""
        return isinstance(self.when, Event) and self.when.on == "afterTurn"

    @property
    def own_agent(self) -> bool:
        """Whether the turn runs as the project's agent with all its tools."""
        return self.legacy or (self.type == "schedule" and not self.run.tools)

    @property
    def prompt_folder(self) -> str:
        return LEGACY_FOLDER if self.legacy else PROMPT_FOLDER

    @property
    def etag(self) -> str:
        """A hash of this entry alone, so that an edit of another trigger does not make it stale."""
        return hashlib.sha256(orjson.dumps(record(self))).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class InvalidEntry:
    """A hand-written entry that cannot be used; it stays in the file untouched."""

    name: str
    error: str
    line: int
    legacy: bool = False


def agent_name(project: str, trigger: str) -> str:
    return f"trigger-{project}-{trigger}"


def record(trigger: Trigger) -> TriggerBody:
    """The full record `{trigger, run, enabled}`, with `clients` if there are any: defaults filled
    in, absent optional keys left out."""
    when, run = _when(trigger.when), _run(trigger.run)
    whole = TriggerBody(trigger=when, run=run, enabled=trigger.enabled)
    if trigger.clients:
        whole["clients"] = list(trigger.clients)
    return whole


def stored_record(trigger: Trigger) -> TriggerBody:
    """The record as project.yaml holds it: without an empty tool list or a default session."""
    full = record(trigger)
    if trigger.run.session == "new":
        del full["run"]["session"]
    if not trigger.run.tools:
        del full["run"]["tools"]
    return full


def _when(when: Schedule | Event | Webhook) -> When:
    match when:
        case Schedule():
            fields = {"cron": when.cron, "interval": when.interval, "catchUp": when.catch_up}
            fields["timezone"] = when.timezone
        case Event():
            fields = {"on": when.on}
        case Webhook():
            fields = {"path": when.path}
    given = {key: value for key, value in fields.items() if value is not None}
    return cast("When", {"type": when.type, **given})


def _run(run: Run) -> What:
    fields: dict[str, Any] = {
        "prompt": run.prompt,
        "promptFile": run.prompt_file,
        "session": run.session,
        "tools": list(run.tools),
        "model": run.model,
        "permissionMode": run.permission_mode,
        "network": run.network,
        "maxTurns": run.max_turns,
        "maxSpawnDepth": run.max_spawn_depth,
        "overlap": run.overlap,
        "backoff": run.backoff,
        "debounce": run.debounce,
        "match": list(run.match) or None,
        "onAsk": run.on_ask,
    }
    return cast("What", {key: value for key, value in fields.items() if value is not None})
