"""What chat lists show about a transcript, counted line by line as it grows."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any

from workspace.chats import files, hosts, spent, titles, transcript
from workspace.chats.turns.endings import STATES, sentence
from workspace.models import Chat

PREVIEW_MAX = 160
MESSAGES = ("user", "assistant", "tool_result", "notice")
EPOCH = datetime.fromtimestamp(0, UTC)


def read(row: Chat, path: str, *, anew: bool) -> tuple[bool, bool]:
    """Read the new lines, or everything if the file was edited. Return whether a turn ended in them
    (then the row is worth storing), and whether the file was read from its start.

    OSError when it cannot be read: the row keeps its old values, or what was read until then.
    """
    scan = transcript.Scan(path, 0 if anew else row.offset, wary=True)
    records = iter(scan)
    first = [*islice(records, 1)]  # an unreadable file raises here, before anything is reset
    if anew or scan.anew:
        row.offset = row.messages = row.entries = row.damaged = row.arrived = 0
        row.title, row.preview, row.updated = "", "", row.created
        row.last_turn = row.usage = row.cost = None
        row.context = row.hosts = row.instructions = None
    ended, inherited = False, files.inherited_to(row.record)
    try:
        for offset, record in chain(first, records):
            _count(row, record)
            if record["type"] == "turn_end" and offset > inherited:
                row.usage = spent.add_usage(row.usage, record.get("usage"))
                row.cost = spent.add_cost(row.cost, spent.cost(record))
            ended |= record["type"] == "turn_end"
            if _concerns_reader(record):
                row.arrived = offset
    finally:
        row.offset = scan.end
        row.damaged += scan.damaged
    return ended, anew or scan.anew


def _count(row: Chat, record: dict[str, Any]) -> None:
    kind = record["type"]
    if kind in MESSAGES:
        row.messages += 1
        row.updated = moment(str(record.get("ts")), row.updated)
    if kind in ("user", "assistant"):
        row.preview = _one_line(str(record.get("text") or ""), PREVIEW_MAX) or row.preview
    if kind == "user" and not row.title:
        row.title = titles.title(str(record.get("text") or ""))
    if kind == "turn_start" and isinstance(record.get("instructions"), list):
        row.instructions = record["instructions"]
    failed = kind == "turn_end" and STATES.get(str(record.get("status"))) == "failed"
    if kind in ("user", "assistant", "tool_result") or failed:
        row.entries += 1
    if kind == "turn_end":
        row.last_turn = {
            "status": {"done": "completed"}.get(
                state := STATES.get(str(record.get("status")), "failed"), state
            ),
            "reason": sentence(record) or None,
            "finishedAt": record.get("ts"),
            "model": spent.model(record),
        }
        row.context = record["context"] if spent.context(record) else row.context
    if kind in ("turn_end", "turn_wait"):
        row.hosts = hosts.merge(row.hosts or [], hosts.of(record)) or None


def _concerns_reader(record: dict[str, Any]) -> bool:
    """Whether a person who has read the chat would look again: a turn ended, or others wrote."""
    sender = record.get("sender")
    own = isinstance(sender, dict) and sender.get("kind") == "user"
    return record["type"] == "turn_end" or (record["type"] == "user" and not own)


def _one_line(text: str, most: int) -> str:
    line = " ".join(text[: most * 4].split())
    return line if len(line) <= most else f"{line[:most]}…"


def moment(text: str, otherwise: datetime | None = None) -> datetime:
    """Parse a stored timestamp, to the millisecond; if invalid, return `otherwise` or the epoch."""
    try:
        found = datetime.fromisoformat(text)
        found = found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
        return found.replace(microsecond=found.microsecond // 1000 * 1000)
    except (TypeError, ValueError, OverflowError):
        return otherwise or EPOCH
