"""How a turn ends, in whichever process: its row is settled, the queue is held or continues.

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
STREAMED = {"text": "assistant", "thinking": "thinking"}  # kind of a delta -> type of its record
UNBEGUN: dict[str, Any] = {"claim": "", "token_hash": "", "lease_until": None, "started": None}
HOLDING = ("failed", "stopped")
OUT_OF_SCOPE = "out_of_scope"  # says nothing about the chat: later messages of others are not held
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
    """Why a turn ended, as a sentence for people; empty for a completed turn."""
    reason = end.get("reason") or ("" if end.get("status") == "ok" else end.get("status"))
    if not reason:
        return ""
    return str(end.get("text") or SENTENCES.get(str(reason), str(reason)))[:500]


def settle(
    turn_id: str, end: Mapping[str, Any], on_change: OnChange, *, unclosed: bool = False
) -> bool:
    """Move the running row to the state that `end` implies, once; then hold the waiting messages or
    start the next one. False if the row no longer runs.

    `unclosed`: the transcript lacks the end, and `complete` has to write it."""
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
            waiting = Turn.of(turn.project, turn.chat).filter(state="queued", run=None)
            waiting.update(state="held", reason=holds(turn))
    tell(on_change, turn)
    _say_ended(turn)
    deliver(turn.project, turn.chat, again=True)
    return True


def holds(turn: Turn) -> str:
    """Why messages after a turn with this end are held."""
    return f"the turn before it: {turn.reason}"


def hold(turn: Turn, reason: str, on_change: OnChange) -> bool:
    """Put a running message that has not begun back into the queue, held with those behind it until
    a person resumes them. False for a firing, which is never held, and if it no longer runs."""
    held = {"state": "held", "reason": reason}
    if turn.run_id is not None:
        return False
    with transaction.atomic():
        mine = Turn.objects.filter(id=turn.id, claim=turn.claim, state="running")
        if not mine.update(stop="", **held, **UNBEGUN):
            return False
        Turn.of(turn.project, turn.chat).filter(state="queued", run=None).update(**held)
    tell(on_change, Turn.objects.get(id=turn.id))
    deliver(turn.project, turn.chat, again=True)
    return True


def _say_ended(turn: Turn) -> None:
    """Send the signal that a turn ended, even if another host completes the transcript later."""
    seconds = None
    if turn.started and turn.finished:
        seconds = (turn.finished - turn.started).total_seconds()
    fired = turn.sender.get("kind") == "trigger"
    trigger = str(turn.sender.get("name") or "") if fired else ""
    names = (turn.project, turn.chat, turn.id, turn.state, turn.reason)
    kernel.tell(signals.turn_ended, signals.TurnEnded(*names, seconds, turn.run_id or "", trigger))


def tell(on_change: OnChange, turn: Turn) -> None:
    """Call `on_change` and announce the queue; the queue continues even if the callback fails."""
    try:
        on_change(turn)
    except Exception:
        log.exception("following a turn failed", extra={"turn": turn.id})
    announce()


def recover(turn_id: str, *, status: str, reason: str, on_change: OnChange, text: str = "") -> bool:
    """End a turn whose process is gone, or put it aside. False if another writer holds the chat.

    An end in the transcript takes precedence over `status`, but a person's stop takes precedence
    over a wait. A message that a full disk keeps out of its chat is held. A host that cannot reach
    the transcript ends only the row; the next host that can reach it does the rest (`complete`).
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
        kept_out = isinstance(error, transcript.StorageError) and not _is_in_chat(turn)
        if kept_out and hold(turn, SENTENCES["storage_full"], on_change):
            return True
        return settle(turn_id, end, on_change, unclosed=not homes.is_mine(turn.home))
    if end.get("type") != "turn_wait":
        return settle(turn_id, end, on_change)
    if waiting := retries.put_aside(turn_id, end):
        tell(on_change, waiting)
        return True
    return recover(turn_id, status=status, reason=reason, on_change=on_change, text=text)


