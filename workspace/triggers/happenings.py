"""What happens in the parts as firings: threads, commits, apps, and runs that failed.

A receiver finds the triggers concerned and records. The run is queued at once and waits for its
debounce in its row, `scheduled_for`; what else happens until then is added to it. So a restart
loses nothing, and the run can be seen and cancelled. See docs/design/workspace.md#happenings.
"""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from django.db import transaction
from django.db.models import Q

from config.process import wakeup
from config.signals import AppChanged, BranchMoved, ThreadWritten
from config.storage import database, homes
from workspace.access import clients
from workspace.chats.turns.delivery import TICKER
from workspace.models import Run, TriggerState
from workspace.projects.project import Project
from workspace.signals import RunEnded
from workspace.triggers import admission, causes, firing, pausing, places, runs, telling
from workspace.triggers.causes import Cause
from workspace.triggers.entries import files
from workspace.triggers.entries.schema import Event, Trigger
from workspace.triggers.entries.validate import LONGEST_DEBOUNCE

ACTOR = {"kind": "system"}
AGENT = re.compile(r"agent(:|$)")  # how agents sign what they write in a review
APPS = ("onAppDown", "onAppUp")


@dataclass(frozen=True, slots=True)
class Happening:
    """One thing that happened, in the terms of triggers.

    `names` are what `run.match` is compared with; `repository` or `directory` say where it
    happened, `project` in which one, or None if only the place is known. `cause`: the firings and
    clients behind it, or None if they can only be inferred from the turns at work.
    """

    on: str
    at: datetime
    entry: telling.Entry
    names: tuple[str, ...]
    repository: Path | None = None
    directory: Path | None = None
    project: str | None = None
    cause: Cause | None = None
    trigger: str = ""  # the trigger whose run it is


def hear(
    what: ThreadWritten | BranchMoved | AppChanged | RunEnded, now: datetime | None = None
) -> None:
    """Record the firings of what happened. Does nothing if no trigger waits for it."""
    found = _read(what, now or datetime.now(UTC))
    if found is None:
        return
    for row in _listening(found.on):
        project = places.project(row.project)
        trigger = files.read(project).triggers.get(row.name) if project else None
        if project and trigger and _is_for(found, project, trigger):
            _take(found, project, trigger)


def _read(what: Any, now: datetime) -> Happening | None:
    """The happening, or None if it makes no event."""
    match what:
        case ThreadWritten():
            return _thread(what, now)
        case BranchMoved():
            said = telling.entry(
                now, project=what.project, repo=what.repo, branch=what.branch,
                before=what.before, after=what.after,
            )  # fmt: skip
            names = (what.branch,)
            return Happening(
                "onCommits", now, said, names, repository=what.repository, project=what.project
            )
        case AppChanged():
            return _app(what, now)
        case RunEnded(status="failed") if what.trigger:
            run = runs.get(what.run)
            said = telling.entry(now, trigger=what.trigger, run=what.run, error=what.error)
            return Happening(
                "onRunFailed", now, said, (what.trigger,),
                project=what.project, cause=causes.of_failed(run), trigger=what.trigger,
            )  # fmt: skip
    return None


def _thread(what: ThreadWritten, now: datetime) -> Happening | None:
    """The happening of a thread that a person wrote in; None for agents and other acts. If it was
    written into the file by hand, its author is only what the file says, so the cause is
    inferred."""
    if what.act not in ("opened", "replied") or AGENT.match(what.author):
        return None
    said = telling.entry(
        now, project=what.project, repo=what.repo, commit=what.sha, thread=what.thread,
        act="answered" if what.act == "replied" else what.act, author=what.author,
        file=what.file or None, line=what.line, text=what.text,
    )  # fmt: skip
    return Happening(
        "onThread", now, said, (what.file,), repository=what.repository, project=what.project,
        cause=None if what.by_file else Cause(),
    )  # fmt: skip


def _app(what: AppChanged, now: datetime) -> Happening:
    directory = str(what.directory) if what.directory else None
    said = telling.entry(
        now, app=what.app, name=what.name, directory=directory, state=what.state,
        reason=what.reason,
    )  # fmt: skip
    on = "onAppUp" if what.state == "up" else "onAppDown"
    return Happening(on, now, said, (what.app, what.name), directory=what.directory)


def _listening(on: str) -> Iterator[TriggerState]:
    armed = TriggerState.objects.filter(homes.mine(), enabled=True, type="event")
    return armed.filter(when=f"event {on}").order_by("project", "name").iterator()


