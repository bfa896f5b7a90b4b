"""One message per cause and window; what comes within the window is sent together at its end.

The first message of a cause opens a window of ten minutes. If very many causes of one event come at
once, the later ones share one window, so that no queue is flooded. All of this is stored in rows,
so that a restart loses nothing. A window that lasts longer than any window can, because the clock
was set back, is over.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TypedDict

from django.conf import settings
from django.db import transaction
from django.db.models import Min, Q, QuerySet

from config.logs import timestamp
from config.process import wakeup
from config.storage import homes
from config.web.surfaces import SURFACES
from workspace.access import reach
from workspace.chats.turns.delivery import TICKER
from workspace.notify import setting
from workspace.notify.causes import Cause
from workspace.notify.tables import NotifyCause, NotifyDelivery, NotifyMessage

WINDOW = timedelta(minutes=10)
MANY = 20  # open windows of one event; further causes share a window
KEPT = timedelta(days=1)
BELL = "notify"  # wakes the threads that tell open pages


class Message(TypedDict):
    """One notification as every channel gets it (docs/notifications.md#what-is-sent).

    `at`: when the first of `count` happened. `node`: the name of this node, if it has one.
    """

    id: str
    event: str
    title: str
    text: str
    url: str
    at: str
    count: int
    node: str


def note(cause: Cause, now: datetime | None = None) -> None:
    """Send a message now, or at the end of its cause's open window. Not inside a transaction."""
    now = now or datetime.now(UTC)
    with transaction.atomic():
        row = _row(cause, now)
        if _open(row, now):
            row.count, row.first, row.last = row.count + 1, row.first or now, cause.to_json()
            row.save()
            return
        first, count = row.first or now, row.count + 1
        _begin(row, now)
        _send(cause, first, count, now)


def _row(cause: Cause, now: datetime) -> NotifyCause:
    """The row of the cause's window, locked; the shared one of its event if too many are open."""
    mine = {"home": homes.home()}
    rows = NotifyCause.objects.select_for_update()
    if (found := rows.filter(key=cause.key, **mine).first()) is not None:
        return found
    opened = NotifyCause.objects.filter(event=cause.event, until__gt=now, **mine)
    key = cause.key if opened.count() < MANY else f"{cause.event}:*"
    fresh = {"event": cause.event, "until": now}
    return rows.get_or_create(key=key, **mine, defaults=fresh)[0]


def _open(row: NotifyCause, now: datetime) -> bool:
    return now < row.until <= now + WINDOW


def _begin(row: NotifyCause, now: datetime) -> None:
    row.until, row.count, row.first, row.last = now + WINDOW, 0, None, {}
    row.save()


def close_windows(now: datetime) -> int:
    """Send what came in windows that are over. Delete windows in which nothing came."""
    told = 0
    for key in _over(now).values_list("pk", flat=True)[:100]:
        with transaction.atomic():
            row = _over(now).select_for_update().filter(pk=key).first()
            if row is None:
                continue
            if not row.count:
                row.delete()
                continue
            cause, first, count = Cause(**row.last), row.first or now, row.count
            _begin(row, now)
            _send(cause, first, count, now)
            told += 1
    return told


def next_end() -> datetime | None:
    """When the first window ends, or None."""
    found: datetime | None = NotifyCause.objects.filter(homes.mine()).aggregate(at=Min("until"))[
        "at"
    ]
    return found


def _over(now: datetime) -> QuerySet[NotifyCause]:
    over = Q(until__lte=now) | Q(until__gt=now + WINDOW)
    return NotifyCause.objects.filter(homes.mine(), over)


def _send(cause: Cause, first: datetime, count: int, now: datetime) -> None:
    """Store a message and a delivery for each channel that wants it; on commit wake the senders."""
    row = NotifyMessage.objects.create(cause=cause.key, event=cause.event, at=now, body={})
    row.body = {**message(cause, first, count, row.pk), "part": cause.part, "path": cause.path}
    row.save()
    NotifyDelivery.objects.bulk_create(
        NotifyDelivery(message=row, channel=one.name, due=now)
        for one in setting.current().wanting(cause.event)
    )
    transaction.on_commit(_ring)


def _ring() -> None:
    """Wake the servers, which tell open pages, and a worker, which sends to channels."""
    from workspace.notify import delivery  # that module imports this one

    wakeup.wake(BELL)
    wakeup.wake(TICKER)  # it waits for the end of the window
    delivery.hand_over()


def message(cause: Cause, first: datetime, count: int, number: int) -> Message:
    many = count > 1
    return {
        "id": str(number),
        "event": cause.event,
        "title": f"{cause.title} ({count} times)" if many else cause.title,
        "text": f"Last: {cause.text}" if many and cause.text else cause.text,
        "url": url(cause.part, cause.path),
        "at": timestamp(first),
        "count": count,
        "node": settings.SVC.node,
    }


def url(part: str, path: str) -> str:
    """The URL of a path in a part: under the address of this node, else on localhost."""
    prefix = SURFACES[part].prefix
    if base := settings.SVC.node_url.rstrip("/"):
        return f"{base}{prefix}{path}"
    ports = {name: port for port, name in reach.own_ports().items()}
    return f"http://localhost:{ports.get('main', settings.SVC.port)}{prefix}{path}"


def withdraw(key: str) -> None:
    """Delete the message of a cause that needs no notification any more, with its open deliveries;
    pages remove what they show of it."""
    if NotifyMessage.objects.filter(homes.mine(), cause=key).delete()[0]:
        wakeup.wake(BELL)


def prune() -> None:
    """Delete messages that are a day old, delivered or not."""
    NotifyMessage.objects.filter(homes.mine(), at__lt=datetime.now(UTC) - KEPT).delete()