def complete(turn: Turn, on_change: OnChange) -> bool:
    """Write the end of a turn that another host ended without access to its transcript. An end that
    is in the transcript already is kept. False if it cannot be written now."""
    end: Mapping[str, Any] = {"status": "interrupted", "reason": "worker_lost", "text": None}
    try:
        end = close(turn, end)
    except (transcript.Busy, transcript.StorageError):
        return False
    except SvcError as error:  # the chat was deleted in the meantime
        log.warning("transcript not closed: %s", error, extra={"turn": turn.id})
    state = STATES.get(str(end.get("status")), "failed")
    left = Turn.objects.filter(id=turn.id, unclosed=True)
    if not left.update(state=state, reason=sentence(end)):
        return False
    tell(on_change, Turn.objects.get(id=turn.id))
    left.update(unclosed=False)
    deliver(turn.project, turn.chat, again=True)
    return True


def close(turn: Turn, end: Mapping[str, Any]) -> Mapping[str, Any]:
    """Append the records that the turn lacks. Return its turn_end or turn_wait, whichever is valid.
    Raises transcript.Busy."""
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


def _is_in_chat(turn: Turn) -> bool:
    """Whether the transcript has the message of the turn. Nothing of a turn happens before."""
    try:
        return any(one["type"] == "user" for one in records_of(transcript_of(turn), turn.id))
    except (SvcError, OSError):
        return True  # not known


def _waits(turn: Turn, last: Record, end: Mapping[str, Any]) -> bool:
    """Whether the last try put the turn aside; not if a person has stopped it."""
    tried = (turn.retry or {}).get("try") or 1
    waits = last["type"] == "turn_wait" and end["status"] != "stopped"
    return waits and int(last["try"]) > tried


def _unknown(turn: Turn) -> dict[str, Any]:
    """The fields of an end that no process wrote: what earlier tries used, and zero or None."""
    before = turn.retry or {}
    known = {"turns": 0, "usage": None, "cost": None} | {
        key: before[key] for key in ("turns", "usage", "cost") if before.get(key) is not None
    }
    return {"text": None, **known, "ms": _elapsed_ms(turn)}


def _keep_unfinished(writer: transcript.Writer, turn: Turn) -> None:
    """Record text that was streamed but not recorded, and close questions that are still open."""
    records = _of_last_try(records_of(writer.path, turn.id))
    told = {record.get("block") for record in records}
    for block, kind, text in live.read_blocks(f"{writer.path.removesuffix('jsonl')}live", turn.id):
        if block not in told and kind in STREAMED:
            writer.append(STREAMED[kind], turn.id, text=text, block=block, partial=True)
    asked = {record["call"]: record for record in records if record["type"] == "permission"}
    for call, question in asked.items():
        if question.get("state") == "asked":
            said = {key: question.get(key) for key in ("tool", "input")}
            writer.append("permission", turn.id, call=call, **said, **UNANSWERED)


def _of_last_try(records: list[Record]) -> list[Record]:
    """The records since the last turn_start: each try numbers its blocks from the start."""
    begun = [place for place, record in enumerate(records) if record["type"] == "turn_start"]
    return records[begun[-1] :] if begun else records


def remember(turn: Turn, engine: str) -> None:
    """Store in the chat's record the state that the engine needs at its next turn."""
    records = records_of(transcript_of(turn), turn.id)
    states = [one["state"] for one in records if one["type"] == "engine" and "state" in one]
    if states:
        project = store.get(turn.project)
        known = files.read(project, turn.chat).engine_ref
        files.update(project, turn.chat, engineRef={**known, engine: states[-1]})


def _notice(end: Mapping[str, Any]) -> dict[str, Any]:
    """The notice in the chat about an end that no one asked for."""
    text = sentence(end)
    return {
        "level": "warn" if end["status"] == "interrupted" else "error",
        "code": end["reason"],
        "text": end["text"] or f"{text[:1].upper()}{text[1:]}.",
    }


def records_of(path: str, turn_id: str) -> list[Record]:
    """Every record of one turn, in order. They are contiguous, so only the file's end is read."""
    found: list[Record] = []
    for _, record in transcript.backwards(path):
        if record.get("turn") == turn_id:
            found.append(record)
        elif found:
            break
    return found[::-1]


def transcript_of(turn: Turn) -> str:
    """The path of the turn's transcript. NotFound if the chat is gone."""
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
