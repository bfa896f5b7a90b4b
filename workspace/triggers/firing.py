"""Firing: the one path from a trigger to a turn, whatever asked for it.

`fire` records, `start` checks, creates the chat and queues the turn. A run is started at most once:
its start is claimed by a conditional update, and the turn is queued in the same transaction that
names its chat in the run. See docs/design/workspace.md#what-a-firing-is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q

from config.errors import Conflict, NotFound, SvcError
from config.storage import database, homes, locks
from workspace import ids
from workspace.access import clients
from workspace.chats import actions
from workspace.chats import files as chat_files
from workspace.models import Run, TriggerState, Turn
from workspace.projects import store
from workspace.projects.project import Project
from workspace.triggers import admission, causes, pausing, runs, telling
from workspace.triggers.entries import files, preflight, prompts
from workspace.triggers.entries.schema import MAX_TURNS, Event, Trigger, agent_name

NO_CHAT = "no chat within 60 s"
ASKED = ("manual", "api")  # causes of a requested firing, whatever the trigger itself waits for
FOLDED = (
    admission.BUSY, *admission.FULL.values(), admission.FAILING, admission.LOOP, admission.OFTEN,
    admission.OUTSIDE, *pausing.REASONS,
)  # fmt: skip


class NoChat(Exception):
    """The firing starts no chat; the text is the reason, a sentence without server paths."""


class Lost(Exception):
    """The run was cancelled or recovered while it was being started."""


def new_run(
    project: str,
    trigger: Trigger,
    *,
    cause: str,
    now: datetime,
    actor: Mapping[str, Any] | None = None,
    client: str = "",
    clients: Iterable[str] = (),
    spawn_cap: int | None = None,
    scheduled_for: datetime | None = None,
    event: Mapping[str, Any] | None = None,
    chain: tuple[str, ...] = (),
) -> Run:
    """The record of one firing, not yet stored.

    Its clients are those that stored the trigger and those that caused the firing.
    """
    behind = [*dict.fromkeys((*clients, *trigger.clients))]
    return Run(
        id=ids.run_id(),
        project=project,
        trigger=trigger.name,
        trigger_type=trigger.type,
        kind="legacy" if trigger.legacy else "trigger",
        cause=cause,
        actor=dict(actor or {"kind": "system"}),
        client=client or next(iter(behind), ""),
        clients=behind,
        spawn_cap=spawn_cap,
        event=dict(event) if event else None,
        chain=list(chain),
        scheduled_for=scheduled_for,
        queued_at=now,
        status="queued",
        agent_name=agent_name(project, trigger.name),
    )


def skip(run: Run, reason: str) -> Run:
    """Record that a firing did not happen; FOLDED skips in a row for one reason are one record."""
    last = Run.objects.filter(project=run.project, trigger=run.trigger).order_by("-id").first()
    at = run.scheduled_for or run.queued_at
    if last and last.status == "skipped" and last.reason == reason and reason in FOLDED:
        last.skips, last.last_scheduled_for = (last.skips or 1) + 1, at
        last.save(update_fields=["skips", "last_scheduled_for"])
        return last
    run.status, run.reason, run.finished_at = "skipped", reason, run.queued_at
    if reason in FOLDED:
        run.skips, run.last_scheduled_for = 1, at
    run.save(force_insert=True)
    runs.announce(run)
    return run


def fire(
    *,
    project: Project,
    trigger: Trigger,
    cause: str,
    actor: Mapping[str, Any],
    client: str = "",
    clients: Iterable[str] = (),
    spawn_cap: int | None = None,
    event: Mapping[str, Any] | None = None,
    chain: tuple[str, ...] = (),
    due: datetime | None = None,
    refusal: str = "",
) -> Run:
    """Record a firing that no clock asked for: a run that is queued, or skipped with its reason.

    `due`: it gathers more until then, before it starts. `refusal`: a reason to skip it that the
    caller knows, used if there is no other.
    """
    now = datetime.now(UTC)
    with transaction.atomic():
        database.alone("trigger", project.slug, trigger.name)  # it counts firings, then adds one
        run = new_run(
            project.slug,
            trigger,
            cause=cause,
            now=now,
            actor=actor,
            client=client,
            clients=clients,
            spawn_cap=spawn_cap,
            event=event,
            chain=chain,
        )
        reason = _refusal(run, project, trigger) or refusal
        if reason:
            return skip(run, reason)
        run.scheduled_for = due
        run.save(force_insert=True)
        return run


def _refusal(run: Run, project: Project, trigger: Trigger) -> str:
    if run.cause in ASKED:
        return ""
    if held := pausing.of(project):
        return held.reason
    key = (run.project, run.trigger)
    if run.event and admission.loops("/".join(key), run.chain):
        return admission.LOOP
    return admission.refusal(trigger, admission.activity([run.project])[key])


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run after its start; `state` is started or queued when a turn was made, else empty."""

    run: Run
    state: str = ""


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a start has found before it creates anything."""

    project: Project
    trigger: Trigger
    prompt: str


def start(run_id: str) -> Outcome:
    """Begin a queued run: check, create or reuse the chat, queue the turn. Happens at most once. A
    run that still has to wait, or that another process begins, is left as it is. If the database
    fails in the middle, its error is raised; the run then waits again unless it was requested."""
    run = _claim(run_id)
    if run is None:
        return Outcome(runs.get(run_id))
    state = ""
    try:
        beginning = _check(run)
        if beginning is None:
            Run.objects.filter(id=run.id, session_id="").update(lease_until=None)
        else:
            state = _begin(run, beginning)
    except Lost:  # another process ended the run, or this start took too long
        runs.finish(run.id, status="failed", reason=NO_CHAT)
    except NoChat as error:
        runs.finish(run.id, status="failed", reason=str(error)[:500])
    except SvcError as error:
        runs.finish(run.id, status="failed", reason=error.text[:500])
    except OSError as error:
        reason = f"the chat cannot be written: {error.strerror}"
        runs.finish(run.id, status="failed", reason=reason)
    except (OperationalError, InterfaceError):
        if run.cause not in ASKED:
            _put_back(run)
        raise
    return Outcome(runs.get(run.id), state)


def _put_back(run: Run) -> None:
    """Let the run wait again, unless everything was stored: then it names its chat."""
    mine = Run.objects.filter(id=run.id, status="queued", session_id="")
    database.once_there(partial(mine.update, lease_until=None), within=runs.LEASE.total_seconds())


def _claim(run_id: str) -> Run | None:
    """Claim the start: only the process of the run's home that sets the lease may start it."""
    free = runs.waiting().filter(homes.mine(), id=run_id)
    if not free.update(lease_until=datetime.now(UTC) + runs.LEASE):
        return None
    return runs.get(run_id)


