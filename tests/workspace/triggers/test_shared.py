"""What the processes of a cluster share: a killed process does not keep the others out."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
from collections.abc import Callable, Iterator
from multiprocessing import get_context
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.service import until
from workspace.triggers.schedule import cluster, shared
from workspace.triggers.schedule.shared import INLINE_BYTES, Flag, TaskQueue, Timer

FORK = get_context("fork")
KILLS = 60


@pytest.fixture
def queue() -> Iterator[TaskQueue]:
    made = TaskQueue(maxsize=1)
    yield made
    made.close()
    made.join_thread()


def forked(work: Callable[[], object]) -> BaseProcess:
    process = FORK.Process(target=work, daemon=True)
    process.start()
    return process


def taken(queue: TaskQueue, seconds: float = 5) -> Any:
    """The next message, read by a process of its own, as a worker reads it."""
    mine, theirs = FORK.Pipe(duplex=False)
    process = forked(lambda: theirs.send(queue.get()))
    assert mine.poll(seconds), "nothing came"
    process.join(5)
    return mine.recv()


def asleep(process: BaseProcess) -> bool:
    """Whether every thread of it waits."""
    stats = [task / "stat" for task in Path(f"/proc/{process.pid}/task").iterdir()]
    return {stat.read_text().rsplit(")", 1)[1].split()[0] for stat in stats} == {"S"}


def killed(process: BaseProcess) -> None:
    process.kill()
    process.join(5)
    assert process.exitcode == -signal.SIGKILL


def test_a_reader_killed_while_it_waits_leaves_the_tasks_to_the_others(queue):
    first = forked(queue.get)
    until(lambda: asleep(first), what="the first one waits for a task")

    killed(first)
    queue.put("task")

    assert taken(queue) == "task"


def test_a_writer_killed_while_it_waits_for_room_leaves_no_half_message_and_no_lock():
    queue = TaskQueue()
    message = "x" * (INLINE_BYTES // 2)

    def write() -> None:
        for _ in range(1000):
            queue.put(message)
        signal.pause()

    writer = forked(write)
    until(lambda: not queue.empty() and asleep(writer), what="no more room")

    killed(writer)
    found = []
    while not queue.empty():
        found.append(queue.get())
    queue.put("next")

    assert set(found) == {message}
    assert taken(queue) == "next"
    queue.close()


def test_writers_and_readers_killed_at_any_moment_leave_the_queue_to_the_next():
    queue, dice = TaskQueue(maxsize=2), random.Random(2)

    def write() -> None:
        while True:
            queue.put("x" * dice.choice((10, 3_000, 70_000)))

    def read() -> None:
        while True:
            queue.get()

    for _ in range(KILLS):
        writer, reader = forked(write), forked(read)
        writer.join(dice.random() / 100)
        for process in (writer, reader) if dice.random() < 0.5 else (reader, writer):
            killed(process)
    while not queue.empty():
        assert set(queue.get()) == {"x"}
    queue.put("next")

    assert taken(queue) == "next"
    queue.close()


def test_a_message_waits_until_the_one_before_it_has_been_taken(queue):
    queue.put("first")
    mine, theirs = FORK.Pipe(duplex=False)

    def write() -> None:
        theirs.send("begins")
        queue.put("second")
        theirs.send("done")

    writer = forked(write)
    assert mine.recv() == "begins"
    until(lambda: asleep(writer), what="the second one waits")

    assert not mine.poll(1.5)
    assert queue.get() == "first"

    assert mine.poll(5)
    writer.join(5)
    assert taken(queue) == "second"


@pytest.mark.parametrize(
    "size", [0, 1, INLINE_BYTES - 100, INLINE_BYTES, INLINE_BYTES + 1, 3_000_000]
)
def test_a_message_of_any_length_arrives_whole_and_leaves_no_descriptor(queue, size):
    queue.put(os.urandom(1))
    queue.get()
    before = descriptors()
    message = os.urandom(size)

    queue.put(message)

    assert queue.get() == message
    until(lambda: descriptors() == before, what="every file is closed")


def descriptors() -> int:
    return len([*Path("/proc/self/fd").iterdir()])


def test_what_was_put_before_an_exit_arrives(queue):
    writer = forked(lambda: queue.put("last"))
    writer.join(5)

    assert queue.get() == "last"


def test_a_timer_that_was_read_by_a_killed_process_can_be_read_and_written():
    timer = Timer("f", -1)

    def hold() -> None:
        with timer.get_lock():
            signal.pause()

    first = forked(hold)
    until(lambda: asleep(first), what="it has the timer")

    killed(first)
    forked(lambda: setattr(timer, "value", 3)).join(5)

    with timer.get_lock():
        assert timer.value == 3


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


def test_a_worker_that_has_worked_is_ended_when_nothing_comes_and_a_fresh_one_waits(
    queue, monkeypatch
):
    monkeypatch.setattr(shared, "REST_S", 0.05)
    mine, theirs = FORK.Pipe(duplex=False)

    def work() -> None:
        for task in iter(queue.get, "STOP"):
            theirs.send(task)

    fresh, other = forked(work), forked(work)
    until(lambda: asleep(fresh) and asleep(other), what="both wait")
    queue.put("task")
    assert mine.recv() == "task"

    until(lambda: not (fresh.is_alive() and other.is_alive()), what="one has ended")
    worked, left = (fresh, other) if not fresh.is_alive() else (other, fresh)
    worked.join(5)
    assert worked.exitcode == 0
    queue.put("next")

    assert mine.recv() == "next"
    left.join(5)
    assert left.exitcode == 0


def test_a_message_that_another_worker_took_first_leaves_the_rest_to_wait(queue, monkeypatch):
    monkeypatch.setattr(shared, "REST_S", 0.3)
    queue.put("mine")
    assert queue.get() == "mine"
    monkeypatch.setattr(socket, "recv_fds", _taken_before)

    queue.put("theirs")

    assert queue.get() == "STOP"


def test_what_ends_workers_is_put_for_all_though_some_have_ended_already(queue):
    for _ in range(3):
        queue.put("STOP")

    assert [queue.get() for _ in range(3)] == ["STOP"] * 3


@pytest.mark.parametrize(
    ("code", "timer", "told"),
    [(0, cluster.IDLE, cluster.RECYCLED), (0, 0, 0), (-9, cluster.IDLE, cluster.IDLE)],
)
def test_a_worker_that_ended_for_want_of_work_is_no_death_to_its_guard(
    monkeypatch, code: int, timer: float, told: float
):
    process = SimpleNamespace(exitcode=code, timer=SimpleNamespace(value=timer))
    guard: Any = cluster.Guard.__new__(cluster.Guard)
    guard.pool = [process]
    seen = []
    monkeypatch.setattr(
        "django_q.cluster.Sentinel.reincarnate",
        lambda _guard, one: seen.append(one.timer.value),
    )

    guard.reincarnate(process)

    assert seen == [told]


def _taken_before(end: socket.socket, *_more: int) -> Any:
    """Another worker was faster."""
    with contextlib.suppress(BlockingIOError):
        end.recv(INLINE_BYTES, socket.MSG_DONTWAIT)
    raise BlockingIOError
