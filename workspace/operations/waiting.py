"""Calls that wait until something happens to a chat: on the loop, holding no thread.

The event of the change wakes them; a look every so often finds what no event told of.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from django.db.models import Q

from config.kernel.errors import Invalid
from config.kernel.logs import timestamp
from config.kernel.mcp.operations import Argument
from config.kernel.waits import Bound
from config.kernel.web import threads
from config.kernel.web.events import Client, broadcaster
from workspace import projects
from workspace.access.principals import Principal
from workspace.chats import index, messages
from workspace.chats.turns.queue import ACTIVE
from workspace.models import Turn
from workspace.operations import chats

WAITS = 100
MOST_S = 60
LOOK_S = 2.0
WAIT = Argument("wait_seconds", "integer", default=0, least=0, most=MOST_S)

_waiting = Bound(WAITS, "calls wait for chats already; ask again without wait_seconds.")


async def for_chat(
    principal: Principal,
    *,
    project: str,
    session_id: str,
    after: int | None = None,
    wait_seconds: int = 0,
    **_: Any,
) -> None:
    """Until the chat has a line behind `after`, or no turn of it runs or is next."""

    def moved() -> bool:
        found = projects.get(project)
        index.get(found, session_id)
        if after is not None:
            lines = messages.read_chat(found, session_id, limit=1, after=after)
            if lines.shown:
                return True
        live = Q(state__in=ACTIVE) | Q(unclosed=True)
        return not Turn.objects.filter(live, chat=session_id).exists()

    if wait_seconds:
        await _until(moved, session_id.encode(), wait_seconds)


async def for_list(
    principal: Principal, *, after: str = "", wait_seconds: int = 0, **which: Any
) -> None:
    """Until a chat of the list is newer than `after`; without it, until one comes, goes, or has a
    turn that begins or ends."""
    which |= {"limit": 1_000_000, "before": "", "fields": ()}

    def states() -> frozenset[tuple[str, bool, int]]:
        seen = chats.list_chats(principal, **which)
        rows = seen.found.rows
        return frozenset(
            (row.id, row.id in seen.running, seen.waiting.get(row.id, 0)) for row in rows
        )

    def newer() -> bool:
        rows = chats.list_chats(principal, **which | {"limit": 1}).found.rows
        return bool(rows) and index.moment(timestamp(rows[0].updated)) > since

    if not wait_seconds:
        return
    if after:
        since = index.moment(after)
        if since == index.EPOCH:
            raise Invalid("`after` must be an updatedAt of an earlier answer.")
        await _until(newer, b"event: chat", wait_seconds)
        return
    first = await threads.brief(states)
    await _until(lambda: states() != first, b"event: chat", wait_seconds)


async def _until(moved: Callable[[], bool], named: bytes, seconds: float) -> None:
    source, clock = broadcaster("main"), asyncio.get_running_loop().time
    with _waiting():
        stream, end = source.join(None), clock() + seconds
        try:
            while not await threads.brief(moved) and (left := end - clock()) > 0:
                await _told(stream, named, min(LOOK_S, left))
        finally:
            source.leave(stream)


async def _told(stream: Client, named: bytes, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            while named not in await stream.take():
                pass
