"""Whether a scheduler serves this data directory: a shared lock that every supervisor holds.

A lock and not a pid: it is gone the moment its holder is, however it died.
"""

from __future__ import annotations

import fcntl
from pathlib import Path

from django.conf import settings


def scheduler_alive() -> bool:
    """Whether any `manage.py qcluster` runs on this data directory now."""
    try:
        with (Path(settings.DATA_DIR) / "state" / "qcluster.lock").open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True
    return False
