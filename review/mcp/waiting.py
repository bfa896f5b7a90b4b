"""Waiting for what a person writes next: on the event loop, without holding a thread.

The event of a change wakes the call; a check every few seconds finds changes that had no event.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, TypedDict

from config.mcp.operations import Argument
from config.waits import Bound
from config.web.http import threads
from review import events, refusals
from review.stacks import conversations
from review.stacks.conversations import ProjectThread

WAITS = 100
MOST_S = 60
LOOK_S = 5.0
SECONDS = Argument("wait_seconds", "integer", default=MOST_S, least=0, most=MOST_S)

_waiting = Bound(WAITS, "calls wait for threads already; ask again in a minute.")


class Next(TypedDict):
    """`thread` is null if the time ran out; `unanswered` counts all unanswered threads."""

    thread: ProjectThread | None
    unanswered: int


def next_thread(
    *, project: str, repo: str = "", skip: Sequence[str] = (), wait_seconds: int = 0
) -> Next:
    """The first unanswered thread that is not in `skip`."""
    found = conversations.unanswered_threads(project, repo)
    left = [thread for thread in found if thread["id"] not in skip]
    return {"thread": left[0] if left else None, "unanswered": len(found)}


async def until_one(_caller: object, *, wait_seconds: int, **which: Any) -> None:
    """Wait until there is such a thread, for at most `wait_seconds`."""

    @refusals.failures_as_500()
    def there() -> bool:
        return next_thread(**which)["thread"] is not None

    clock = asyncio.get_running_loop().time
    with _waiting():
        stream, end = events.EVENTS.join(None), clock() + wait_seconds
        try:
            while not await threads.brief(there) and (left := end - clock()) > 0:
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(LOOK_S, left)):
                        await _something(stream)
        finally:
            events.EVENTS.leave(stream)


async def _something(stream: Any) -> None:
    while b"data: " not in await stream.take():
        pass
