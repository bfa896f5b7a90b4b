"""Deleting history after its retention: runs, audit rows, settled queue rows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.conf import settings

from config.storage import homes, ranges
from workspace.access import audit
from workspace.models import Run, Turn
from workspace.triggers import runs


def prune() -> None:
    """Delete old rows of this home, but never a queued or running one, a message that still waits,
    or a turn whose transcript lacks its end."""
    now, ours = datetime.now(UTC), homes.adoptable()
    before = now - timedelta(days=settings.SVC.run_days)
    over = Run.objects.filter(ours, queued_at__lt=before).exclude(status__in=runs.ACTIVE)
    ranges.delete(over)
    ended = Turn.objects.filter(ours, created__lt=before, state__in=runs.ENDED, unclosed=False)
    ranges.delete(ended)


def prune_audit() -> None:
    """Delete old rows of the audit."""
    audit.prune(days=settings.SVC.audit_days)
