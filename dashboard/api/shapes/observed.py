"""Observed listeners, and what is done with them (sections 7, 7.10, 7.11)."""

from __future__ import annotations

from rest_framework import serializers as s

from dashboard.api.shapes.app import EXPECTED, SCOPES, Address
from dashboard.api.shapes.base import Shape, maybe, number, table, word, words
from dashboard.api.shapes.identity import Identity

PROTOCOLS = ("http", "https", "tcp", "unknown")
LISTENERS = ("dev", "database", "system", "other")


class Suggested(Shape):
    slug = word()
    name = word()
    expected = s.ChoiceField(EXPECTED)


class Observed(Shape):
    id = word()
    addresses = Address(many=True)
    port = number()
    scope = s.ChoiceField(SCOPES)
    protocol = s.ChoiceField(PROTOCOLS)
    identity = Identity()
    firstSeen = word()  # noqa: N815
    lastSeen = word()  # noqa: N815
    suggested = Suggested()
    kind = s.ChoiceField(LISTENERS)
    hidden = s.BooleanField()
    lanExposed = s.BooleanField()  # noqa: N815


class ObservedList(Shape):
    observed = Observed(many=True)
    ignored = Observed(many=True)
    ignoreEtag = maybe()  # noqa: N815
    scannedAt = maybe()  # noqa: N815
    partial = words()  # type: ignore[assignment]


class Ignored(Shape):
    ok = s.BooleanField()
    rule = table()
    file = word()


class Scan(Shape):
    scannedAt = word()  # noqa: N815
    observed = number()
    added = words()
    gone = words()
    ms = s.FloatField()
