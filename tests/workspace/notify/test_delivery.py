"""What waits for a channel: sent once, tried again while the channel is down, and never lost."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django_q.models import OrmQ

from tests.service import until
from tests.stubs.receiver import Receiver, receiving
from tests.workspace.notify.world import Clock, cause, channels
from workspace.notify import delivery, folding
from workspace.notify.tables import NotifyChannel, NotifyDelivery
from workspace.triggers.schedule.ticker import Ticker


@pytest.fixture
def hook(settings, receiver: Receiver) -> Receiver:
    channels(settings, {"name": "hook", "url": receiver.url, "events": ["app_down", "failed"]})
    return receiver


def test_a_message_leaves_with_what_it_is_about(hook: Receiver, clock: Clock):
    folding.note(cause())

    clock.work()

    (got,) = hook.got
    assert got.pop("id").isdecimal()
    assert got.pop("url").endswith("/dashboard/#app=shop")
    assert got == {
        "event": "app_down", "title": "shop is down", "text": "no answer", "count": 1, "node": "",
        "at": "2026-03-29T00:30:00.000Z",
    }  # fmt: skip
    assert not NotifyDelivery.objects.exists()


def test_a_channel_that_is_down_for_ten_minutes_gets_everything_afterwards(
    hook: Receiver, clock: Clock
):
    hook.status = 503
    folding.note(cause("a"))
    clock.work()
    for _ in range(10):
        clock.on(minutes=1)
    folding.note(cause("b"))
    clock.work()
    state = NotifyChannel.objects.get(name="hook")
    assert (state.error, state.since) == ("it answered 503", clock.now - timedelta(minutes=10))
    assert 4 <= hook.asked <= 8

    hook.status = 200
    for _ in range(6):
        clock.on(minutes=1)

    assert len(hook.got) == 2
    assert not NotifyDelivery.objects.exists()
    assert NotifyChannel.objects.get(name="hook").failures == 0


def test_a_clock_that_was_set_back_makes_no_message_wait(hook: Receiver, clock: Clock):
    hook.status = 503
    folding.note(cause())
    clock.work()
    hook.status = 200

    clock.on(hours=-3)

    assert len(hook.got) == 1


def test_a_message_that_is_never_taken_does_not_stop_the_others(
    settings, clock: Clock, monkeypatch
):
    channels(settings, {"name": "odd", "command": ["x"], "events": ["app_down"]})
    taken: list[str] = []

    def send(_channel: object, message: Any) -> str:
        if message["text"] == "poison":
            return "not this"
        taken.append(message["text"])
        return ""

    folding.note(cause("a", text="poison"))
    delivery.drain(send)
    folding.note(cause("b", text="second"))
    clock.traveller.shift(timedelta(seconds=6))
    delivery.drain(send)

    assert taken == ["second"]
    assert NotifyDelivery.objects.count() == 1


def test_what_is_hours_old_is_given_up_and_counted(hook: Receiver, clock: Clock):
    hook.status = 503
    folding.note(cause())
    clock.work()

    clock.on(hours=7)

    assert not NotifyDelivery.objects.exists()
    assert NotifyChannel.objects.get(name="hook").given_up == 1


def test_a_slow_channel_holds_up_no_other(settings, receiver: Receiver, transactional_db):
    with receiving() as slow:
        slow.free.clear()
        both = [{"name": name, "url": one.url, "events": ["app_down"]}
                for name, one in (("slow", slow), ("fast", receiver))]  # fmt: skip
        channels(settings, *both)
        folding.note(cause())
        worker = threading.Thread(target=drained)
        worker.start()
        until(lambda: receiver.got and slow.asked, what="the fast one was told")
        folding.note(cause("other"))

        until(lambda: len(receiver.got) == 2, seconds=5, what="told again, by the same worker")

        slow.free.set()
        worker.join(20)
    assert len(slow.got) == 2


def drained() -> None:
    delivery.drain()
    connections.close_all()


def test_two_workers_send_each_message_once(hook: Receiver, transactional_db):
    hook.free.clear()
    folding.note(cause())
    workers = [threading.Thread(target=drained) for _ in range(3)]
    for worker in workers:
        worker.start()
    until(lambda: hook.asked == 1)
    hook.free.set()
    for worker in workers:
        worker.join(20)

    assert len(hook.got) == hook.asked == 1


def test_a_worker_that_died_with_a_message_leaves_it_to_the_next(hook: Receiver, clock: Clock):
    folding.note(cause())
    NotifyDelivery.objects.update(claimed_until=clock.now + delivery.CLAIM)
    clock.work()
    assert hook.got == []

    clock.on(seconds=61)

    assert len(hook.got) == 1


def test_the_ticker_ends_windows_and_hands_over_what_is_due(hook: Receiver, clock: Clock):
    class Hands:
        def now(self) -> Any:
            return clock.now

    ticker = Ticker(Hands())  # type: ignore[arg-type]
    folding.note(cause())
    folding.note(cause())
    OrmQ.objects.all().delete()
    clock.traveller.shift(timedelta(minutes=10))

    ticker.step()

    assert OrmQ.objects.count() >= 1
    delivery.drain()
    assert sum(one["count"] for one in hook.got) == 2


def test_a_question_that_is_answered_is_not_sent_any_more(settings, hook: Receiver, clock: Clock):
    folding.note(cause("asked:c:1"))

    folding.withdraw("asked:c:1")
    clock.work()

    assert hook.got == []


def test_nor_is_one_that_a_channel_refused_before(settings, clock: Clock, receiver: Receiver):
    channels(settings, {"name": "hook", "url": receiver.url, "events": ["asked"]})
    receiver.status = 503
    folding.note(cause("asked:c:1", "asked"))
    clock.work()
    assert receiver.asked == 1

    folding.withdraw("asked:c:1")
    receiver.status = 200
    clock.on(minutes=1)

    assert (receiver.got, receiver.asked) == ([], 1)


def test_without_channels_nothing_waits(settings, transactional_db):
    folding.note(cause())

    assert not NotifyDelivery.objects.exists()
