"""`manage.py up`: the whole service in the foreground, until Ctrl-C."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from config import __version__
from config.process import release
from config.process.singleton import Instance
from config.storage import database


class Command(BaseCommand):
    help = "Migrates, then runs the server and qcluster, restarts what dies, stops on Ctrl-C."
    requires_system_checks = ()

    def handle(self, **options: Any) -> None:
        Instance(settings.DATA_DIR, "server").refuse_second()
        instance = Instance(settings.DATA_DIR, "up")
        instance.acquire(inheritable=True)  # the lock goes on with the process it becomes
        release.refuse_newer(settings.DATA_DIR)
        database.make()
        state = database.look()
        state.refuse_newer()
        for line in database.migrate(state):
            self.stdout.write(line)
        release.stamp(settings.DATA_DIR)
        self.stdout.write(f"svc {__version__}, data {settings.DATA_DIR}; Ctrl-C stops everything")
        self.stdout.flush()
        argv = [sys.executable, "-m", "config.process.supervise", json.dumps(children())]
        os.chdir(settings.BASE_DIR)
        os.execv(sys.executable, argv)  # noqa: S606 - no shell is the point


def children() -> list[dict[str, Any]]:
    """What the supervisor keeps alive."""
    manage = [sys.executable, str(settings.BASE_DIR / "manage.py")]
    here, logs = str(Path.cwd()), settings.DATA_DIR / "logs"
    server = {
        "name": "server",
        "argv": [*manage, "runserver", "--noreload"],
        "cwd": here,
        "log": str(logs / "server.log"),
        "tells_ready": True,
    }
    cluster = {
        "name": "qcluster",
        "argv": [*manage, "qcluster"],
        "cwd": here,
        "log": str(logs / "qcluster.log"),
    }
    return [server, cluster] if settings.SVC.scheduler else [server]
