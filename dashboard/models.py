"""Tables of the dashboard part: the history of its apps, and nothing else.

The files define what an app is. Only the recorder writes these rows. Times are Unix milliseconds,
latencies microseconds; the states of samples are the numbers of history/states.py.
"""

from __future__ import annotations

from django.db import models


class Slug(models.Model):
    """A name that has a history: its last state, and how often it is probed (`interval`, ms).

    `node` is the id of the node that has the app, "" in SQLite (history/scope.py). `observed_id`
    binds a discovered app to its listener. `removed_at` is when the app was removed; its history
    is deleted 90 days later.
    """

    node = models.CharField(max_length=64, blank=True, default="")
    slug = models.CharField(max_length=63)
    observed_id = models.CharField(max_length=14, blank=True)
    state = models.CharField(max_length=10, blank=True)
    since = models.BigIntegerField(null=True)
    reason = models.CharField(max_length=20, blank=True)
    interval = models.IntegerField(default=30_000)
    removed_at = models.BigIntegerField(null=True)

    class Meta:
        ordering = ("slug", "node")
        constraints = (models.UniqueConstraint(fields=("node", "slug"), name="dashboard_slug_key"),)

    def __str__(self) -> str:
        return self.slug


class Sample(models.Model):
    """The state of an app at one moment: the worst within ten seconds, if it was probed more
    often.

    `ok` is the result of a probe; null is no probe, but a report of the daemon that the state
    still holds.
    """

    app = models.ForeignKey(Slug, models.CASCADE, related_name="+", db_index=False)
    ts = models.BigIntegerField()
    state = models.SmallIntegerField()
    us = models.IntegerField(null=True)
    status = models.SmallIntegerField(null=True)
    ok = models.BooleanField(null=True)

    class Meta:
        ordering = ("app", "ts")
        constraints = (models.UniqueConstraint(fields=("app", "ts"), name="dashboard_sample_key"),)

    def __str__(self) -> str:
        return f"{self.app_id} {self.ts}"


class Hour(models.Model):
    """One hour of one app: milliseconds in each state, checks, and the latency of passed checks.

    `hour` counts from the epoch; `hist` is read by history/hist.py; the halves are the worst
    states of the two half hours; time is accounted for up to `until`.
    """

    app = models.ForeignKey(Slug, models.CASCADE, related_name="+", db_index=False)
    hour = models.IntegerField()
    unknown = models.IntegerField(default=0)
    stopped = models.IntegerField(default=0)
    up = models.IntegerField(default=0)
    degraded = models.IntegerField(default=0)
    down = models.IntegerField(default=0)
    n = models.IntegerField(default=0)
    failed = models.IntegerField(default=0)
    us_sum = models.BigIntegerField(default=0)
    us_min = models.IntegerField(null=True)
    us_max = models.IntegerField(null=True)
    hist = models.BinaryField(default=b"")
    first_half = models.SmallIntegerField(default=0)
    second_half = models.SmallIntegerField(default=0)
    until = models.BigIntegerField(default=0)

    class Meta:
        ordering = ("app", "hour")
        constraints = (models.UniqueConstraint(fields=("app", "hour"), name="dashboard_hour_key"),)

    def __str__(self) -> str:
        return f"{self.app_id} {self.hour}"


class Edge(models.Model):
    """One change of state, with the names of the states and the reason."""

    app = models.ForeignKey(Slug, models.CASCADE, related_name="+", db_index=False)
    ts = models.BigIntegerField()
    from_state = models.CharField(max_length=10)
    to_state = models.CharField(max_length=10)
    reason = models.CharField(max_length=20, blank=True)

    class Meta:
        ordering = ("app", "ts")
        constraints = (models.UniqueConstraint(fields=("app", "ts"), name="dashboard_edge_key"),)

    def __str__(self) -> str:
        return f"{self.app_id} {self.from_state} {self.to_state}"
