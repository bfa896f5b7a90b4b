"""`manage.py ticker`: the precise ticker alone; `manage.py qcluster` starts it by itself."""

from __future__ import annotations

import signal
from typing import Any

from django.core.management.base import BaseCommand

from config.kernel import bell
from workspace.triggers import arming
from workspace.triggers.clock import Clock
from workspace.triggers.ticker import Ticker


class Command(BaseCommand):
    help = "Claims due triggers until stopped. Any number may run on one data directory."
    requires_system_checks = ()

    def handle(self, **options: Any) -> None:
        stopping = False

        def stop(number: int, frame: object) -> None:
            nonlocal stopping
            stopping = True
            bell.ring(arming.BELL)

        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, stop)
        with bell.Bell(arming.BELL) as sleeper:
            Ticker(Clock()).run(sleeper, lambda: stopping)