def _check(run: Run) -> Beginning | None:
    """What the start needs; None if the run must wait. Raises NoChat or Lost if it cannot start."""
    project = store.get(run.project)
    entries = files.read(project)
    trigger = entries.find(run.trigger)
    unreadable = project.error or (trigger is None and entries.broken(run.trigger))
    if unreadable and run.cause not in ASKED:
        return None  # recover() tries again until a person has repaired it
    store.sound(project)
    if given_up := _given_up(run, trigger):
        runs.finish(run.id, status="cancelled", reason=given_up)
    if trigger is None or given_up:
        raise Lost
    if _gathers(run) or admission.must_wait(run, trigger) or _subject_busy(run):
        return None
    if outside := preflight.outside(project, trigger):
        raise NoChat(outside)
    place = project.place
    if place.problem:
        raise NoChat(place.refusal)
    if not place.dir.is_dir():
        raise NoChat("the working directory does not exist")
    try:
        prompt = prompts.read(trigger, project.own_dir)
    except prompts.BadPrompt as error:
        raise NoChat(str(error)) from None
    refusal = preflight.refusal(project, trigger, prompt)
    if refusal:
        raise NoChat(refusal)
    return Beginning(project, trigger, prompt)


def _given_up(run: Run, trigger: Trigger | None) -> str:
    """Why the trigger no longer fires this; "" if it does, or if the firing was requested."""
    if trigger is None:
        return runs.REMOVED
    if run.cause in ASKED:
        return ""
    if not trigger.enabled:
        return runs.OFF
    on = trigger.when.on if isinstance(trigger.when, Event) else None
    event = run.event["type"] if run.event else None
    return "" if (trigger.type, on) == (run.trigger_type, event) else runs.CHANGED


def _gathers(run: Run) -> bool:
    """Whether the run still gathers happenings; the ticker clears the time when that is over."""
    return run.cause == "event" and run.scheduled_for is not None


