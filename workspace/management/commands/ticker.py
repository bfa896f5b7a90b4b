"""`manage.py ticker`: only the precise ticker; `manage.py qcluster` runs one by itself."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from workspace.triggers.schedule.cluster import tick


class Command(BaseCommand):
    help = "Claims due triggers until stopped. Any number may run on one data directory."
    requires_system_checks = ()

    def handle(self, **options: Any) -> None:
        tick()
