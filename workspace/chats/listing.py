"""Chats as lists and single views show them: the index row beside what its queue does now.

One stat per file and one query per project; nothing is parsed that did not change (promise S3).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from workspace.chats import index
from workspace.models import Chat, Turn
from workspace.project import Project

ARCHIVED = ("0", "1", "all")


@dataclass(frozen=True, slots=True)
class Running:
    """The turn that runs in a chat."""

    id: str
    started: datetime | None
    run: str | None


@dataclass(frozen=True, slots=True)
class Live:
    """What the queue of one chat does now."""

    turn: Running | None = None
    queued: int = 0
    held: int = 0

    @property
    def running(self) -> bool:
        return self.turn is not None


@dataclass(frozen=True, slots=True)
class Listed:
    chat: Chat
    live: Live


IDLE = Live()


def of_project(
    project: Project, *, archived: str = "0", query: str = ""
) -> tuple[list[Listed], int]:
    """(matching chats newest first, how many archived ones were left out)."""
    rows = index.entries(project)
    if query:
        needle = query.casefold()
        rows = [row for row in rows if needle in f"{row.name}\n{row.preview}".casefold()]
    wanted = (
        rows if archived == "all" else [row for row in rows if row.archived == (archived == "1")]
    )
    omitted = sum(row.archived for row in rows) if archived == "0" else 0
    wanted.sort(key=lambda row: (row.updated, row.id), reverse=True)
    lively = live(project)
    return [Listed(row, lively.get(row.id, IDLE)) for row in wanted], omitted


def one(project: Project, session_id: str) -> Listed:
    """One chat. NotFound when there is none."""
    row = index.get(project, session_id)
    return Listed(row, live(project, session_id).get(session_id, IDLE))


def live(project: Project, session_id: str | None = None) -> dict[str, Live]:
    """The chats of the project whose queue is not empty."""
    turns = Turn.objects.filter(project=project.slug, state__in=("running", "queued", "held"))
    if session_id is not None:
        turns = turns.filter(chat=session_id)
    found: dict[str, Live] = {}
    for chat, state, turn, started, run in turns.order_by().values_list(
        "chat", "state", "id", "started", "run_id"
    ):
        before = found.get(chat, IDLE)
        found[chat] = Live(
            turn=Running(turn, started, run) if state == "running" else before.turn,
            queued=before.queued + (state == "queued"),
            held=before.held + (state == "held"),
        )
    return found
