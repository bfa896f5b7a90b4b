"""The ledger of notifications: windows of causes, messages, open deliveries, state of channels.

Losing it loses only what was not sent yet.
"""

from __future__ import annotations

from django.db import models

from config.storage import homes


def _home() -> models.CharField[str, str]:
    return models.CharField(max_length=homes.LENGTH, blank=True, default=homes.home)


class NotifyCause(models.Model):
    """The window in which a cause sends one message, and what came since that message."""

    key = models.CharField(max_length=200)  # "asked:<chat>:<call>"
    event = models.CharField(max_length=16)
    until = models.DateTimeField(db_index=True)  # the end of the window
    count = models.IntegerField(default=0)  # causes since the message
    first = models.DateTimeField(null=True)  # when the first of these came
    last = models.JSONField(default=dict)  # the last causes.Cause
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
    """A message that a channel has not taken yet; the row is deleted when it has."""

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
    """The state of a channel: since when it fails and why, and when it last took a message."""

    name = models.CharField(max_length=32)
    failures = models.IntegerField(default=0)  # in a row
    since = models.DateTimeField(null=True)  # of the first of these failures
    error = models.TextField(blank=True)
    resting_until = models.DateTimeField(null=True)
    given_up = models.IntegerField(default=0)  # messages dropped as too old since it last worked
    delivered = models.DateTimeField(null=True)
    home = _home()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=["home", "name"], name="one_row_per_channel"),
        )

    def __str__(self) -> str:
        return self.name