def _subject_busy(run: Run) -> bool:
    """Whether a hook's chat still runs the turn that was running when the chat was archived."""
    if not run.event or "sessionId" not in run.event:
        return False
    running = Turn.objects.filter(chat=run.event["sessionId"], state="running")
    return running.filter(Q(started=None) | Q(started__lte=run.queued_at)).exists()


def _begin(run: Run, beginning: Beginning) -> str:
    """Queue the turn and name its chat in the run, both or neither. Returns the turn's state."""
    trigger, project = beginning.trigger, beginning.project
    if trigger.run.session == "new":
        return _queue_new(run, beginning)[1]
    with locks.lock(f"owned chat {project.slug}/{trigger.name}"):
        chat = _owned_chat(project, trigger)
        if chat is not None:
            return _queue_in(chat, run, beginning)
        chat, state = _queue_new(run, beginning)
        row = TriggerState.objects.filter(project=project.slug, name=trigger.name)
        row.update(owned_chat=chat)
        return state


def _owned_chat(project: Project, trigger: Trigger) -> str | None:
    """The chat that `session: resume` continues, if its record exists; else None."""
    state = TriggerState.objects.filter(project=project.slug, name=trigger.name).first()
    if state is None or not state.owned_chat:
        return None
    try:
        return chat_files.read(project, state.owned_chat).id
    except NotFound:
        return None


def _queue_new(run: Run, beginning: Beginning) -> tuple[str, str]:
    """Create a chat and queue the turn in it. The chat's files are written before the transaction,
    because another process may hold a lock on a file or the index while it waits for the
    database."""
    record = actions.open_for(
        _firing(run, beginning),
        project=beginning.project,
        prompt=beginning.prompt,
        model=beginning.trigger.run.model or "",
    )
    with actions.first_message(beginning.project, record):
        return record.id, _queue_in(record.id, run, beginning)


def _queue_in(chat: str, run: Run, beginning: Beginning) -> str:
    with transaction.atomic():
        queued = actions.fire(
            project=beginning.project,
            chat=chat,
            prompt=beginning.prompt,
            model=beginning.trigger.run.model or "",
            firing=_firing(run, beginning),
        )
        _name_chat(run, chat)
    return queued.state


def _name_chat(run: Run, chat: str) -> None:
    """Name the chat in the run. Raises Lost, which also undoes the queued turn, if the run is no
    longer ours to start."""
    mine = Run.objects.filter(id=run.id, status="queued", session_id="")
    if not mine.filter(lease_until__gt=datetime.now(UTC)).update(session_id=chat, lease_until=None):
        raise Lost


def _firing(run: Run, beginning: Beginning) -> actions.Firing:
    trigger, project = beginning.trigger, beginning.project
    known = (run.client, *run.clients, *trigger.clients)
    behind = tuple(dict.fromkeys(client for client in known if client))
    asked = trigger.run.max_spawn_depth
    limit = clients.bounds(behind).depth(project.max_spawn_depth if asked is None else asked)
    return actions.Firing(
        trigger=trigger.name,
        origin="hook" if trigger.type == "event" else "scheduled",
        sender={"kind": "trigger", "name": trigger.name, "cause": run.cause, "runId": run.id},
        client=run.client,
        clients=behind,
        chain=causes.of_run(run),
        message=_message(run, beginning),
        spawn_limit=limit if run.spawn_cap is None else min(limit, run.spawn_cap),
        tools=None if trigger.own_agent else list(trigger.run.tools),
        mode=trigger.run.permission_mode,
        network=trigger.run.network or "",
        mode_cap=clients.bounds(trigger.clients).mode,
        max_turns=trigger.run.max_turns or MAX_TURNS,
        waits=trigger.run.on_ask == "wait",
        run=run,
        event=telling.of_job(run),
    )


def _message(run: Run, beginning: Beginning) -> str | None:
    """What the agent reads, with the part before the prompt; None if it is only the prompt."""
    if beginning.trigger.type != "event":
        return None
    return f"{telling.in_front(run)}\n\n{beginning.prompt}"


def refuse_to_run(trigger: Trigger) -> None:
    """Raise Conflict for a webhook or the curator's entry, which are never run on demand."""
    name = f'Trigger "{trigger.name}"'
    if trigger.type == "webhook":
        raise Conflict(f"{name} is a webhook trigger: stored, never fired.", code="not_runnable")
    if trigger.curates:
        text = f"{name} adds instructions for the overview and changelog and cannot be run."
        raise Conflict(text, code="not_runnable")
