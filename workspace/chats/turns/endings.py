"""How a turn ends, by whatever process: the row settled, the queue held or moved on.

A message is never lost from its chat: what a crash left out of the transcript is appended here,
once, under the chat's writer lock. The outcomes: docs/design/engines.md#outcomes.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from django.db import transaction

from config import signals as kernel
from config.errors import SvcError
from config.storage import homes
from workspace import signals
from workspace.chats import files, live, transcript
from workspace.chats.lines import Record
from workspace.chats.turns import retries
from workspace.chats.turns.delivery import OnChange, announce, deliver
from workspace.chats.turns.recorder import ASKING, UNANSWERED
from workspace.models import Turn
from workspace.projects import store

log = logging.getLogger(__name__)

STATES = {
    "ok": "done",
    "error": "failed",
    "max_turns": "failed",
    "timeout": "failed",
    "needs_engine": "failed",
    "stopped": "stopped",
    "interrupted": "interrupted",
}
STREAMED = {"text": "assistant", "thinking": "thinking"}  # kind of a delta -> of its record
HOLDING = ("failed", "stopped")
OUT_OF_SCOPE = "out_of_scope"  # says nothing of the chat: what others sent behind it goes on
SENTENCES = {
    "user": "stopped by a user",
    "worker_lost": "the server stopped while this turn was in progress",
    "shutdown": "the server was shut down while this turn was in progress",
    "storage_full": "the transcript could not be written: the disk is full or read-only",
    "engine_crashed": "the turn process ended without saying why",
    "timeout": "the turn ran longer than it may",
    "refused": "the message was refused before anything was started",
}


def sentence(end: Mapping[str, Any]) -> str:
    """Why a turn ended, readable; empty for one that completed."""
    reason = end.get("reason") or ("" if end.get("status") == "ok" else end.get("status"))
    if not reason:
        return ""
    return str(end.get("text") or SENTENCES.get(str(reason), str(reason)))[:500]


def settle(
    turn_id: str, end: Mapping[str, Any], on_change: OnChange, *, unclosed: bool = False
) -> bool:
    """Move the running row to where `end` says, once; then hold what waits, or start it.

    `unclosed`: the transcript lacks the end, `complete` is to write it."""
    state = STATES.get(str(end.get("status")), "failed")
    with transaction.atomic():
        moved = Turn.objects.filter(id=turn_id, state="running").update(
            state=state,
            reason=sentence(end),
            finished=datetime.now(UTC),
            lease_until=None,
            token_hash="",
            unclosed=unclosed,
        )
        if not moved:
            return False
        turn = Turn.objects.get(id=turn_id)
        if state in HOLDING and end.get("reason") != OUT_OF_SCOPE:
            waiting = Turn.objects.filter(chat=turn.chat, state="queued", run=None)
            waiting.update(state="held", reason=holds(turn))
    tell(on_change, turn)
    _say_ended(turn)
    deliver(turn.chat, again=True)
    return True


def holds(turn: Turn) -> str:
    """Why messages behind a turn that ended so are held."""
    return f"the turn before it: {turn.reason}"


def _say_ended(turn: Turn) -> None:
    """Those outside hear of an end, also when another host writes it down later."""
    seconds = None
    if turn.started and turn.finished:
        seconds = (turn.finished - turn.started).total_seconds()
    fired = turn.sender.get("kind") == "trigger"
    trigger = str(turn.sender.get("name") or "") if fired else ""
    names = (turn.project, turn.chat, turn.id, turn.state, turn.reason)
    kernel.tell(signals.turn_ended, signals.TurnEnded(*names, seconds, turn.run_id or "", trigger))


def tell(on_change: OnChange, turn: Turn) -> None:
    """The queue goes on even when the callback that follows the turn fails."""
    try:
        on_change(turn)
    except Exception:
        log.exception("following a turn failed", extra={"turn": turn.id})
    announce()


def recover(turn_id: str, *, status: str, reason: str, on_change: OnChange, text: str = "") -> bool:
    """End a turn whose process is gone, or put it aside. False when another writer holds the chat.

    What the transcript says of the end goes before `status`, but not before a person's stop. A host
    that cannot reach it ends the row alone: the next one that can does the rest (`complete`).
    """
    turn = Turn.objects.filter(id=turn_id, state="running").first()
    if turn is None:
        return False
    if status == "interrupted" and turn.asks:
        text = text or f"The server stopped while this turn {ASKING}."
    end: Mapping[str, Any] = {"status": status, "reason": reason, "text": text or None}
    if turn.stop == "user":
        end = {"status": "stopped", "reason": "user", "text": None}
    try:
        end = close(turn, end)
    except transcript.Busy:
        return False
    except (transcript.StorageError, SvcError) as error:
        log.warning("transcript not closed: %s", error, extra={"turn": turn_id})
        return settle(turn_id, end, on_change, unclosed=not homes.is_mine(turn.home))
    if end.get("type") != "turn_wait":
        return settle(turn_id, end, on_change)
    if waiting := retries.put_aside(turn_id, end):
        tell(on_change, waiting)
        return True
    return recover(turn_id, status=status, reason=reason, on_change=on_change, text=text)


def complete(turn: Turn, on_change: OnChange) -> bool:
    """Write the end of a turn that another host ended without its transcript; what the transcript
    says holds. False when it cannot be written now."""
    end: Mapping[str, Any] = {"status": "interrupted", "reason": "worker_lost", "text": None}
    try:
        end = close(turn, end)
    except (transcript.Busy, transcript.StorageError):
        return False
    except SvcError as error:  # the chat went meanwhile
        log.warning("transcript not closed: %s", error, extra={"turn": turn.id})
    state = STATES.get(str(end.get("status")), "failed")
    left = Turn.objects.filter(id=turn.id, unclosed=True)
    if not left.update(state=state, reason=sentence(end)):
        return False
    tell(on_change, Turn.objects.get(id=turn.id))
    left.update(unclosed=False)
    deliver(turn.chat, again=True)
    return True


def close(turn: Turn, end: Mapping[str, Any]) -> Mapping[str, Any]:
    """Append what the turn's records lack; the turn_end that holds, or the turn_wait. Raises
    transcript.Busy."""
    path = transcript_of(turn)
    _, last = next(transcript.backwards(path), (0, {}))
    if last.get("turn") == turn.id and (last["type"] == "turn_end" or _waits(turn, last, end)):
        return last
    with transcript.Writer(path) as writer:
        there = {record["type"]: record for record in records_of(path, turn.id)}
        if "turn_end" in there:
            return there["turn_end"]
        if "turn_start" not in there:
            writer.append("turn_start", turn.id, **_start_fields(turn))
        if "user" not in there:
            writer.append("user", turn.id, text=turn.message, sender=turn.sender)
        _keep_unfinished(writer, turn)
        if end["status"] != "stopped":
            writer.append("notice", turn.id, **_notice(end))
        return writer.append("turn_end", turn.id, **(_unknown(turn) | dict(end)))


def _waits(turn: Turn, last: Record, end: Mapping[str, Any]) -> bool:
    """Whether the try that ended put the turn aside; one that a person stopped waits no more."""
    tried = (turn.retry or {}).get("try") or 1
    waits = last["type"] == "turn_wait" and end["status"] != "stopped"
    return waits and int(last["try"]) > tried


def _unknown(turn: Turn) -> dict[str, Any]:
    """What an end says that its process did not write: what earlier tries used is known."""
    before = turn.retry or {}
    known = {"turns": 0, "usage": None, "cost": None} | {
        key: before[key] for key in ("turns", "usage", "cost") if before.get(key) is not None
    }
    return {"text": None, **known, "ms": _elapsed_ms(turn)}


def _keep_unfinished(writer: transcript.Writer, turn: Turn) -> None:
    """What was streamed and is no record yet, and the questions that can no longer be answered."""
    records = _of_last_try(records_of(writer.path, turn.id))
    told = {record.get("block") for record in records}
    for block, kind, text in live.unfinished(f"{writer.path.removesuffix('jsonl')}live", turn.id):
        if block not in told and kind in STREAMED:
            writer.append(STREAMED[kind], turn.id, text=text, block=block, partial=True)
    asked = {record["call"]: record for record in records if record["type"] == "permission"}
    for call, question in asked.items():
        if question.get("state") == "asked":
            said = {key: question.get(key) for key in ("tool", "input")}
            writer.append("permission", turn.id, call=call, **said, **UNANSWERED)


def _of_last_try(records: list[Record]) -> list[Record]:
    """The names of blocks begin anew with each try."""
    begun = [place for place, record in enumerate(records) if record["type"] == "turn_start"]
    return records[begun[-1] :] if begun else records


def remember(turn: Turn, engine: str) -> None:
    """Keep in the chat's record what the engine wants to find at its next turn."""
    records = records_of(transcript_of(turn), turn.id)
    states = [one["state"] for one in records if one["type"] == "engine" and "state" in one]
    if states:
        project = store.get(turn.project)
        known = files.read(project, turn.chat).engine_ref
        files.update(project, turn.chat, engineRef={**known, engine: states[-1]})


