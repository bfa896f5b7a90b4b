"""The chat operations: each calls the nouns and builds a tool result.

Results have short keys, truncated texts and no empty values.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.db import connection

from config.errors import Invalid
from config.logs import timestamp
from config.mcp import brief
from config.mcp.arguments import truncate
from workspace.access.principals import Principal
from workspace.chats import actions, forks, index, listing, said
from workspace.chats.actions import Started
from workspace.chats.forks import FailedPrompt
from workspace.chats.turns import jobs
from workspace.chats.turns.states import BUSY, WAITING
from workspace.mcp.results import present
from workspace.models import Chat, Turn
from workspace.projects import store
from workspace.triggers import events

LISTED = 50
READ = 30
LIVE = (*BUSY, *WAITING)
_MARKS = ", ".join(["%s"] * len(LIVE))
_LIVE = f"SELECT chat, state FROM {Turn._meta.db_table} WHERE state IN ({_MARKS})"  # noqa: S608
_stamp = lru_cache(maxsize=4096)(timestamp)  # lists repeat the same times


@dataclass(frozen=True, slots=True)
class ChatPage:
    """A page of chats, the chats with a running turn, and how many turns wait in each chat."""

    page: listing.Listing
    running: set[str]
    waiting: Mapping[str, int]


def find(
    principal: Principal,
    *,
    project: str | None = None,
    include_archived: bool = False,
    running: bool = False,
    before: str = "",
    limit: int = LISTED,
) -> ChatPage:
    """Chats of one project, or of all that this caller reaches; newest first."""
    every = [store.get(project)] if project is not None else store.all()
    reached = [one for one in every if principal.reaches(one.slug)]
    which: listing.Which = "all" if include_archived else "open"
    # An instance has few live turns; to query by the ids of hundreds of chats costs more (S3).
    states = _live()
    now = {chat for chat, state in states if state in BUSY}
    waiting = Counter(chat for chat, state in states if state not in BUSY)
    only = now | set(waiting) if running else None
    page = listing.listing(reached, which=which, limit=limit, before=before, only=only)
    return ChatPage(page, now, waiting)


def _live(chat: str = "") -> list[tuple[str, str]]:
    """(chat, state) of each turn that runs or waits, of one chat or of all. Plain SQL: a query set
    takes longer than the rest of a short read."""
    more, values = (" AND chat = %s", (*LIVE, chat)) if chat else ("", LIVE)
    with connection.cursor() as cursor:
        cursor.execute(_LIVE + more, values)
        return [(row[0], row[1]) for row in cursor.fetchall()]


def list_chats(
    principal: Principal,
    *,
    project: str | None = None,
    fields: Sequence[str] = (),
    after: str = "",
    wait_seconds: int = 0,
    **which: Any,
) -> dict[str, Any]:
    found = find(principal, project=project, **which)
    rows = found.page.rows
    if fields:
        shown = brief.pick([_row(row, found) for row in rows], fields, ())
    else:
        shown = _briefs(found, named=project is None)
    result = {
        "count": found.page.matching,
        "returned": len(rows),
        "omittedArchived": found.page.omitted,
        "project": project,
        "chats": shown,
        "next": found.page.next,
    }
    return present(result, "next")


def _briefs(found: ChatPage, *, named: bool) -> list[dict[str, Any]]:
    """The important fields of each `_row`, as brief.pick would pick them, but faster for
    hundreds of rows. `named`: with the project."""
    running, waiting, every = found.running, found.waiting, []
    for row in found.page.rows:
        session_id = row.id
        shown: dict[str, Any] = {
            "sessionId": session_id,
            "name": row.name,
            "updatedAt": _stamp(row.updated),
            "running": session_id in running,
        }
        if named:
            shown = {"project": row.project, **shown}
        if session_id in waiting:
            shown["queued"] = waiting[session_id]
        if row.archived:
            shown["archived"] = True
        if row.trigger:
            shown["trigger"] = row.trigger
        every.append(shown)
    return every


def _row(row: Chat, found: ChatPage) -> dict[str, Any]:
    return {
        "project": row.project,
        "sessionId": row.id,
        "name": row.name,
        "updatedAt": _stamp(row.updated),
        "running": row.id in found.running,
        "queued": found.waiting.get(row.id, 0),
        "archived": row.archived,
        "origin": row.origin,
        "trigger": row.trigger,
        "client": row.client,
    }


def read_chat(
    principal: Principal,
    *,
    project: str,
    session_id: str,
    limit: int = READ,
    before: int | None = None,
    after: int | None = None,
    full: bool = False,
    wait_seconds: int = 0,
) -> dict[str, Any]:
    """The last `limit` lines of a chat, those before an offset, or the first ones after one."""
    if before is not None and after is not None:
        raise Invalid("send `before` or `after`, not both.")
    where = store.get(project)
    lines = said.read_chat(where, session_id, limit=limit, before=before, after=after)
    row = lines.chat
    live = [state for _, state in _live(row.id)]
    result = {
        "project": row.project,
        "sessionId": row.id,
        "total": lines.total,
        "returned": len(lines.shown),
        "running": bool({*BUSY} & {*live}),
        "queued": len([state for state in live if state not in BUSY]),
        "messages": lines.shown if full else [*map(_brief, lines.shown)],
        "next": lines.next,
        "after": lines.end,
    }
    return present(result, "queued", "next")


def _brief(line: said.Line) -> said.Line:
    text = truncate(line["text"])
    return line if text is line["text"] else {**line, "text": text}


def create_chat(principal: Principal, *, project: str, **given: Any) -> dict[str, Any]:
    started = actions.create(principal=principal, project=store.get(project), **given)
    return {"created": True, "project": started.chat.project, **_started_record(started)}


def fork_chat(
    principal: Principal, *, project: str, session_id: str, **given: Any
) -> dict[str, Any]:
    source = store.get(project)
    forked = forks.fork(principal=principal, project=source, session_id=session_id, **given)
    started = _started_record(forked)
    head = {"forked": True, "project": forked.chat.project, "sessionId": started.pop("sessionId")}
    return head | {"from": session_id} | started


def _started_record(started: Started) -> dict[str, Any]:
    turn = started.turn
    result = {
        "sessionId": started.chat.id,
        "name": started.chat.name,
        "model": turn.model if turn else "",
        "prompt": truncate(turn.prompt) if turn else "",
        "messageId": turn.id if turn else "",
        "state": started.state,
        "repeated": started.repeated,
        "warnings": _warnings(turn) if turn else [],
    }
    return present(result, "name", "model", "prompt", "messageId", "state", "repeated", "warnings")


def _warnings(turn: Turn) -> list[str]:
    """Why the queued turn cannot run, so that the caller knows it at once; else empty."""
    refusal = jobs.refusal(turn)
    return [refusal] if refusal else []


def send_message(
    principal: Principal, *, project: str, session_id: str, **given: Any
) -> dict[str, Any]:
    where = store.get(project)
    queued = actions.send(principal=principal, project=where, session_id=session_id, **given)
    result = {
        "sent": True,
        "project": project,
        "sessionId": session_id,
        "messageId": queued.turn.id,
        "state": queued.state,
        "position": queued.position,
        "prompt": truncate(queued.turn.prompt),
        "repeated": queued.repeated,
        "warnings": _warnings(queued.turn),
    }
    return present(result, "repeated", "warnings")


def set_archived(
    principal: Principal, *, project: str, session_id: str, archived: bool
) -> dict[str, Any]:
    """Set the flag; to archive a chat that was not archived fires onArchive triggers."""
    where = store.get(project)
    done = actions.archive(
        principal=principal,
        project=where,
        session_id=session_id,
        archived=archived,
        on_archive=events.chat_archived,
    )
    row = index.get(where, session_id)
    return {
        "archived": archived,
        "project": row.project,
        "sessionId": row.id,
        "changed": done.changed,
    }


def fork_chat_batch(
    principal: Principal,
    *,
    project: str,
    session_id: str,
    model: str | None = None,
    **given: Any,
) -> dict[str, Any]:
    """Make one fork per prompt; the call fails only if all forks fail."""
    outcomes = forks.batch(
        principal=principal,
        project=store.get(project),
        session_id=session_id,
        model=model,
        **given,
    )
    failed = [outcome for outcome in outcomes if isinstance(outcome, FailedPrompt)]
    if len(failed) == len(outcomes):
        raise Invalid(f"no fork was started: {failed[0].error}")
    result = {
        "count": len(outcomes) - len(failed),
        "failed": len(failed),
        "source": session_id,
        "model": model,
        "forks": [_outcome(outcome) for outcome in outcomes],
    }
    return present(result, "model")


def _outcome(outcome: Started | FailedPrompt) -> dict[str, Any]:
    if isinstance(outcome, FailedPrompt):
        return {"prompt": truncate(outcome.prompt), "error": outcome.error}
    started = _started_record(outcome)
    result = {key: started.get(key) for key in ("sessionId", "name", "prompt", "state", "warnings")}
    return present(result, "name", "warnings")
