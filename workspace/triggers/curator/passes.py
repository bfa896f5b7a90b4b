"""When a pass is due, its run and its turn, and what becomes of its answer.

A pass is an ordinary turn in an archived chat of its own, queued like any other. Whatever goes
wrong with it is a failed run and nothing more.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Max, QuerySet

from config.errors import SvcError
from config.storage import locks, paths
from workspace import ids
from workspace.chats import actions
from workspace.chats.turns import endings
from workspace.models import Run, Turn
from workspace.projects import store
from workspace.projects.project import CHANGELOG, DOCUMENTS, OVERVIEW, Project
from workspace.triggers import causes, pausing, runs
from workspace.triggers.curator import answer, briefing, documents
from workspace.triggers.entries import files, preflight, prompts
from workspace.triggers.entries.schema import Trigger, agent_name

log = logging.getLogger(__name__)

KIND = "curation"
REPLIES = 2
NOTHING = "the pass ended without an answer"


def enabled(project: Project) -> bool:
    """Whether the settings or an enabled afterTurn trigger switch it on; the project may say no."""
    said = (project.written("curation") or {}).get("enabled")
    if said is False:
        return False
    return bool(project.effective("curation")["enabled"]) or _custom_trigger(project) is not None


def _custom_trigger(project: Project) -> Trigger | None:
    """The afterTurn trigger whose instructions are used; None if a client that stored it is gone or
    may no longer act here."""
    found = files.read(project).curator
    return None if found is None or preflight.outside(project, found) else found


def consider(slug: str, now: datetime | None = None) -> Run | None:
    """Start a pass if one is due. Runs at the end of a turn, so a SvcError is only logged."""
    now = now or datetime.now(UTC)
    try:
        project = store.writable(slug)
        if not enabled(project) or pausing.of(project) is not None or not _due(project, now):
            return None
        with locks.lock(f"curator {slug}"):
            run = _new(project, now) if _due(project, now) else None
        if run is not None:
            _start(project, run)
        return run
    except SvcError as error:
        log.warning("no curation pass: %s", error, extra={"project": slug})
        return None


def consider_all(now: datetime) -> None:
    """Start the passes that became due because their interval is over."""
    ended = Turn.objects.filter(finished__gt=now - timedelta(days=1), run=None)
    slugs = {*ended.order_by().values_list("project", flat=True).distinct()}
    for slug in slugs.intersection(store.slugs()):  # a project may be gone, or live elsewhere
        consider(slug, now)


def _due(project: Project, now: datetime) -> bool:
    """Whether there is something new from people, no pass under way, and the interval is over."""
    if _passes(project).filter(status__in=runs.ACTIVE).exists():
        return False
    last = _last_begin(_passes(project), now)
    interval_ms = project.effective("curation")["minIntervalMs"]
    if last is not None and (now - last) / timedelta(milliseconds=1) < interval_ms:
        return False
    return any(turn.state == "done" for turn in briefing.turns_since(project.slug, last, now))


def _passes(project: Project) -> QuerySet[Run]:
    return Run.objects.filter(project=project.slug, kind=KIND)


def _last_begin(passes: QuerySet[Run], now: datetime) -> datetime | None:
    """When the last of the passes began; one dated in the future (a clock was ahead) is ignored."""
    found: datetime | None = passes.filter(queued_at__lte=now).aggregate(at=Max("queued_at"))["at"]
    return found


def _new(project: Project, now: datetime) -> Run:
    trigger = _custom_trigger(project)
    behind = [*trigger.clients] if trigger else []
    run = Run(
        id=ids.run_id(),
        project=project.slug,
        trigger=trigger.name if trigger else "",
        trigger_type="event",
        kind=KIND,
        cause="event",
        actor={"kind": "system"},
        client=next(iter(behind), ""),
        clients=[*dict.fromkeys((*behind, *causes.clients_of(_news(project, now))))],
        queued_at=now,
        lease_until=now + runs.LEASE,
        status="queued",
        agent_name=agent_name(project.slug, trigger.name) if trigger else "",
    )
    run.save(force_insert=True)
    return run


def _start(project: Project, run: Run) -> None:
    try:
        _queue(project, run)
    except (prompts.BadPrompt, briefing.TooLong) as error:
        runs.finish(run.id, status="failed", reason=str(error)[:500])
    except SvcError as error:
        runs.finish(run.id, status="failed", reason=error.text[:500])
    except (OSError, paths.UnsafePath):
        reason = f"{OVERVIEW} or {CHANGELOG} cannot be read"
        runs.finish(run.id, status="failed", reason=reason)


def _queue(project: Project, run: Run) -> None:
    trigger = _custom_trigger(project)
    extra = prompts.read(trigger, project.own_dir) if trigger else ""
    seen = {name: store.document(project, name) for name in DOCUMENTS}
    prompt = briefing.prompt(project, extra, seen, _news(project, run.queued_at))
    model = (trigger.run.model if trigger else None) or ""
    firing = _firing(project, run, trigger, documents.digest(seen[OVERVIEW]))
    chat = actions.open_for(firing, project=project, prompt=prompt, model=model).id
    with transaction.atomic():
        mine = Run.objects.filter(id=run.id, status="queued", session_id="")
        if not mine.update(session_id=chat, lease_until=None):
            return
        actions.fire(project=project, chat=chat, prompt=prompt, model=model, firing=firing)


def _news(project: Project, now: datetime) -> list[Turn]:
    """The turns that a pass which begins now is told about."""
    completed = _last_begin(_passes(project).filter(status="completed"), now)
    return briefing.turns_since(project.slug, completed, now)


def _firing(project: Project, run: Run, trigger: Trigger | None, seen: str) -> actions.Firing:
    """No tool, no person, no chats of its own; archived from the start, which fires nothing."""
    sender = {"kind": "trigger", "name": run.trigger or "curator", "cause": "event"}
    return actions.Firing(
        trigger=run.trigger or "curator",
        origin="hook",
        sender=sender | {"runId": run.id},
        client=run.client,
        clients=trigger.clients if trigger else (),
        spawn_limit=0,
        tools=[],
        mode="default",
        max_turns=REPLIES,
        run=run,
        event={"name": "afterTurn", "chat": "", "project": project.slug, "overview": seen},
        archived=True,
    )


def apply(turn: Turn) -> str:
    """Write the answer of a completed pass. Returns why it was not written, or ""."""
    try:
        project = store.writable(turn.project)
        budget = project.effective("curation")
        found = answer.read(
            _answer(turn),
            overview_tokens=budget["overviewMaxTokens"],
            changelog_tokens=budget["changelogMaxTokens"],
        )
        seen = (turn.event or {}).get("overview", "")
        documents.replace_overview(project, found.overview, seen=seen)
        documents.add_entries(project, found.entries, datetime.now(UTC).date())
    except answer.Unreadable as error:
        return str(error)
    except SvcError as error:
        return error.text
    except (OSError, paths.UnsafePath):
        return f"{OVERVIEW} or {CHANGELOG} cannot be written"
    return ""


def _answer(turn: Turn) -> str:
    records = endings.records_of(endings.transcript_of(turn), turn.id)
    texts = [one["text"] for one in records if one["type"] == "assistant"]
    if not texts:
        raise answer.Unreadable(NOTHING)
    return str(texts[-1])
