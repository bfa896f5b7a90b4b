"""Transcript records as messages, for REST and the stream. The lines of read_chat are in said.py.

A tool's use and its result are one message, shown when the result is there. Nothing here keeps
state between calls except `Viewer`, which remembers the open tool calls.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict

from workspace.chats import hosts, index, spent, transcript
from workspace.chats.lines import Record
from workspace.chats.turns.endings import STATES, sentence
from workspace.engines import allowing
from workspace.projects.project import Project

log = logging.getLogger(__name__)

TranscriptLine = Mapping[str, Any]  # a Message, or a line about a turn, thinking or a permission
Role = Literal["user", "assistant", "tool", "notice"]
ROLES: Mapping[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "notice": "notice",
    "tool_result": "tool",
}
TARGET_MAX = 120
TURN_STATES = STATES | {"ok": "completed"}


class ToolCall(TypedDict):
    name: str
    target: str | None
    ok: bool | None
    durationMs: int | None
    input: Any
    output: str | None
    truncated: bool


class Cut(TypedDict):
    """Present if `content` is only the beginning: size and file (in the chats folder) of it all."""

    bytes: int
    file: str


class Message(TypedDict):
    """One message; only notices have `level` and `code`."""

    uuid: str | None
    offset: int
    role: Role
    content: str
    timestamp: str | None
    turnId: str | None
    sender: NotRequired[dict[str, Any]]
    toolCall: NotRequired[ToolCall]
    level: NotRequired[str | None]
    code: NotRequired[str | None]
    cut: NotRequired[Cut]


class Viewer:
    """Turns records, in file order, into Messages; looks up the use if a result lacks it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._open: dict[str, Record] = {}

    def view(self, offset: int, record: Record) -> TranscriptLine | None:
        """What a client sees of this line; None for a line that is not sent. Every reader gets its
        lines from here: one that cannot be shown is left out and does not hide the others."""
        try:
            return self._line(offset, record)
        except Exception:
            where = {"transcript": self._path, "offset": offset}
            log.exception("a line of a transcript cannot be shown", extra=where)
            return None

    def _line(self, offset: int, record: Record) -> TranscriptLine | None:
        match record["type"]:
            case "tool_use":
                self._open[str(record.get("call"))] = record
                return None
            case "user" | "assistant" | "notice" | "tool_result":
                return self._message(offset, record)
            case "thinking":
                return _thinking_line(offset, record)
            case "turn_start" | "turn_end" | "turn_wait":
                return _turn_line(offset, record)
            case "permission":
                return _permission_line(offset, record)
            case _:
                return None

    def _message(self, offset: int, record: Record) -> Message:
        shown: Message = {
            "uuid": record.get("id"),
            "offset": offset,
            "role": ROLES[record["type"]],
            "content": str(record.get("text") or ""),
            "timestamp": record.get("ts"),
            "turnId": record.get("turn"),
        }
        if "blob" in record and record["type"] != "tool_result":
            shown["cut"] = {"bytes": record.get("bytes") or 0, "file": f"blobs/{record['blob']}"}
        if record["type"] == "user":
            shown["sender"] = record.get("sender") or {"kind": "system"}
        if record["type"] == "notice":
            shown["level"], shown["code"] = record.get("level"), record.get("code")
        if record["type"] == "tool_result":
            use = self._open.pop(str(record.get("call")), None)
            use = use or find_use(self._path, offset, record)
            shown["content"] = tool_line(use, record)
            shown["toolCall"] = _tool_call(use, record)
        return shown


def find_use(path: str, offset: int, result: Record) -> Record:
    """The call that this result answers: an earlier line of the same turn; {} if there is none."""
    for _, record in transcript.backwards(path, offset):
        if record.get("turn") != result.get("turn"):
            break
        if record["type"] == "tool_use" and record.get("call") == result.get("call"):
            return record
    return {}


def _tool_call(use: Record, result: Record) -> ToolCall:
    return {
        "name": use.get("tool") or "",
        "target": use.get("target") or "",
        "ok": not result.get("is_error"),
        "durationMs": result.get("ms"),
        "input": use.get("input"),
        "output": result.get("text") or "",
        "truncated": "blob" in result,
    }


