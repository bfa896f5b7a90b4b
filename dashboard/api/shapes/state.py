"""Groups, the lost notice, Config, and the State that holds all (sections 7, 10)."""

from __future__ import annotations

from rest_framework import serializers as s

from dashboard.api.shapes.app import App
from dashboard.api.shapes.base import FileError, Shape, maybe, number, real, table, word, words
from dashboard.api.shapes.observed import Observed

LOST = ("lost", "starting", "restarted", "failed")


class Link(Shape):
    name = word()
    url = word()
    description = maybe()
    icon = maybe()
    tags = words()
    hotkey = maybe()


class Group(Shape):
    """A group. `config` is the mapping of its file; null in lists."""

    group = word()
    name = word()
    config = table(null=True)
    description = maybe()
    icon = maybe()
    color = maybe()
    order = real()
    collapsed = s.BooleanField()
    links = Link(many=True)
    etag = maybe()
    fileErrors = FileError(many=True)  # noqa: N815


class GroupList(Shape):
    groups = Group(many=True)


class LostItem(Shape):
    id = word()
    slug = maybe()
    name = word()
    port = number()
    cwd = maybe()
    command = maybe()
    identity = table(null=True)
    lastSeenAt = word()  # noqa: N815
    wasManaged = s.BooleanField()  # noqa: N815
    canRestart = s.BooleanField()  # noqa: N815
    canService = s.BooleanField()  # noqa: N815
    blocked = maybe()
    status = s.ChoiceField(LOST)
    note = maybe()


class Notice(Shape):
    bootedAt = maybe()  # noqa: N815
    lastSeenAt = maybe()  # noqa: N815
    items = LostItem(many=True)


class LostNotice(Shape):
    lost = Notice(allow_null=True)


class Restarted(Shape):
    ok = s.BooleanField()
    id = word()
    slug = maybe()
    state = maybe()
    reason = maybe()
    message = maybe()
    log = words()


class Config(Shape):
    """config.yaml with its defaults, and as it is written."""

    config = table()
    source = table()  # type: ignore[assignment]
    defaults = table()
    restartNeeded = words()  # noqa: N815
    path = word()
    etag = word()


class State(Shape):
    version = word()
    boot = word()
    now = word()
    rev = number()
    host = word()
    config = table()
    apps = App(many=True)
    bookmarks = Group(many=True)
    observed = Observed(many=True)
    lost = Notice(allow_null=True)
    fileErrors = FileError(many=True)  # noqa: N815
    scan = table()
    counts = s.DictField(child=s.IntegerField())
