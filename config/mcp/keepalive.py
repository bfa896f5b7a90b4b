"""Sends the headers of an answer that takes long, then a comment on the stream every so often, so
that no proxy takes a slow tool for a dead one."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from functools import lru_cache

BEGIN_S = 0.1  # an answer that takes longer sends its headers first
WAIT_S = 15.0
COMMENT = b": wait\n\n"


class KeepAlive:
    """A block in which one answer is made. `send(bytes, more_body=True)` writes on its stream."""

    def __init__(self, send: Callable[..., Awaitable[None]]) -> None:
        self._send, self._loop = send, asyncio.get_running_loop()
        self._said: asyncio.Task[None] | None = None

    async def __aenter__(self) -> None:
        self._watch = _watch_of(self._loop)
        self._watch.add(self)

    async def __aexit__(self, *_: object) -> None:
        """Wait for a comment that is being sent: none may come after the event."""
        self._watch.leave(self)
        if self._said is not None:
            await self._said

    def say(self) -> None:
        text = b"" if self._said is None else COMMENT
        self._said = self._loop.create_task(self._write(text))

    async def _write(self, text: bytes) -> None:
        await self._send(text, more_body=True)


class Watch:
    """The answers being made in one loop, and when each must next send something.

    All share a timer, which is rarely set: one for each would cost as much as a short read itself.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._due: dict[KeepAlive, float] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._at = math.inf  # when the timer fires

    def add(self, answer: KeepAlive) -> None:
        due = self._due[answer] = self._loop.time() + BEGIN_S
        if due < self._at:
            self._set(due)

    def leave(self, answer: KeepAlive) -> None:
        self._due.pop(answer, None)

    def _set(self, at: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer, self._at = self._loop.call_at(at, self._look), at

    def _look(self) -> None:
        now = self._loop.time()
        for answer in [one for one, due in self._due.items() if due <= now]:
            self._due[answer] = now + WAIT_S
            answer.say()
        self._timer, self._at = None, math.inf
        if self._due:
            self._set(min(self._due.values()))


@lru_cache(1)  # a process has one loop; with several, each answer keeps the watch it began with
def _watch_of(loop: asyncio.AbstractEventLoop) -> Watch:
    return Watch(loop)
