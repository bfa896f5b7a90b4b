"""Flags, locks and values between processes: a killed holder keeps nobody out."""

from __future__ import annotations

import signal
from multiprocessing import get_context
from typing import Any

from workspace.triggers.schedule.primitives import Flag, ProcessLock, shared_value

FORK = get_context("fork")


def holder_killed(lock: Any) -> None:
    """A process takes the lock and is killed with it."""
    mine, theirs = FORK.Pipe(duplex=False)

    def hold() -> None:
        lock.acquire()
        theirs.send("held")
        signal.pause()

    process = FORK.Process(target=hold, daemon=True)
    process.start()
    assert mine.recv() == "held"
    assert lock.acquire(block=False) is False
    process.kill()
    process.join(5)


def test_a_lock_goes_with_the_process_that_holds_it():
    lock = ProcessLock()

    holder_killed(lock)

    assert lock.acquire(block=False) is True


def test_a_value_whose_holder_was_killed_can_be_read_and_written():
    timer = shared_value("f", -1)

    holder_killed(timer.get_lock())

    assert timer.get_lock().acquire(block=False) is True
    timer.get_lock().release()
    timer.value = 3
    assert timer.value == 3


def test_a_lock_is_held_until_its_holder_released_it_as_often_as_it_took_it():
    lock = ProcessLock()
    mine, theirs = FORK.Pipe(duplex=False)

    def free_elsewhere() -> bool:
        process = FORK.Process(target=lambda: theirs.send(lock.acquire(block=False)))
        process.start()
        process.join(5)
        return bool(mine.recv())

    with lock, lock:
        assert free_elsewhere() is False
        lock.acquire()
        lock.release()
        assert free_elsewhere() is False
    assert free_elsewhere() is True


def test_a_raised_flag_is_seen_by_every_process_and_wakes_who_waits():
    flag = Flag()
    mine, theirs = FORK.Pipe(duplex=False)
    process = FORK.Process(target=lambda: theirs.send(flag.wait(10)))
    process.start()

    assert flag.is_set() is False
    assert flag.wait(0.01) is False
    flag.set()
    flag.set()

    assert mine.poll(5)
    assert mine.recv() is True
    assert flag.is_set() is True
    assert flag.wait(0) is True
    process.join(5)


def test_a_flag_can_be_raised_in_the_middle_of_waiting_for_it():
    flag = Flag()
    before = signal.signal(signal.SIGALRM, lambda *_: flag.set())
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        assert flag.wait(10) is True
    finally:
        signal.signal(signal.SIGALRM, before)