def _is_for(found: Happening, project: Project, trigger: Trigger) -> bool:
    if not (trigger.enabled and isinstance(trigger.when, Event) and trigger.when.on == found.on):
        return False
    named = _matches(found, trigger)
    if found.on in APPS:
        inside = found.directory is not None and places.holds(project, found.directory)
        elsewhere = named and bool(trigger.run.match) and not trigger.clients
        return named and (inside or elsewhere)
    if found.on == "onRunFailed":
        return named and project.slug == found.project and trigger.name != found.trigger
    ours = project.slug == found.project or (
        found.repository is not None and places.shares_repository(project, found.repository)
    )
    return named and ours


def _matches(found: Happening, trigger: Trigger) -> bool:
    """Whether `run.match` names it, ignoring case; always if `run.match` is empty."""
    wanted = [_but_for_stars(pattern.casefold()) for pattern in trigger.run.match]
    names = [name.casefold() for name in found.names]
    return not wanted or any(fnmatchcase(name, one) for name in names for one in wanted)


def _but_for_stars(pattern: str) -> str:
    """The name as a pattern in which only `*` is special: `pages/[id].tsx` is a file."""
    return "*".join(map(glob.escape, pattern.split("*")))


def _take(found: Happening, project: Project, trigger: Trigger) -> None:
    """Add the happening to the firing that gathers, or record a firing that begins to gather."""
    cause = found.cause
    if cause is None:
        there = partial(_works_there, found)
        cause = causes.at_work(project.slug, trigger.name, found.at, there)
    with transaction.atomic():
        database.alone("trigger", project.slug, trigger.name)
        own = admission.loops(f"{project.slug}/{trigger.name}", list(cause.chain))
        outside = admission.OUTSIDE if clients.barred_names(cause.clients, project.slug) else ""
        held = pausing.of(project)
        if not (own or outside or held) and _join(found, project, trigger, cause):
            return
        run = firing.fire(
            project=project,
            trigger=trigger,
            cause="event",
            actor=ACTOR,
            clients=cause.clients,
            spawn_cap=cause.spawn_cap,
            event={"type": found.on, "happenings": [found.entry]},
            chain=cause.chain,
            due=found.at + trigger.debounce,
            refusal=outside or ("" if own else _too_often(found, project, trigger)),
        )
    if run.status == "queued":
        wakeup.wake(TICKER)


def _works_there(found: Happening, slug: str) -> bool:
    """Whether a turn of that project works where it happened."""
    project = places.project(slug)
    if project is None or slug == found.project:
        return True
    if found.repository is not None:
        return places.shares_repository(project, found.repository)
    return found.directory is not None and places.holds(project, found.directory)


def _join(found: Happening, project: Project, trigger: Trigger, cause: Cause) -> bool:
    """Whether a firing of the trigger still gathers; it then has the happening and its cause."""
    gathering = _gathering().filter(project=project.slug, trigger=trigger.name)
    run = gathering.filter(scheduled_for__gt=found.at).order_by("-id").first()
    if run is None or run.event is None:
        return False
    both = Cause(tuple(run.chain), tuple(run.clients), run.spawn_cap)
    both = both.beside(cause)
    changed = {
        "event": telling.with_happening(run.event, found.entry),
        "chain": [*both.chain],
        "client": run.client or next(iter(both.clients), ""),
        "clients": [*both.clients],
        "spawn_cap": both.spawn_cap,
    }
    return bool(gathering.filter(id=run.id).update(**changed))


def _too_often(found: Happening, project: Project, trigger: Trigger) -> str:
    """Why an app that keeps falling is left to a person; "" if it is not yet."""
    if found.on not in APPS:
        return ""
    fired = Run.objects.filter(project=project.slug, trigger=trigger.name, cause="event")
    recent = fired.filter(queued_at__gte=found.at - admission.WITHIN).exclude(status="skipped")
    about = [run for run in recent if _about(run, found.entry["app"])]
    return admission.OFTEN if len(about) >= admission.MOST_OF_ONE else ""


def _about(run: Run, app: str) -> bool:
    told = (run.event or {}).get("happenings", [])
    return any(one.get("app") == app for one in told)


def _gathering() -> Any:
    return runs.waiting().filter(homes.mine(), runs.GATHERS)


def release_due(now: datetime) -> None:
    """Deliver the firings that have gathered long enough; the ticker calls this. A firing that
    would gather longer than any may was begun while the clock was ahead, and is delivered too."""
    over = Q(scheduled_for__lte=now) | Q(scheduled_for__gt=now + LONGEST_DEBOUNCE)
    for run in _gathering().filter(over).order_by("id"):
        with transaction.atomic():
            if _gathering().filter(id=run.id).update(scheduled_for=None):
                runs.deliver(run)


def next_at() -> datetime | None:
    """When the next firing has gathered long enough; None if none gathers."""
    first = _gathering().order_by("scheduled_for").values_list("scheduled_for", flat=True).first()
    found: datetime | None = first
    return found
