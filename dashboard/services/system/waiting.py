"""Wait for processes to end: by pidfd, or without pidfds by checking once a second."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterable

from config.process import table
from config.process.table import Process
from dashboard.services.system import processes
from dashboard.services.system.clock import Clock
from dashboard.services.system.processes import Family

POLL_S = 1.0
KILLED_S = 5.0  # a process that survives KILL is stuck in the kernel


async def until_ended(process: Process, clock: Clock) -> None:
    """Return once this very process has ended, not a later one with the same pid."""
    try:
        fd = table.handle(process)
    except OSError:
        while table.same(process.pid, process.started):
            await clock.sleep(POLL_S)
        return
    if fd is None:
        return
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    loop.add_reader(fd, over.set)
    try:
        await over.wait()
    finally:
        loop.remove_reader(fd)
        os.close(fd)


async def end(
    family: Family, number: signal.Signals, *, timeout: float, clock: Clock
) -> signal.Signals | None:
    """Signal the family, and kill it after `timeout` seconds. Return the signal that ended all of
    it; None when a process is still alive."""
    known = await asyncio.to_thread(processes.tell, family, number)
    if await _wait_ended(family, known, timeout, clock):
        return number
    await asyncio.to_thread(processes.kill, family, known)
    return signal.SIGKILL if await _wait_ended(family, known, KILLED_S, clock) else None


async def _wait_ended(family: Family, known: list[Process], seconds: float, clock: Clock) -> bool:
    """Whether every member has ended in time, including processes started since."""
    limit = asyncio.ensure_future(clock.sleep(seconds))
    try:
        while found := await asyncio.to_thread(_members, family, known):
            waits = asyncio.ensure_future(_all_ended(found, clock))
            try:
                await asyncio.wait({waits, limit}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                waits.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await waits
            if limit.done():
                return not await asyncio.to_thread(_members, family, known)
        return True
    finally:
        limit.cancel()


def _members(family: Family, known: list[Process]) -> list[Process]:
    processes.reap(family.leader)
    return processes.members(family, known)


async def _all_ended(found: Iterable[Process], clock: Clock) -> None:
    await asyncio.gather(*(until_ended(process, clock) for process in found))
