"""Dropping history past its retention: runs, audit rows, settled queue rows (workspace.md 1)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.conf import settings

from workspace.models import AuditEntry, Run, Turn
from workspace.triggers import runs


def prune() -> None:
    """Older rows go; never a queued or running one, and never a message that still waits."""
    now = datetime.now(UTC)
    before = now - timedelta(days=settings.SVC.run_days)
    Run.objects.filter(queued_at__lt=before).exclude(status__in=runs.ACTIVE).delete()
    Turn.objects.filter(created__lt=before, state__in=runs.ENDED).delete()
    AuditEntry.objects.filter(time__lt=now - timedelta(days=settings.SVC.audit_days)).delete()
