"""Events are merged over a moment, each item's on its own; states are told at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from dashboard.events import LONGEST_S, QUIET_S, EventDebouncer

Told = list[tuple[float, dict[str, Any]]]


def run(main: Callable[[EventDebouncer, Told], Coroutine[Any, Any, None]]) -> Told:
    """What is told while `main` runs, and when."""
    told: Told = []

    async def whole() -> None:
        loop = asyncio.get_running_loop()
        begun = loop.time()

        def publish(_event: str, data: Mapping[str, Any]) -> None:
            told.append((loop.time() - begun, dict(data)))

        await main(EventDebouncer(publish), told)

    asyncio.run(whole())
    return told


async def until_told(told: Told, count: int) -> None:
    async with asyncio.timeout(5):
        while len(told) < count:
            await asyncio.sleep(0.005)


def test_a_burst_of_one_item_is_one_event_with_the_weightiest_reason() -> None:
    async def main(events: EventDebouncer, told: Told) -> None:
        for reason in ("config", "error", "config"):
            events.app("shop", reason)
        await until_told(told, 1)

    [(at, event)] = run(main)

    assert event == {"type": "app", "slug": "shop", "reason": "error"}
    assert at >= QUIET_S


def test_removed_weighs_more_than_anything() -> None:
    async def main(events: EventDebouncer, told: Told) -> None:
        for reason in ("removed", "error", "config"):
            events.app("shop", reason)
        await until_told(told, 1)

    assert run(main)[0][1]["reason"] == "removed"


def test_an_item_that_never_rests_is_told_after_a_second_all_the_same() -> None:
    async def main(events: EventDebouncer, told: Told) -> None:
        async with asyncio.timeout(5):
            while not told:
                events.bookmarks("docs")
                await asyncio.sleep(0)

    [(at, event)] = run(main)

    assert event == {"type": "bookmarks", "group": "docs"}
    assert LONGEST_S <= at < LONGEST_S + 0.5


def test_items_do_not_wait_for_each_other() -> None:
    async def main(events: EventDebouncer, told: Told) -> None:
        events.app("one", "config")
        events.app("two", "config")
        events.config()
        await until_told(told, 3)

    assert [event.get("slug") for _, event in run(main)] == ["one", "two", None]


def test_a_state_is_told_before_the_call_returns() -> None:
    async def main(events: EventDebouncer, told: Told) -> None:
        events.state("shop", "up")
        assert told[0][1] == {"type": "state", "slug": "shop", "state": "up"}

    run(main)


def test_what_waits_at_the_end_is_told() -> None:
    async def main(events: EventDebouncer, told: Told) -> None:
        events.thumb("shop")
        events.flush()
        assert [event for _, event in told] == [{"type": "thumb", "slug": "shop"}]

    run(main)