def _notice(end: Mapping[str, Any]) -> dict[str, Any]:
    """What the chat says of an end that was not asked for."""
    text = sentence(end)
    return {
        "level": "warn" if end["status"] == "interrupted" else "error",
        "code": end["reason"],
        "text": end["text"] or f"{text[:1].upper()}{text[1:]}.",
    }


def records_of(path: str, turn_id: str) -> list[Record]:
    """Every record of one turn, in order. Records of a turn stand together, so the end is read."""
    found: list[Record] = []
    for _, record in transcript.backwards(path):
        if record.get("turn") == turn_id:
            found.append(record)
        elif found:
            break
    return found[::-1]


def transcript_of(turn: Turn) -> str:
    """The turn's transcript. NotFound when the chat is gone."""
    project = store.get(turn.project)
    files.read(project, turn.chat)
    return str(files.transcript_path(project, turn.chat))


def _start_fields(turn: Turn) -> dict[str, Any]:
    record = files.read(store.get(turn.project), turn.chat)
    return {
        "engine": None,
        "engine_version": None,
        "model": turn.model or None,
        "tools": turn.tools,
        "mode": turn.mode,
        "max_turns": turn.max_turns,
        "depth": record.depth,
        "attended": turn.sender.get("kind") == "user",
        "trigger": record.trigger or None,
        "client_id": turn.client or None,
        "sandbox": None,
    }


def _elapsed_ms(turn: Turn) -> int:
    began = turn.started or datetime.now(UTC)
    return int((datetime.now(UTC) - began).total_seconds() * 1000)
