"""An App and its parts (section 7)."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers as s

from dashboard.api.shapes.base import FileError, Shape, maybe, number, real, table, word, words
from dashboard.api.shapes.identity import Identity
from dashboard.operations.apps import SOURCES, STATES

EXPECTED = ("always", "sometimes", "never")
SCOPES = ("loopback", "lan", "all")
STATUSES = ("running", "stopped", "starting", "stopping", "backoff", "failed")
KEPT = ("unknown", "stopped", "up", "degraded", "down")
PICTURES = ("favicon", "screenshot", "card")


class Exit(Shape):
    code = number(null=True)
    signal = s.JSONField(allow_null=True)
    at = maybe()


class Service(Shape):
    managed = s.BooleanField()
    status = s.ChoiceField(STATUSES)
    reason = maybe()
    message = maybe()
    pid = number(null=True)
    pgid = number(null=True)
    startedAt = maybe()  # noqa: N815
    restarts = number()
    lastExit = Exit(allow_null=True)  # noqa: N815
    nextRetryAt = maybe()  # noqa: N815
    adopted = s.BooleanField()
    autostart = s.BooleanField()
    once = s.BooleanField()
    stale = s.BooleanField()
    logBytes = number()  # noqa: N815


class Known(Shape):
    state = s.ChoiceField(STATES)
    at = maybe()


class Last(Shape):
    at = word()
    ok = s.BooleanField()
    status = number(null=True)
    ms = real()
    addr = maybe()
    error = maybe()


class Recent(Shape):
    """A check; `state` is what the app was with it: "unknown" while it starts (contract 8)."""

    at = word()
    ok = s.BooleanField()
    ms = real()
    status = number(null=True)
    state = s.ChoiceField(KEPT)


class Urls(Shape):
    local = maybe()
    fronted = maybe()


class Uptime(Shape):
    own: ClassVar[dict[str, Any]] = {"24h": real(), "7d": real(), "90d": real()}


class NamedLink(Shape):
    name = word()
    url = maybe()


class Address(Shape):
    ip = word()
    port = number()


class Listens(Shape):
    addresses = Address(many=True)
    scope = s.ChoiceField(SCOPES)
    lanExposed = s.BooleanField()  # noqa: N815


class App(Shape):
    """An app. `config` is the mapping of its file; null in State, and while it was never valid."""

    slug = word()
    name = word()
    source = s.ChoiceField(SOURCES)  # type: ignore[assignment] # a field, not where it is read
    config = table(null=True)
    state = s.ChoiceField(STATES)
    reason = maybe()
    message = maybe()
    since = maybe()
    lastKnown = Known(allow_null=True)  # noqa: N815
    stale = s.BooleanField()
    failing = number()
    flapping = s.BooleanField()
    unexpected = s.BooleanField()
    url = maybe()
    urls = Urls()
    port = number(null=True)
    expected = s.ChoiceField(EXPECTED)
    tags = words()
    last = Last(allow_null=True)
    recent = Recent(many=True)
    bar24 = word()
    uptime = Uptime()
    identity = Identity(allow_null=True)
    service = Service(allow_null=True)
    thumbKind = s.ChoiceField(PICTURES)  # noqa: N815
    thumbEtag = word()  # noqa: N815
    fileErrors = FileError(many=True)  # noqa: N815
    observedId = maybe()  # noqa: N815
    etag = maybe()
    description = maybe()
    icon = maybe()
    color = maybe()
    group = maybe()
    order = real()
    links = NamedLink(many=True)
    docs = maybe()
    listens = Listens(allow_null=True)


class AppList(Shape):
    apps = App(many=True)
    fileErrors = FileError(many=True)  # noqa: N815
