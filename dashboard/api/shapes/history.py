"""The History of an app (section 8)."""

from __future__ import annotations

from typing import Any, ClassVar

from rest_framework import serializers as s

from dashboard.api.shapes.base import Shape, number, real, word
from dashboard.history.windows import WINDOWS


class Seconds(Shape):
    up = s.FloatField()
    degraded = s.FloatField()
    down = s.FloatField()
    stopped = s.FloatField()
    unknown = s.FloatField()


class Latency(Shape):
    avg = real()
    min = real()
    p50 = real()
    p95 = real()
    p99 = real()
    max = real()


class Bucket(Shape):
    at = word()
    seconds = Seconds(allow_null=True)
    uptime = real()
    checks = number()
    failed = number()
    avg = real()
    p95 = real()
    max = real()


class Transition(Shape):
    own: ClassVar[dict[str, Any]] = {"from": word(), "to": word()}
    at = word()
    reason = word()
    seconds = s.FloatField()


class History(Shape):
    own: ClassVar[dict[str, Any]] = {"from": word(), "to": word()}
    slug = word()
    window = s.ChoiceField(tuple(WINDOWS))
    bucketSeconds = number()  # noqa: N815
    uptime = real()
    seconds = Seconds()
    checks = number()
    failed = number()
    latency = Latency(allow_null=True)
    buckets = Bucket(many=True)
    transitions = Transition(many=True)
    source = s.ChoiceField(("raw", "hourly"))  # type: ignore[assignment]
