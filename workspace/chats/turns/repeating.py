"""Ask again for what a finished turn was asked for: *Run again*.

The row is used, not the transcript, because the prompt decides the engine and the message has our
line before it. See docs/design/workspace.md#turns-and-the-queue.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from config.errors import Conflict, NotFound, printable
from workspace.chats import files, transcript
from workspace.chats.turns import endings, queue
from workspace.chats.turns.states import BUSY, WAITING
from workspace.models import Turn
from workspace.projects.project import Project
from workspace.projects.schema import cap_mode


def again(*, project: Project, chat: str, turn: str, **asked: Any) -> queue.Queued:
    """Send a message made from the row of a finished turn: the same words and the same model.
    `asked`: who asks now, as arguments of `send`; the bounds of a trigger's firing still apply."""
    record = files.read(project, chat)
    old = _over(project, chat, turn)
    bounds = _bounds(old, project, record, asked) if _is_of_firing(old) else {}
    return queue.send(
        project=project,
        chat=chat,
        prompt=old.prompt,
        message=old.message,
        model=old.model,
        tools=old.tools,
        network=old.network,
        event=old.event,
        most=queue.FIRED_MAX,
        **(asked | bounds),
    )


def _bounds(
    old: Turn, project: Project, record: files.ChatRecord, asked: Mapping[str, Any]
) -> dict[str, Any]:
    """The bounds of a firing, combined with those of the person or client that runs it again."""
    limit = asked.get("spawn_limit")
    behind = (*asked.get("clients", ()), old.client, *old.clients)
    return {
        "mode": cap_mode(old.mode, project.permission_mode),
        "max_turns": old.max_turns,
        "clients": [*dict.fromkeys(filter(None, behind))],
        "chain": old.chain,
        "spawn_limit": min(record.spawn_limit if limit is None else limit, old.spawn_limit),
    }


def _is_of_firing(turn: Turn) -> bool:
    """Whether it is a firing, or a person's repeat of one: no other row of a person has a chain."""
    kind = turn.sender.get("kind")
    return kind == "trigger" or (kind == "user" and bool(turn.chain))


def _over(project: Project, chat: str, turn: str) -> Turn:
    """The row of a finished turn of this chat, or one that it inherited. NotFound, or Conflict if
    the turn is not over."""
    path = str(files.transcript_path(project, chat))
    known = Turn.objects.filter(id=turn[:32], project=project.slug).exclude(state="deleted")
    old = known.first() or _find_imported(path, turn)
    if old is None or (old.chat != chat and not transcript.has_turn(path, old.id)):
        raise NotFound(f"It is not known how turn {printable(turn)} was asked for; send it again")
    if old.state in (*BUSY, *WAITING):
        raise Conflict(f"turn {old.id} is not over; stop it, or wait for its end", code="busy")
    return old


def _find_imported(path: str, turn: str) -> Turn | None:
    """A turn that another program ran: only the words of its message are known."""
    records = endings.records_of(path, turn)
    said = next((one for one in records if one["type"] == "user" and one.get("imported")), None)
    text = str(said.get("text") or "") if said and "blob" not in said else ""  # else only its head
    return Turn(id=turn, prompt=text, message=text, sender={"kind": "user"}) if text else None
