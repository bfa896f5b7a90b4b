"""Blocking work off the loop: short reads in batches, nobody behind somebody else's slow one."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter, deque
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from config.web.http import threads

WAIT_S = 10.0


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No batch is ever late, however slow the machine."""
    monkeypatch.setattr(threads, "LATE_S", 60.0)


class Slow:
    """A read that lasts until it is released."""

    def __init__(self) -> None:
        self.begun, self.release = threading.Event(), threading.Event()

    def read(self) -> str:
        self.begun.set()
        assert self.release.wait(WAIT_S)
        return "slow"


async def together(*calls: Callable[[], object]) -> list[object]:
    reads = [threads.brief(call) for call in calls]
    return await asyncio.wait_for(asyncio.gather(*reads, return_exceptions=True), WAIT_S)


async def test_a_read_is_given_its_arguments_and_gives_its_value():
    assert await threads.brief(divmod, 7, 2) == (3, 1)
    assert await threads.brief(sorted, [1, 2], reverse=True) == [2, 1]


@pytest.mark.usefixtures("patient")
async def test_what_a_read_raises_reaches_its_own_caller_alone():
    def wrong() -> None:
        raise KeyError("mine")

    def ended() -> None:
        raise StopIteration

    before, raised, stopped, after = await together(lambda: 1, wrong, ended, lambda: 2)

    assert (before, after) == (1, 2)
    assert isinstance(raised, KeyError)
    assert isinstance(stopped, RuntimeError)  # no coroutine can raise StopIteration


@pytest.mark.usefixtures("patient")
async def test_reads_that_come_together_are_done_by_one_thread_in_their_order():
    done: list[tuple[int, str]] = []

    def note(number: int) -> None:
        done.append((number, threading.current_thread().name))

    await together(*(partial(note, number) for number in range(50)))

    assert [number for number, _ in done] == list(range(50))
    assert len({name for _, name in done}) == 1


async def test_a_slow_read_keeps_nobody_waiting_who_came_with_or_after_it():
    slow, order = Slow(), list[int]()
    late = asyncio.ensure_future(threads.brief(slow.read))

    await together(*(partial(order.append, number) for number in range(20)))

    assert order == list(range(20))
    assert await together(lambda: "after") == ["after"]
    assert slow.begun.is_set()
    assert not late.done()
    slow.release.set()
    assert await asyncio.wait_for(late, WAIT_S) == "slow"


async def test_the_loop_stands_aside_for_a_batch_until_it_is_done(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(threads, "ASIDE_S", WAIT_S)
    turns = 0

    def turn() -> None:
        nonlocal turns
        turns += 1
        loop.call_soon(turn)

    def read() -> int:
        before = turns
        for _ in range(1000):
            Path().stat()  # lets go of the interpreter, which the loop would take
        return turns - before

    loop = asyncio.get_running_loop()
    reading = asyncio.ensure_future(threads.brief(read))
    loop.call_soon(turn)

    assert await asyncio.wait_for(reading, WAIT_S) == 0


async def test_the_loop_goes_on_when_a_read_waits_for_it():
    loop = asyncio.get_running_loop()

    def read() -> int:
        return asyncio.run_coroutine_threadsafe(asyncio.sleep(0, 7), loop).result(WAIT_S)

    for _ in range(threads.PASSED + 2):
        assert await asyncio.wait_for(threads.brief(read), WAIT_S) == 7


async def test_a_value_is_handed_out_while_a_slow_read_of_the_same_batch_goes_on():
    slow = Slow()
    first = asyncio.ensure_future(threads.brief(lambda: "first"))
    late = asyncio.ensure_future(threads.brief(slow.read))

    assert await asyncio.wait_for(first, WAIT_S) == "first"
    assert not late.done()
    slow.release.set()
    assert await asyncio.wait_for(late, WAIT_S) == "slow"


async def test_slow_reads_take_all_threads_and_no_more_and_then_others_wait_their_turn(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(threads, "LATE_S", 0.0)
    slow = [Slow() for _ in range(threads.BRIEF + 1)]
    late = [asyncio.ensure_future(threads.brief(each.read)) for each in slow]
    for each in slow[: threads.BRIEF]:
        assert await asyncio.to_thread(each.begun.wait, WAIT_S)
    quick = asyncio.ensure_future(together(lambda: "quick"))

    assert threads._brief._work_queue.qsize() == 0
    slow[0].release.set()
    assert await asyncio.to_thread(slow[-1].begun.wait, WAIT_S)
    assert not quick.done()
    slow[1].release.set()
    assert await quick == ["quick"]
    for each in slow:
        each.release.set()
    assert await asyncio.wait_for(asyncio.gather(*late), WAIT_S) == ["slow"] * len(slow)


async def test_what_is_taken_back_from_a_late_batch_goes_before_what_came_later():
    loop = asyncio.get_running_loop()
    first, second, third = (threads.Job(int, loop.create_future()) for _ in range(3))
    waiting = deque([third])

    threads.Batch(deque([first, second])).give_back(waiting)

    assert [id(job) for job in waiting] == [id(first), id(second), id(third)]


@pytest.mark.usefixtures("patient")
async def test_a_caller_that_gives_up_harms_no_other():
    slow = Slow()
    first = asyncio.ensure_future(threads.brief(slow.read))
    assert await asyncio.to_thread(slow.begun.wait, WAIT_S)
    others = [asyncio.ensure_future(threads.brief(divmod, n, 1)) for n in range(3)]
    first.cancel()
    others[1].cancel()
    slow.release.set()

    done = await asyncio.wait_for(asyncio.gather(*others, return_exceptions=True), WAIT_S)

    assert (done[0], done[2]) == ((0, 0), (2, 0))
    assert isinstance(done[1], asyncio.CancelledError)


async def test_every_read_is_done_exactly_once_however_often_batches_are_taken_back(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(threads, "LATE_S", 0.0)
    times: Counter[int] = Counter()
    lock = threading.Lock()

    def read(number: int) -> int:
        with lock:
            times[number] += 1
        return number

    async def caller(start: int) -> list[int]:
        return [await threads.brief(read, number) for number in range(start, start + 50)]

    found = await asyncio.wait_for(
        asyncio.gather(*(caller(start) for start in range(0, 2000, 50))), WAIT_S
    )

    assert [number for part in found for number in part] == list(range(2000))
    assert set(times.values()) == {1}


def test_each_event_loop_has_reads_of_its_own_and_leaves_none_behind():
    before = len(threads._reads)

    for _ in range(3):
        assert asyncio.run(threads.brief(divmod, 7, 2)) == (3, 1)

    assert len(threads._reads) <= before + 1
