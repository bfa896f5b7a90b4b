"""A session of Claude Code as the messages of a chat, for readers who only look.

The offsets of each turn are cached while the file is unchanged, so that a page reads only the turns
it shows.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import cast

from config.storage import opening
from workspace.chats.messages import Message, Viewer
from workspace.chats.sessions import claude_code, records
from workspace.chats.sessions.claude_code import Session
from workspace.chats.sessions.records import Turn

KEPT = 8  # sessions whose offsets are cached


@dataclass(frozen=True, slots=True)
class _Places:
    """The offsets of each turn's lines, and the number of messages before each turn; the last entry
    of `before` is the total."""

    lines: tuple[tuple[int, ...], ...]
    before: tuple[int, ...]
    lost: int  # lines of the file that cannot be reached


_known: dict[str, tuple[tuple[float, int], _Places]] = {}


def page(
    session: Session, *, limit: int = 100, before: int | None = None
) -> tuple[list[Message], int, int | None]:
    """(messages before the `before`-th, oldest first; how many in all; the next `before`).

    The `offset` of a message is its number: byte offsets of another program's file mean nothing
    here.
    """
    places = _places(session)
    total = places.before[-1]
    last = total if before is None else min(before, total)
    first = max(0, last - limit)
    found: list[Message] = []
    if first < last:
        at = bisect_right(places.before, first) - 1
        until = next(n for n in range(at, len(places.lines)) if places.before[n + 1] >= last)
        for number in range(at, until + 1):
            found += _messages(session, _turn(session, places.lines[number]), number, places)
        begin = first - places.before[at]
        found = found[begin : begin + last - first]
    return found, total, first or None


def _places(session: Session) -> _Places:
    state = (session.updated, session.bytes)
    known = _known.get(str(session.path))
    if known is None or known[0] != state:
        lines, counts, lost = [], [], 0
        for turn in records.read_turns(session.path):
            lost += turn.lost
            lines.append(tuple(turn.lines))
            counts.append(len(_turn_messages(turn, Viewer(""), "", 0)))
        while len(_known) >= KEPT:
            _known.pop(next(iter(_known)), None)
        known = (state, _Places(tuple(lines), tuple(accumulate(counts, initial=0)), lost))
        _known[str(session.path)] = known
    return known[1]


def _turn(session: Session, lines: tuple[int, ...]) -> Turn:
    with opening.reading(session.path) as file:
        return next(records.turns(claude_code.lines_at(file, lines)), Turn())


def _messages(session: Session, turn: Turn, number: int, places: _Places) -> list[Message]:
    name = f"{session.id}:{number + 1}"
    turn.lost = 0 if number else places.lost
    return _turn_messages(turn, Viewer(""), name, places.before[number])


def _turn_messages(turn: Turn, viewer: Viewer, name: str, before: int) -> list[Message]:
    """The messages of a turn, numbered from `before` + 1."""
    messages: list[Message] = []
    for kind, fields in [*turn.before(), *turn.records]:
        shown = viewer.view(before + len(messages) + 1, {"type": kind, "turn": name, **fields})
        if shown is not None and "role" in shown:
            messages.append(cast("Message", shown))
    return messages