def tool_line(use: Record, result: Record) -> str:
    """One line: `Bash npm test — error: exit 1`."""
    name = " ".join(
        part for part in (use.get("tool"), str(use.get("target") or "")[:TARGET_MAX]) if part
    )
    if not result.get("is_error"):
        return f"{name or 'tool'} — ok"
    first = next(iter(str(result.get("text") or "").strip().splitlines()), "failed")
    return f"{name or 'tool'} — error: {first}"


def _turn_line(offset: int, record: Record) -> TranscriptLine:
    shown = {
        "type": "turn",
        "offset": offset,
        "turnId": record.get("turn"),
        "timestamp": record.get("ts"),
    }
    if record["type"] == "turn_start":
        model = {"engine": record.get("engine"), "model": record.get("model")}
        again = {"try": record["try"]} if "try" in record else {}
        return shown | {"state": "started", "mode": record.get("mode")} | model | again
    if record["type"] == "turn_wait":
        again = {key: record.get(key) for key in ("try", "of", "until")}
        return shown | {"state": "waiting", "reason": sentence(record) or None} | again
    reached = hosts.of(record)
    return shown | {
        "state": TURN_STATES.get(str(record.get("status")), "failed"),
        "reason": sentence(record) or None,
        "usage": record.get("usage"),
        "cost": spent.cost(record),
        "model": spent.model(record),
        "context": spent.context(record),
        **({"hosts": reached} if reached else {}),
    }


def _thinking_line(offset: int, record: Record) -> TranscriptLine:
    return {
        "type": "thinking",
        "offset": offset,
        "turnId": record.get("turn"),
        "timestamp": record.get("ts"),
        "content": str(record.get("text") or ""),
    }


def _permission_line(offset: int, record: Record) -> TranscriptLine:
    """A question has `until`, when it is denied unless answered, and `rule`, what *Allow in this
    chat* would keep; null if only this one call can be allowed."""
    keys = ("call", "tool", "input", "state", "by", "reason")
    given, more = record.get("input"), {}
    if record.get("state") == "asked":
        rule = allowing.rule_for(str(record.get("tool")), given if isinstance(given, dict) else {})
        more = {"until": record.get("until"), "rule": rule}
    return {
        "type": "permission",
        "offset": offset,
        "turnId": record.get("turn"),
        "timestamp": record.get("ts"),
        **{key: record.get(key) for key in keys},
        **more,
    }


@index.legible()
def page(
    project: Project,
    session_id: str,
    *,
    limit: int = 100,
    before: int | None = None,
    turns: bool = False,
) -> tuple[list[TranscriptLine], int, int | None]:
    """The newest messages before an offset, oldest first: (messages, total, next `before`).

    With `turns`, the lines between them too, as the stream sends them: how turns began and ended,
    thinking, and permission questions. Every such line is on exactly one page.
    """
    row = index.get(project, session_id)
    path = str(project.chats_dir / f"{row.id}.jsonl")
    viewer = Viewer(path)
    if before is not None:
        before = max(0, min(before, row.offset))
    records = _newest(path, before, limit + 1)
    shown = [
        message
        for offset, record in records
        if (message := viewer.view(offset, record)) is not None and (turns or "role" in message)
    ]
    places = [place for place, message in enumerate(shown) if "role" in message]
    if len(places) <= limit:
        return shown, row.messages, None
    first = places[-limit]
    return shown[first:], row.messages, shown[first]["offset"]


def _newest(path: str, before: int | None, count: int) -> list[tuple[int, Record]]:
    """Records from `before` back to the `count`-th message, in file order, including the uses that
    belong to the tool results among them."""
    found: list[tuple[int, Record]] = []
    open_calls: set[str] = set()
    seen = 0
    for offset, record in transcript.backwards(path, before):
        if offset == before:  # the offset of a message is just after its own line
            continue
        if seen >= count and not open_calls:
            break
        kind = record["type"]
        if kind == "tool_use":
            open_calls.discard(str(record.get("call")))
            found.append((offset, record))
        elif seen < count:
            found.append((offset, record))
            seen += kind in ROLES
            if kind == "tool_result":
                open_calls.add(str(record.get("call")))
        elif kind == "turn_end":
            break  # a use is never in an earlier turn than its result
    return found[::-1]
