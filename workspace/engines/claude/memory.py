"""Where a conversation goes on: its own file, a fork's source, or our records.

Claude Code keeps one file per conversation. The costs it reports cover the whole file, so the sums
at the end of the file are read before the turn.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from glob import escape
from pathlib import Path

from config.process.light_typing import Any, NamedTuple
from workspace.engines import history
from workspace.engines.base import Job, TurnIO
from workspace.engines.message import again

LOST = (
    "Claude no longer has its own memory of this conversation; it was given the messages as text."
)
UNKNOWN = ("No conversation found", "No message found")


class Sums(NamedTuple):
    """Cost in USD and tokens per model that a conversation has had so far."""

    cost: float = 0.0
    models: Mapping[str, Mapping[str, Any]] = {}


class Start(NamedTuple):
    """What to say, and where: `session` is a new conversation, `resume` an old one, both a fork."""

    prompt: str
    session: str | None = None
    resume: str | None = None
    at: str | None = None
    before: Sums = Sums()
    state: Mapping[str, Any] = {}  # what an earlier turn left
    lost: bool = False
    since: history.Since = history.Since()


def choose(job: Job, io: TurnIO, store: Path) -> Start:
    """Where this turn goes on: the first that exists of its own file, a fork's source, a replay."""
    state = job.engine_ref or _last_state(io) or {}
    known, mine = state.get("session"), state.get("chat") == job.chat
    own = known if mine and known else job.chat
    path = _file(store, own)
    since = history.since(job, io.earlier())
    message = since.before(again.message(job, io))
    if path:
        return Start(message, resume=own, before=_sums(path), state=state, since=since)
    path = _file(store, known) if known and not mine else None
    at = _last_ref(io) if path else None
    if path and at:
        return Start(message, job.chat, resume=known, at=at, before=_sums(path), since=since)
    return replay(job, io, store, lost=bool(known))


def replay(job: Job, io: TurnIO, store: Path, *, lost: bool) -> Start:
    """A new conversation that begins with the earlier one as text."""
    told, message = history.preamble(again.earlier(job, io)), again.message(job, io)
    prompt = f"{told}\n\n{message}" if told else message
    free = _file(store, job.chat) is None
    return Start(prompt, job.chat if free else str(uuid.uuid4()), lost=lost)


def _last_state(io: TurnIO) -> Mapping[str, Any] | None:
    """What the newest turn of this engine left, in this chat or the one it was forked from."""
    for record in io.earlier():
        if record["type"] == "engine" and record.get("engine") == "claude" and "state" in record:
            state: Mapping[str, Any] = record["state"]
            return state
    return None


def _last_ref(io: TurnIO) -> str | None:
    """Claude Code's id of the last thing it said in the records of the chat: the fork point."""
    ref = None
    for record in io.earlier():
        if record["type"] == "turn_start":
            if ref and record.get("engine") == "claude":
                return str(ref)
            ref = None
        elif record["type"] in ("assistant", "thinking") and not record.get("task"):
            ref = ref or record.get("ref")
    return None


def _file(store: Path, session: str) -> Path | None:
    """A conversation's file, whichever directory it was held in; None if there is none."""
    return next(store.glob(f"*/{escape(session)}.jsonl"), None)


def _sums(path: Path) -> Sums:
    """The last sums in a conversation's file; zero if there are none."""
    last = b""
    try:
        with path.open("rb") as file:
            for line in file:
                if b'"cost-state"' in line[:200]:
                    last = line
        found = json.loads(last or b"{}")
        return Sums(float(found.get("totalCostUSD") or 0), found.get("modelUsage") or {})
    except (OSError, ValueError, TypeError, AttributeError):
        return Sums()
