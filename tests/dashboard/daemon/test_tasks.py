"""A task that raises is named, started again, and no trouble of the others."""

from __future__ import annotations

import asyncio

import pytest

from dashboard.daemon.tasks import Tasks


async def reached(event: asyncio.Event) -> None:
    async with asyncio.timeout(5):
        await event.wait()


def test_a_task_that_raises_is_named_and_runs_again() -> None:
    async def main() -> None:
        again, calls, told = asyncio.Event(), [], []

        async def work() -> None:
            calls.append(1)
            if len(calls) == 1:
                raise OSError("the disk is on fire")
            again.set()
            await asyncio.Event().wait()

        tasks = Tasks(lambda: told.append(1), first=0.01)
        tasks.start({"scan": work})
        await reached(again)

        [error] = tasks.errors()
        assert (error.file, error.level) == ("daemon/scan", "error")
        assert "the disk is on fire" in error.message
        assert told
        await tasks.close()

    asyncio.run(main())


def test_one_that_raises_stops_no_other() -> None:
    async def main() -> None:
        turns, steady = asyncio.Event(), []

        async def bad() -> None:
            raise ValueError("bad")

        async def good() -> None:
            for turn in range(20):
                steady.append(turn)
                await asyncio.sleep(0)
            turns.set()
            await asyncio.Event().wait()

        tasks = Tasks(lambda: None, first=0.001)
        tasks.start({"bad": bad, "good": good})
        await reached(turns)

        assert steady == [*range(20)]  # once through: it was never restarted
        assert [error.file for error in tasks.errors()] == ["daemon/bad"]
        await tasks.close()

    asyncio.run(main())


def test_a_task_that_merely_ends_is_a_fault_too() -> None:
    async def main() -> None:
        told = asyncio.Event()

        async def ends() -> None:
            return

        tasks = Tasks(told.set, first=0.01)
        tasks.start({"probe": ends})
        await reached(told)

        assert "it ended" in tasks.errors()[0].message
        await tasks.close()

    asyncio.run(main())


def test_one_that_runs_well_again_is_no_longer_listed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dashboard.daemon.tasks.STEADY_S", 0.05)

    async def main() -> None:
        told, calls = asyncio.Queue[int](), []

        async def once_bad() -> None:
            calls.append(1)
            if len(calls) == 1:
                raise ValueError
            await asyncio.Event().wait()

        tasks = Tasks(lambda: told.put_nowait(len(tasks.errors())), first=0.01)
        tasks.start({"lost": once_bad})
        async with asyncio.timeout(5):
            assert await told.get() == 1

            assert await told.get() == 0
        await tasks.close()

    asyncio.run(main())
