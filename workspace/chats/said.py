"""The lines of a chat as read_chat returns them: text, the newest lines or the next ones.

The last lines of recently read chats are cached while the transcript is the same file with the same
size and modification time, which is checked on every read.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

from workspace.chats import index, transcript
from workspace.chats.lines import Record
from workspace.chats.messages import ROLES, Role, find_use, tool_line
from workspace.chats.turns.endings import STATES, sentence
from workspace.models import Chat
from workspace.projects.project import Project

SAID = frozenset(ROLES) - {"notice"}
MOST, ROOM = 32, 1 << 20  # chats in the cache, and their characters in all
# A file changed again within one tick of the file system's clock keeps the same time. Where times
# have no fraction, a tick is a whole second, or two.
TICK_S, COARSE_S = 0.05, 2.0


class Line(TypedDict):
    role: Role
    text: str
    timestamp: str | None


Placed = tuple[int, Line]  # with the offset just after the line


@dataclass(frozen=True, slots=True)
class Lines:
    """Some lines of a chat, oldest first, and where to continue."""

    chat: Chat
    shown: list[Line]  # shared with other callers: do not modify
    total: int
    next: int | None  # `before` for the older lines; None at the beginning of the chat
    end: int  # `after` for later lines


@index.legible()
def read_chat(
    project: Project,
    session_id: str,
    *,
    limit: int,
    before: int | None = None,
    after: int | None = None,
) -> Lines:
    """The last lines before an offset, or the first lines after one."""
    row = index.get(project, session_id)
    path = str(project.chats_dir / f"{row.id}.jsonl")
    older = None
    if after is not None:
        lines: Sequence[Placed] = _next(path, after, limit)
    else:
        if before is None:
            lines = _newest(path, row.transcript_stat, limit + 1)
        else:
            lines = _last(path, max(0, min(before, row.offset)), limit + 1)
        older = lines[-limit][0] if len(lines) > limit else None
        lines = lines[-limit:]
    end = lines[-1][0] if lines else after or 0
    return Lines(row, [line for _, line in lines], row.entries, older, end)


class _Read(NamedTuple):
    """The last lines of a transcript at `stamp`, at most `asked` of them; `size` in characters."""

    stamp: str
    asked: int
    lines: list[Placed]
    size: int


_known: dict[str, _Read] = {}  # by path: the last lines, as last read


def _newest(path: str, stamp: str, count: int) -> list[Placed]:
    """The last lines of a transcript, from the cache if it still has this stamp."""
    known = _known.get(path)
    if known and known.stamp == stamp and (known.asked >= count or len(known.lines) < known.asked):
        return known.lines[-count:]
    lines = _last(path, None, count)
    seconds, parts = divmod(int(stamp.split(":", 1)[0]), 10**9)
    if time.time() - seconds - parts / 1e9 > (TICK_S if parts else COARSE_S):
        _remember(path, _Read(stamp, count, lines, sum(len(line["text"]) for _, line in lines)))
    return lines


def _remember(path: str, read: _Read) -> None:
    _known.pop(path, None)
    _known[path] = read
    left = ROOM
    for number, (one, kept) in enumerate(reversed([*_known.items()])):
        if number >= MOST or kept.size > left:
            _known.pop(one, None)
        else:
            left -= kept.size


def _last(path: str, before: int | None, count: int) -> list[Placed]:
    return _lines(path, transcript.backwards(path, before), count, before)[::-1]


def _next(path: str, after: int, count: int) -> list[Placed]:
    return _lines(path, transcript.read(path, after), count)


def _lines(
    path: str, records: Iterable[tuple[int, Record]], count: int, told: int | None = None
) -> list[Placed]:
    """The first `count` lines of these records, without the one that ends at `told`."""
    found: list[tuple[int, Record]] = []
    uses: dict[str, Record] = {}
    for offset, record in records:
        if record["type"] == "tool_use":
            uses[str(record.get("call"))] = record
        elif is_line(record) and offset != told:
            found.append((offset, record))
            if len(found) == count:
                break
    return [(offset, _line(path, offset, record, uses)) for offset, record in found]


def is_line(record: Record) -> bool:
    """Whether the record is a line: notices are not, the end of a failed turn is."""
    kind = record["type"]
    return kind in SAID or (
        kind == "turn_end" and STATES.get(str(record.get("status"))) == "failed"
    )


def _line(path: str, offset: int, record: Record, uses: dict[str, Record]) -> Line:
    role: Role
    match record["type"]:
        case "turn_end":
            role, text = "assistant", f"[turn failed: {sentence(record)}]"
        case "tool_result":
            use = uses.get(str(record.get("call"))) or find_use(path, offset, record)
            role, text = "tool", tool_line(use, record)
        case role:
            text = record.get("text") or ""
    return {"role": role, "text": text, "timestamp": record.get("ts")}
