"""The queue's bell: a new task wakes a sleeping cluster at once."""

from __future__ import annotations

import threading
import time
from datetime import timedelta

import pytest
from django.db import OperationalError, connections, transaction
from django.utils import timezone
from django_q.conf import Conf
from django_q.models import OrmQ

from tests.service import until
from workspace.broker import WakingBroker

pytestmark = pytest.mark.django_db(transaction=True)


def sleeper(broker: WakingBroker, found: list[float]) -> threading.Thread:
    """A pusher that sleeps; the time it woke with a task is noted."""

    def run() -> None:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if broker.dequeue():
                found.append(time.monotonic())
                break
        connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_a_sleeping_pusher_wakes_long_before_its_poll(monkeypatch):
    monkeypatch.setattr(Conf, "POLL", 15)
    broker, found = WakingBroker("test-wake"), list[float]()
    thread = sleeper(broker, found)
    until(lambda: broker._bell)

    asked = time.monotonic()
    WakingBroker("test-wake").enqueue("task")
    thread.join(20)

    assert found
    assert found[0] - asked < 2


def test_what_is_due_later_is_taken_then_though_nothing_was_written_meanwhile(monkeypatch):
    monkeypatch.setattr(Conf, "POLL", 0.01)
    monkeypatch.setattr("workspace.broker.DUE_S", 0.1)
    broker = WakingBroker("test-later")
    later = timezone.now() + timedelta(seconds=1)
    OrmQ.objects.create(key="test-later", payload="task", lock=later)
    assert not broker.dequeue()

    assert [task for _, task in until(broker.dequeue) or ()] == ["task"]


def test_the_bell_rings_after_the_commit(monkeypatch):
    monkeypatch.setattr(Conf, "POLL", 15)
    broker, found = WakingBroker("test-commit"), list[float]()
    thread = sleeper(broker, found)
    until(lambda: broker._bell)

    with transaction.atomic():
        WakingBroker("test-commit").enqueue("task")
        assert found == []
    thread.join(20)

    assert found


def test_a_task_is_taken_once_by_many():
    for _ in range(20):
        WakingBroker("test-once").enqueue("task")
    taken: list[int] = []

    def take() -> None:
        broker = WakingBroker("test-once")
        while tasks := broker._take():
            taken.extend(key for key, _ in tasks)
        connections.close_all()

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)

    assert len(taken) == len(set(taken)) == 20


def test_a_pusher_outlasts_a_database_that_is_gone(monkeypatch):
    monkeypatch.setattr(Conf, "POLL", 1)
    broker = WakingBroker("test-gone")
    with monkeypatch.context() as outage:
        outage.setattr(broker, "_take", gone)
        assert broker.dequeue() is None

    WakingBroker("test-gone").enqueue("task")

    taken = until(broker.dequeue)
    assert taken is not None
    assert taken[0][1] == "task"


def gone() -> None:
    raise OperationalError("the database is gone")
