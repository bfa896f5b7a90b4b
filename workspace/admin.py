"""The workspace's tables in the admin: index tables of files, and ledgers."""

from __future__ import annotations

from django.contrib import admin
from django_q.models import Failure, OrmQ

from config.web.admin import Inspection, Ledger, Values, site
from workspace import models
from workspace.notify import tables

__all__ = ("site",)  # filled by this module's import


@admin.register(models.Project, site=site)
class Projects(Inspection):
    list_display = ("slug", "error", "read_at")
    search_fields = ("slug",)


@admin.register(models.Chat, site=site)
class Chats(Inspection):
    list_display = ("id", "project", "name", "origin", "trigger", "archived", "updated", "error")
    list_filter = ("origin", "archived", "project")
    search_fields = ("id", "name")


@admin.register(models.Run, site=site)
class Runs(Ledger):
    list_display = ("id", "project", "trigger", "cause", "status", "queued_at", "reason")
    list_filter = (("status", Values), ("cause", Values), ("project", Values))
    search_fields = ("id", "trigger", "session_id")


@admin.register(models.Turn, site=site)
class Queue(Ledger):
    """The claim and the token's digest are not shown: they are keys."""

    list_display = ("id", "project", "chat", "state", "created", "started", "finished", "reason")
    list_filter = (("state", Values), ("project", Values))
    search_fields = ("id", "chat")
    exclude = ("claim", "token_hash")
    raw_id_fields = ("run",)


@admin.register(models.TriggerState, site=site)
class TriggerStates(Inspection):
    list_display = ("project", "name", "type", "enabled", "when", "next_at", "last_error")
    list_filter = ("enabled", "type", "project")
    search_fields = ("name",)


@admin.register(models.InvalidEntry, site=site)
class InvalidEntries(Inspection):
    list_display = ("project", "name", "line", "error")
    list_filter = ("project",)


@admin.register(models.AuditEntry, site=site)
class Audit(Ledger):
    list_display = ("time", "client", "operation", "project", "outcome", "ms", "peer", "count")
    list_filter = (("outcome", Values), ("operation", Values), ("client", Values))
    search_fields = ("session_id", "request_id")


@admin.register(models.ClientUse, site=site)
class Clients(Inspection):
    list_display = ("client", "last_used", "last_peer")


@admin.register(tables.NotifyMessage, site=site)
class NotifyMessages(Ledger):
    list_display = ("id", "at", "event", "cause")
    list_filter = (("event", Values),)


@admin.register(tables.NotifyDelivery, site=site)
class NotifyDeliveries(Inspection):
    """Notifications that a channel has not accepted yet."""

    list_display = ("id", "message", "channel", "due", "tries")


@admin.register(tables.NotifyChannel, site=site)
class NotifyChannels(Inspection):
    list_display = ("name", "failures", "since", "error", "given_up", "delivered")


@admin.register(OrmQ, site=site)
class Deliveries(Inspection):
    """Tasks that no worker has taken yet. The payload is pickled and signed, so it is not shown."""

    list_display = ("id", "key", "func", "task_id", "lock")
    exclude = ("payload",)


@admin.register(Failure, site=site)
class FailedTasks(Inspection):
    list_display = ("name", "func", "cluster", "started", "stopped")
    fields = ("id", "name", "func", "cluster", "started", "stopped", "result")
    search_fields = ("name", "func")
