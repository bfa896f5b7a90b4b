"""The queue between the processes of a cluster: a killed reader keeps nobody out."""

from __future__ import annotations

import multiprocessing
from multiprocessing.process import BaseProcess

from tests.service import until
from workspace.triggers.schedule.taskqueue import ProcessLock, TaskQueue

FORK = multiprocessing.get_context("fork")


def reader(queue: TaskQueue, found) -> BaseProcess:
    process = FORK.Process(target=lambda: found.send(queue.get()), daemon=True)
    process.start()
    return process


def test_a_reader_killed_while_it_waits_leaves_the_tasks_to_the_others():
    queue = TaskQueue(maxsize=1)
    mine, theirs = FORK.Pipe(duplex=False)
    first = reader(queue, theirs)
    until(lambda: held(queue), what="the first one waits for a task")
    second = reader(queue, theirs)

    first.kill()
    first.join(5)
    queue.put("task")

    assert mine.poll(5)
    assert mine.recv() == "task"
    second.join(5)
    assert second.exitcode == 0
    queue.close()


def held(queue: TaskQueue) -> bool:
    if not queue._rlock.acquire(block=False):
        return True
    queue._rlock.release()
    return False


def test_a_lock_that_another_process_holds_is_not_taken_without_waiting():
    lock = ProcessLock()
    mine, theirs = FORK.Pipe(duplex=False)
    with lock:
        process = FORK.Process(target=lambda: theirs.send(lock.acquire(block=False)))
        process.start()
        assert mine.poll(5)
        assert mine.recv() is False
        process.join(5)
