"""Messages not taken by channels yet: sent from the default queue, retried after failures.

The rows are the truth; a task only says "look". One worker at a time sends them, each channel in a
thread of its own, so that a slow one delays neither the others nor the triggers. A failing channel
rests for a growing time. After that its least tried message goes first, so that a message it never
takes does not block the rest.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django_q.tasks import async_task

from config.storage import homes, locks
from workspace.notify import sending, setting
from workspace.notify.setting import Channel
from workspace.notify.tables import NotifyChannel, NotifyDelivery

log = logging.getLogger(__name__)

QUEUE = "svc"
PAUSES_S = (5, 15, 60, 120, 300)  # after as many failures in a row
OLD = timedelta(hours=6)  # messages that waited longer are dropped
CLAIM = timedelta(seconds=60)  # longer than any channel may take
DRAIN_S = 60.0  # then the task ends and another continues; half of a task's time limit
LOOK_S = 0.5
AGAIN_S = 5.0  # between two tasks that the ticker starts
LOCK = "notify"
Send = Callable[[Channel, Mapping[str, Any]], str]
_last = float("-inf")


def hand_over() -> None:
    """Queue a task: a worker of this home looks for messages to send."""
    async_task("workspace.tasks.notify", cluster=homes.queue(QUEUE), task_name=LOCK, save=False)


def waits() -> bool:
    """Whether any message has not been taken yet."""
    return NotifyDelivery.objects.filter(homes.mine()).exists()


def hand_over_due(now: datetime) -> None:
    """Queue a task if something is due, unless this ticker has just done so."""
    global _last  # noqa: PLW0603 - one ticker per process
    if time.monotonic() - _last >= AGAIN_S and _due(now, setting.current().channels).exists():
        _last = time.monotonic()
        hand_over()


def drain(send: Send = sending.send) -> None:
    """Send what is due, unless another worker of this home is doing so."""
    with locks.attempt(LOCK) as alone:
        if alone:
            _drain(send)
    if alone and _due(datetime.now(UTC), setting.current().channels).exists():
        hand_over()  # it came after the lock was released, or time ran out


def _drain(send: Send) -> None:
    _give_up(datetime.now(UTC))
    channels = {one.name: one for one in setting.current().channels}
    end = time.monotonic() + DRAIN_S
    busy: dict[Future[str], NotifyDelivery] = {}
    with ThreadPoolExecutor(max(1, len(channels)), "notify") as pool:
        while True:
            if time.monotonic() < end:
                at_work = {row.channel for row in busy.values()}
                for row in _claim_due(channels, at_work):
                    busy[pool.submit(send, channels[row.channel], _body(row))] = row
            if not busy:
                return
            for done in wait(busy, LOOK_S, FIRST_COMPLETED).done:
                _settle(busy.pop(done), done.result())


def _body(row: NotifyDelivery) -> dict[str, Any]:
    """The message without the fields that only pages need."""
    body = row.message.body
    return {key: value for key, value in body.items() if key not in ("part", "path")}


def _due(now: datetime, channels: Collection[Channel]) -> QuerySet[NotifyDelivery]:
    """Deliveries that may be sent now. A time further ahead than any pause was written before the
    clock was set back, and counts as due."""
    longest = now + timedelta(seconds=PAUSES_S[-1])
    mine = NotifyDelivery.objects.filter(homes.mine(), channel__in=[one.name for one in channels])
    free = Q(claimed_until=None) | Q(claimed_until__lt=now) | Q(claimed_until__gt=now + CLAIM)
    resting = NotifyChannel.objects.filter(
        homes.mine(), resting_until__gt=now, resting_until__lte=longest
    )
    rows = mine.filter(free, Q(due__lte=now) | Q(due__gt=longest))
    return rows.exclude(channel__in=resting.values("name"))


def _claim_due(channels: Mapping[str, Channel], busy: set[str]) -> list[NotifyDelivery]:
    """The next delivery of each channel that is not busy, claimed by a conditional update."""
    now = datetime.now(UTC)
    due = _due(now, channels.values()).exclude(channel__in=busy)
    found = []
    for name in due.order_by().values_list("channel", flat=True).distinct():
        row = due.filter(channel=name).select_related("message").first()
        if row is None:
            continue
        same = NotifyDelivery.objects.filter(pk=row.pk, claimed_until=row.claimed_until)
        if same.update(claimed_until=now + CLAIM):
            found.append(row)
    return found


def _settle(row: NotifyDelivery, error: str) -> None:
    """Delete the row, or schedule its next try; record that the channel works, or let it rest."""
    now = datetime.now(UTC)
    if not error:
        row.delete()
        record_success(row.channel, now)
        return
    state = record_failure(row.channel, error, now)
    pause = PAUSES_S[min(row.tries, len(PAUSES_S) - 1)]
    row.tries, row.due, row.claimed_until = row.tries + 1, now + timedelta(seconds=pause), None
    NotifyDelivery.objects.filter(pk=row.pk).update(
        tries=row.tries, due=row.due, claimed_until=None
    )
    if state.failures == 1:
        log.warning("channel %s took no notification: %s", row.channel, error)


def record_success(name: str, now: datetime) -> None:
    """Record that a channel took a message."""
    state = _state(name)
    if state.failures:
        log.info("channel %s takes notifications again", name)
    state.failures, state.since, state.error, state.resting_until = 0, None, "", None
    state.given_up, state.delivered = 0, now
    state.save()


def record_failure(name: str, error: str, now: datetime) -> NotifyChannel:
    """Record that a channel did not take a message: it rests longer with every failure in a row."""
    state = _state(name)
    pause = PAUSES_S[min(state.failures, len(PAUSES_S) - 1)]
    state.failures, state.since, state.error = state.failures + 1, state.since or now, error
    state.resting_until = now + timedelta(seconds=pause)
    state.save()
    return state


def _state(name: str) -> NotifyChannel:
    return NotifyChannel.objects.get_or_create(home=homes.home(), name=name)[0]


def _give_up(now: datetime) -> None:
    """Delete messages that are hours old, and count for their channel that they were not sent."""
    old = NotifyDelivery.objects.filter(homes.mine(), message__at__lt=now - OLD)
    for row in old.only("pk", "channel"):
        if row.delete()[0]:
            state = _state(row.channel)
            state.given_up += 1
            state.save()
