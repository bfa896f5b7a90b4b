"""Calls that wait until something happens to a chat: on the event loop, without a thread.

The event of a change wakes them; a regular look finds changes that came without an event.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

from django.db.models import Q

from config.errors import Invalid
from config.logs import timestamp
from config.mcp.operations import Argument
from config.waits import Bound
from config.web.events import Client, broadcaster
from config.web.http import threads
from workspace.access.principals import Principal
from workspace.chats import counts, index, said
from workspace.chats.turns.states import ACTIVE
from workspace.mcp import chats
from workspace.models import Turn
from workspace.projects import store

WAITS = 100
MOST_S = 60
LOOK_S = 2.0
WAIT = Argument("wait_seconds", "integer", default=0, least=0, most=MOST_S)

_waiting = Bound(WAITS, "calls wait for chats already; ask again without wait_seconds.")


def for_chat(
    principal: Principal,
    *,
    project: str,
    session_id: str,
    after: int | None = None,
    wait_seconds: int = 0,
    **_: Any,
) -> Awaitable[None] | None:
    """Wait until the chat has a line after `after`, or none of its turns runs or is next."""

    def has_moved() -> bool:
        found = store.get(project)
        index.get(found, session_id)
        if after is not None:
            lines = said.read_chat(found, session_id, limit=1, after=after)
            if lines.shown:
                return True
        live = Q(state__in=ACTIVE) | Q(unclosed=True)
        return not Turn.of(project, session_id).filter(live).exists()

    return _until(has_moved, session_id.encode(), wait_seconds) if wait_seconds else None


def for_list(
    principal: Principal,
    *,
    after: str = "",
    wait_seconds: int = 0,
    fields: Sequence[str] = (),
    **which: Any,
) -> Awaitable[None] | None:
    """Wait until a chat of the list is newer than `after`; without it, until a chat is added or
    removed, or a turn of one begins or ends. `after` only ends the wait, it filters nothing."""
    which |= {"limit": 1_000_000, "before": ""}

    def states() -> frozenset[tuple[str, bool, int]]:
        seen = chats.find(principal, **which)
        rows = seen.page.rows
        return frozenset(
            (row.id, row.id in seen.running, seen.waiting.get(row.id, 0)) for row in rows
        )

    def newer() -> bool:
        rows = chats.find(principal, **which | {"limit": 1}).page.rows
        return bool(rows) and counts.moment(timestamp(rows[0].updated)) > since

    async def other() -> None:
        first = await threads.brief(states)
        await _until(lambda: states() != first, b"event: chat", wait_seconds)

    since = counts.moment(after)
    if after and since == counts.EPOCH:
        raise Invalid("`after` must be an updatedAt of an earlier answer.")
    if not wait_seconds:
        return None
    return _until(newer, b"event: chat", wait_seconds) if after else other()


async def _until(moved: Callable[[], bool], named: bytes, seconds: float) -> None:
    source, clock = broadcaster("main"), asyncio.get_running_loop().time
    with _waiting():
        stream, end = source.join(None), clock() + seconds
        try:
            while not await threads.brief(moved) and (left := end - clock()) > 0:
                await _read_until(stream, named, min(LOOK_S, left))
        finally:
            source.leave(stream)


async def _read_until(stream: Client, named: bytes, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while named not in await stream.take():
                pass
