"""The outcome of an action, and the queue of actions of one service."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

from config.errors import SvcError
from dashboard.services import errors
from dashboard.services.record import Status

log = logging.getLogger(__name__)

Action = Literal["start", "stop", "restart"]
ACTIONS: tuple[Action, ...] = get_args(Action)
MOST_WAITING = 8


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to an action; `reason` is a reason of the states, `message` is for people."""

    ok: bool
    action: Action
    status: Status
    pid: int | None
    already: bool = False
    reason: str = ""
    message: str | None = None
    log: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _QueuedAction:
    action: str
    do: Callable[[], Awaitable[Outcome]]
    done: asyncio.Future[Outcome]


class Queue:
    """Runs one action at a time; a request joins the last waiting action if it is the same one."""

    def __init__(self, slug: str) -> None:
        self.slug = slug
        self.crowded = asyncio.Event()  # another action waits while one is running
        self._waiting: deque[_QueuedAction] = deque()
        self._worker: asyncio.Task[None] | None = None

    async def do(self, action: str, do: Callable[[], Awaitable[Outcome]]) -> Outcome:
        """Run the action, even if the caller is cancelled. Conflict `busy` when too many wait."""
        joins = self._waiting and self._waiting[-1].action == action
        if not joins and len(self._waiting) >= MOST_WAITING:
            raise errors.busy(self.slug)
        return await asyncio.shield(self.put(action, do))

    def put(self, action: str, do: Callable[[], Awaitable[Outcome]]) -> asyncio.Future[Outcome]:
        """Queue an action of the daemon itself, without a limit."""
        if self._waiting and self._waiting[-1].action == action:
            return self._waiting[-1].done
        done: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()
        done.add_done_callback(_ignore_error)
        self._waiting.append(_QueuedAction(action, do, done))
        if self._worker is None or self._worker.done():
            self._worker = asyncio.create_task(self._work(), name=f"actions {self.slug}")
        else:
            self.crowded.set()
        return done

    async def close(self) -> None:
        """Cancel the running action and the waiting ones."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.wait({self._worker})
        while self._waiting:
            self._waiting.popleft().done.cancel()

    async def _work(self) -> None:
        while self._waiting:
            one = self._waiting.popleft()
            if not self._waiting:
                self.crowded.clear()
            try:
                result = await one.do()
            except asyncio.CancelledError:
                one.done.cancel()
                raise
            except Exception as error:
                if not isinstance(error, SvcError):  # a refusal; perhaps no caller waits for it
                    log.exception("%s of %s failed", one.action, self.slug)
                if not one.done.done():
                    one.done.set_exception(error)
            else:
                if not one.done.done():
                    one.done.set_result(result)


def _ignore_error(done: asyncio.Future[Outcome]) -> None:
    """Retrieve the error, so that asyncio does not complain if the caller is gone."""
    if not done.cancelled():
        done.exception()
