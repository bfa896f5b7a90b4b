"""The channels as Settings, `manage.py notify` and the doctor show them; and the test of one."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Literal, TypedDict

from django.conf import settings
from django.db import DatabaseError
from django.db.models import Count

from config.errors import NotFound, printable
from config.logs import timestamp
from config.process.doctor import FAULT, OK, Finding
from config.storage import homes
from config.web.surfaces import MAIN
from workspace.notify import delivery, folding, sending, setting
from workspace.notify.causes import Cause
from workspace.notify.setting import Channel
from workspace.notify.tables import NotifyChannel, NotifyDelivery

log = logging.getLogger(__name__)

State = Literal["works", "untried", "failing", "unusable"]


class ChannelShown(TypedDict):
    """One channel. `shown`: where it leads, without secrets. `error` and `since`: of a channel that
    fails or cannot be used. `waiting`: messages that it has not taken yet. `givenUp`: messages
    dropped because they became too old.
    """

    name: str
    kind: setting.Kind
    shown: str
    events: list[str]
    state: State
    error: str | None
    since: str | None
    waiting: int
    givenUp: int
    delivered: str | None


class ChannelList(TypedDict):
    """`problems`: a sentence for each entry of `notify` that is not used."""

    channels: list[ChannelShown]
    problems: list[str]
    events: list[str]
    file: str


class Tried(TypedDict):
    """The result of a test; `error` is null if the channel took it."""

    ok: bool
    error: str | None


def listing() -> ChannelList:
    """Every channel of svc.config.yaml and its state now."""
    mine = NotifyChannel.objects.filter(homes.mine())
    states = {row.name: row for row in mine}
    rows = NotifyDelivery.objects.filter(homes.mine()).order_by().values_list("channel")
    return _listing(states, dict(rows.annotate(Count("pk"))))


def listing_for_commands() -> ChannelList:
    """`listing`; before the database is made or migrated, nothing was delivered and none waits."""
    try:
        return listing()
    except DatabaseError:
        return _listing({}, {})


def _listing(states: Mapping[str, NotifyChannel], waiting: Mapping[str, int]) -> ChannelList:
    found = setting.current()
    return {
        "channels": [
            _render(one, states.get(one.name), waiting.get(one.name, 0)) for one in found.channels
        ],
        "problems": found.sentences(),
        "events": [*setting.EVENTS],
        "file": str(settings.SVC.config_file),
    }


def _render(channel: Channel, row: NotifyChannel | None, waiting: int) -> ChannelShown:
    lacks = sending.lacks(channel)
    failing = row is not None and row.failures > 0
    state: State = "untried"
    if lacks:
        state = "unusable"
    elif failing:
        state = "failing"
    elif row is not None and row.delivered:
        state = "works"
    return {
        "name": channel.name,
        "kind": channel.kind,
        "shown": channel.shown,
        "events": [*channel.events],
        "state": state,
        "error": lacks or (row.error if row and failing else None),
        "since": timestamp(row.since) if row and failing and row.since else None,
        "waiting": waiting,
        "givenUp": row.given_up if row else 0,
        "delivered": timestamp(row.delivered) if row and row.delivered else None,
    }


def test(name: str) -> Tried:
    """Send a test to one channel, now. If the channel takes it, its waiting messages are tried too.

    NotFound, with the names of all channels, if there is none of this name."""
    channels = {one.name: one for one in setting.current().channels}
    if name not in channels:
        known = ", ".join(channels) or "none"
        raise NotFound(f"no channel is called {printable(name)} (svc.config.yaml has: {known})")
    now = datetime.now(UTC)
    said = "Notifications of svc reach this channel."
    cause = Cause("test", "test", "A test from svc", said, MAIN.name, "/settings")
    error = sending.send(channels[name], folding.message(cause, now, 1, 0))
    _remember(name, error, now)
    return {"ok": not error, "error": error or None}


def _remember(name: str, error: str, now: datetime) -> None:
    """Record the result if there is a database; the command also runs without one."""
    try:
        if error:
            delivery.record_failure(name, error, now)
            return
        delivery.record_success(name, now)
        if NotifyDelivery.objects.filter(homes.mine(), channel=name).exists():
            NotifyDelivery.objects.filter(homes.mine(), channel=name).update(due=now)
            delivery.hand_over()
    except DatabaseError as failed:
        log.warning("the test of channel %s is not remembered: %s", name, failed)


def findings() -> Iterator[Finding]:
    """For the doctor: entries that are not used, channels that fail, and those that work."""
    found = setting.current()
    for sentence in found.sentences():
        yield Finding(FAULT, "notifications", sentence)
    if not found.channels:
        return
    shown = listing_for_commands()["channels"]
    for one in shown:
        if one["state"] in ("failing", "unusable"):
            since = f" since {one['since'][:16]}Z" if one["since"] else ""
            text = f"channel {one['name']} fails{since}: {one['error']}"
            mend = f"; try it with manage.py notify --test {one['name']}"
            yield Finding(FAULT, "notifications", f"{text}{_backlog(one)}{mend}")
    good = [one["name"] for one in shown if one["state"] in ("works", "untried")]
    if good:
        yield Finding(OK, "notifications", f"channels: {', '.join(good)}")


def _backlog(one: ChannelShown) -> str:
    waiting = f", {one['waiting']} waiting" if one["waiting"] else ""
    given_up = f", {one['givenUp']} given up" if one["givenUp"] else ""
    return f"{waiting}{given_up}"
