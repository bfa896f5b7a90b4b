"""The daemon's thread: asked from others, never waited for in vain; a stall is named."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from config.errors import Unavailable
from dashboard.daemon.loop import Loop, Meter
from tests.service import until


class Running:
    """A loop that turns until it is told to end."""

    def __init__(self) -> None:
        self.loop, self._end = Loop("test-loop"), asyncio.Event()
        self.loop.start(self._end.wait)  # type: ignore[arg-type]
        until(lambda: self.loop.running)

    def end(self) -> bool:
        self.loop.soon(self._end.set)
        return self.loop.join(5)


@pytest.fixture
def running() -> Iterator[Running]:
    made = Running()
    yield made
    assert made.end()


def test_a_question_is_answered_on_the_loops_own_thread(running: Running) -> None:
    assert running.loop.ask(threading.get_ident) == running.loop.ident


def test_an_end_that_is_asked_for_at_once_is_not_forgotten() -> None:
    loop, end = Loop("test-loop"), asyncio.Event()
    loop.soon(end.set)
    loop.start(end.wait)  # type: ignore[arg-type]

    assert loop.join(5)


def test_what_the_call_raises_is_raised_where_it_was_asked(running: Running) -> None:
    with pytest.raises(ZeroDivisionError):
        running.loop.ask(lambda: 1 / 0)


def test_a_coroutine_is_waited_for(running: Running) -> None:
    async def answer(number: int) -> int:
        await asyncio.sleep(0)
        return number

    assert running.loop.wait(answer, 7) == 7


def test_who_waits_when_the_loop_ends_is_told_so() -> None:
    running, refused = Running(), []
    begun = threading.Event()

    async def for_ever() -> None:
        begun.set()
        await asyncio.Event().wait()

    def wait() -> None:
        try:
            running.loop.wait(for_ever)
        except Unavailable as error:
            refused.append(error.code)

    waiting = threading.Thread(target=wait)
    waiting.start()
    assert begun.wait(5)

    assert running.end()

    waiting.join(5)
    assert refused == ["starting"]
    with pytest.raises(Unavailable):
        running.loop.ask(int)


def test_it_refuses_to_wait_for_itself(running: Running) -> None:
    ask: Callable[[Callable[[], int]], int] = running.loop.ask

    with pytest.raises(RuntimeError, match="itself"):
        running.loop.ask(ask, int)


def test_a_stall_of_over_100_ms_is_logged_with_what_ran(
    running: Running, caplog: pytest.LogCaptureFixture
) -> None:
    begun = threading.Event()

    def stall() -> None:
        begun.set()
        time.sleep(0.3)  # the stall itself: there is nothing else to wait for

    async def slow() -> None:
        asyncio.current_task().set_name("probe")  # type: ignore[union-attr]
        stall()

    threading.Thread(target=running.loop.wait, args=(slow,)).start()
    assert begun.wait(5)
    with caplog.at_level(logging.WARNING):
        Meter(running.loop).look()

    [record] = caplog.records
    assert record.__dict__["task"].startswith("probe: ")
    assert record.__dict__["ms"] >= 100


def test_a_loop_that_turns_is_not_logged(
    running: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        Meter(running.loop).look()

    assert caplog.records == []


def test_a_child_forked_beside_the_meter_has_nothing_to_complain_of(
    running: Running, capfd: pytest.CaptureFixture[str]
) -> None:
    meter = Meter(running.loop)
    meter.start()

    subprocess.run(["true"], check=True, preexec_fn=int)  # as uvloop forks

    meter.stop()
    meter.join(5)
    assert capfd.readouterr() == ("", "")
