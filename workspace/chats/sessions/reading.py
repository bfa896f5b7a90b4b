"""A session of Claude Code as the messages of a chat, for those who only look."""

from __future__ import annotations

from typing import cast

from workspace.chats.messages import Message, Viewer
from workspace.chats.sessions import claude_code, records
from workspace.chats.sessions.claude_code import Session


def page(
    session: Session, *, limit: int = 100, before: int | None = None
) -> tuple[list[Message], int, int | None]:
    """(messages before the `before`-th, oldest first; how many in all; the next `before`).

    `offset` of a message is its number: these files are not ours to point into.
    """
    messages: list[Message] = []
    for number, turn in enumerate(records.turns(claude_code.lines(session.path)), 1):
        viewer = Viewer("")
        for kind, fields in turn.records:
            record = {"type": kind, "turn": f"{session.id}:{number}", **fields}
            shown = viewer.view(len(messages) + 1, record)
            if shown is not None and "role" in shown:
                messages.append(cast("Message", shown))
    last = len(messages) if before is None else min(before, len(messages))
    first = max(0, last - limit)
    return messages[first:last], len(messages), first or None
