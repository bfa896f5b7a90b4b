"""The ledger of notifications: windows of causes, messages, what is still to be delivered, and how
each channel does. Losing it loses what was not told yet, and nothing else.
"""

from __future__ import annotations

from django.db import models

from config.storage import homes


def _home() -> models.CharField[str, str]:
    return models.CharField(max_length=homes.LENGTH, blank=True, default=homes.home)


class NotifyCause(models.Model):
    """What was told of one cause, and what came since: the window in which it is told once."""

    key = models.CharField(max_length=200)  # "asked:<chat>:<call>"
    event = models.CharField(max_length=16)
    until = models.DateTimeField(db_index=True)  # the end of the window
    count = models.IntegerField(default=0)  # how often it came since the message
    first = models.DateTimeField(null=True)  # of these
    last = models.JSONField(default=dict)  # causes.Cause of the last one
    home = _home()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["home", "key"], name="one_row_per_cause"),)

    def __str__(self) -> str:
        return self.key


class NotifyMessage(models.Model):
    """One notification as it is sent, kept for a day."""

    cause = models.CharField(max_length=200)
    event = models.CharField(max_length=16)
    at = models.DateTimeField(db_index=True)
    body = models.JSONField()  # folding.Message
    home = _home()

    class Meta:
        ordering = ("id",)

    def __str__(self) -> str:
        return f"{self.event} {self.pk}"


class NotifyDelivery(models.Model):
    """A message that a channel has not taken yet; its row goes when it has."""

    message = models.ForeignKey(NotifyMessage, on_delete=models.CASCADE, related_name="+")
    channel = models.CharField(max_length=32)
    due = models.DateTimeField(db_index=True)
    tries = models.IntegerField(default=0)
    claimed_until = models.DateTimeField(null=True)
    home = _home()

    class Meta:
        verbose_name_plural = "notify deliveries"
        ordering = ("tries", "id")

    def __str__(self) -> str:
        return f"{self.message_id} to {self.channel}"


class NotifyChannel(models.Model):
    """How a channel does: since when it fails and why, and when it last took something."""

    name = models.CharField(max_length=32)
    failures = models.IntegerField(default=0)  # in a row
    since = models.DateTimeField(null=True)  # of the first of these
    error = models.TextField(blank=True)
    resting_until = models.DateTimeField(null=True)
    given_up = models.IntegerField(default=0)  # messages too old to be told, since it last worked
    delivered = models.DateTimeField(null=True)
    home = _home()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["home", "name"], name="one_row_per_channel"),
        )

    def __str__(self) -> str:
        return self.name
