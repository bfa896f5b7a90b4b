"""A conversation of Claude Code as records of our own transcript.

Only what led to the end of the conversation: branches that the person abandoned by going back are
left out, and so is what its agents said among themselves. In memory are only the links between the
lines of the file, and the words of one turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from config.storage import opening
from workspace.chats.sessions import claude_code
from workspace.chats.sessions.claude_code import Line, is_said, words_of
from workspace.engines import catalogue

_STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_STOPPED = "[Request interrupted by user"
UNANSWERED = "Claude Code kept no answer to this call."

Record = dict[str, Any]


@dataclass(slots=True)
class Turn:
    """One message of the person and what followed: (kind, fields) as a transcript takes them."""

    model: str = ""
    records: list[tuple[str, Record]] = field(default_factory=list)
    open: dict[str, str] = field(default_factory=dict)  # call -> time of the call
    stopped: bool = False
    lines: list[int] = field(default_factory=list)  # offsets in the file
    lost: int = 0  # lines before the first turn that cannot be reached

    @property
    def first(self) -> Record:
        return self.records[0][1]

    @property
    def last(self) -> Record:
        return self.records[-1][1]

    def before(self) -> list[tuple[str, Record]]:
        """Records that come before those of this turn: a notice if lines were lost."""
        if not self.lost:
            return []
        lines = "One earlier line" if self.lost == 1 else f"{self.lost} earlier lines"
        text = f"{lines} of the session cannot be shown: what stood between cannot be read."
        at = {"ts": self.first["ts"]} if "ts" in self.first else {}
        return [("notice", {"level": "warn", "code": "imported", "text": text, **at})]


class _Link(NamedTuple):
    """How a line is linked to other lines."""

    at: int
    parent: str
    word: bool
    message: str
    uses: tuple[str, ...]
    results: tuple[str, ...]


def read_turns(path: Path) -> Iterator[Turn]:
    """The turns of the conversation in a file, in order."""
    with opening.reading(path) as file:
        road, lost = _road(claude_code.lines(file))
        for turn in turns(claude_code.lines_at(file, road)):
            turn.lost, lost = lost, 0
            yield turn


def turns(lines: Iterable[tuple[int, Line]]) -> Iterator[Turn]:
    """The turns that these lines of the conversation form, each with its offsets."""
    turn: Turn | None = None
    for at, line in lines:
        if is_said(line) and (text := words_of(_content(line))):
            if text.startswith(_STOPPED):
                if turn:
                    turn.stopped = True
                    turn.lines.append(at)
                continue
            if turn:
                yield _close_calls(turn)
            turn = Turn(lines=[at])
            turn.records.append(("user", {"text": text, "sender": {"kind": "user"}, **_at(line)}))
        elif turn:
            turn.lines.append(at)
            _take(turn, line)
    if turn:
        yield _close_calls(turn)


def _road(lines: Iterable[tuple[int, Line]]) -> tuple[list[int], int]:
    """Offsets of the lines from the first to the last message, with the answer to every call among
    them; and how many lines come before these but cannot be reached, because a line in between
    cannot be read."""
    known: dict[str, _Link] = {}
    unreadable: list[int] = []
    for at, line in lines:
        if line.get("uuid"):
            known[str(line["uuid"])] = _link(at, line)
        elif not line:
            unreadable.append(at)
    words = {name: link for name, link in known.items() if link.word}
    name = next(reversed(words), "")
    taken: set[str] = set()
    while name in known and name not in taken:
        taken.add(name)
        name = known[name].parent
    ids = {link.message for name, link in words.items() if name in taken} - {""}
    on_it = {name for name, link in words.items() if name in taken or link.message in ids}
    calls = {call for name in on_it for call in words[name].uses}
    road = [
        link.at
        for name, link in words.items()
        if name in on_it or not calls.isdisjoint(link.results)
    ]
    if not name or name in known:
        return road, 0
    earlier = [*unreadable, *(link.at for link in words.values())]
    return road, sum(at < min(road) for at in earlier)


def _link(at: int, line: Line) -> _Link:
    parent = str(line.get("parentUuid") or line.get("logicalParentUuid") or "")
    if not _is_word(line):
        return _Link(at, parent, word=False, message="", uses=(), results=())
    return _Link(
        at,
        parent,
        word=True,
        message=_message_id(line),
        uses=_calls(line, "tool_use", "id"),
        results=_calls(line, "tool_result", "tool_use_id"),
    )


def _is_word(line: Line) -> bool:
    return (
        line.get("type") in ("user", "assistant")
        and isinstance(line.get("message"), dict)
        and not line.get("isSidechain")
    )


def _message_id(line: Line) -> str:
    return str(line["message"].get("id") or "") if line.get("type") == "assistant" else ""


def _calls(line: Line, kind: str, key: str) -> tuple[str, ...]:
    return tuple(str(one.get(key)) for one in _blocks(line) if one.get("type") == kind)


def _content(line: Line) -> Any:
    return line["message"].get("content")


def _blocks(line: Line) -> list[Mapping[str, Any]]:
    content = _content(line)
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if line.get("type") == "assistant" else []
    return [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []


def _take(turn: Turn, line: Line) -> None:
    if line.get("type") == "assistant":
        turn.model = turn.model or str(line["message"].get("model") or "")
    for number, block in enumerate(_blocks(line)):
        _take_block(turn, line, number, block)


def _take_block(turn: Turn, line: Line, number: int, block: Mapping[str, Any]) -> None:
    at, ref = _at(line), {"ref": str(line["uuid"]), "block": f"{line['uuid']}:{number}"}
    match block.get("type"):
        case "text" if line["type"] == "assistant" and str(block.get("text") or "").strip():
            turn.records.append(("assistant", {"text": str(block["text"]), **ref, **at}))
        case "thinking" if str(block.get("thinking") or "").strip():
            turn.records.append(("thinking", {"text": str(block["thinking"]), **ref, **at}))
        case "tool_use":
            call, tool = str(block.get("id")), str(block.get("name") or "tool")
            given = block.get("input")
            args = given if isinstance(given, dict) else {}
            about = {"tool": tool, "input": args, "target": catalogue.target(tool, args)}
            turn.open[call] = at.get("ts", "")
            turn.records.append(("tool_use", {"call": call, **about, **at}))
        case "tool_result" if (call := str(block.get("tool_use_id"))) in turn.open:
            del turn.open[call]
            error = block.get("is_error") is True
            turn.records.append(_result(call, _plain(block.get("content")), at, error=error))


def _close_calls(turn: Turn) -> Turn:
    """Add an answer to every call that has none, because the program did not wait for it."""
    for call, when in turn.open.items():
        at = {"ts": when} if when else {}
        turn.records.append(_result(call, UNANSWERED, at, error=True))
    return turn


def _result(call: str, text: str, at: Record, *, error: bool) -> tuple[str, Record]:
    return "tool_result", {"call": call, "is_error": error, "text": text, "ms": None, **at}


def _plain(content: Any) -> str:
    """The output of a tool without what Claude Code adds to it for the model."""
    return words_of(content) or (content.strip() if isinstance(content, str) else "")


def _at(line: Line) -> Record:
    stamp = line.get("timestamp")
    return {"ts": stamp} if isinstance(stamp, str) and _STAMP.fullmatch(stamp) else {}
