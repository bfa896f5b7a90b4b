"""Figures of the server process, its disk and its database, for GET /metrics."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
from django.conf import settings
from django.db import connection

from config import __version__
from config.metrics import Metric, by, gauge
from config.web import events
from config.web.connections import shared


def measure() -> Iterator[Metric]:
    """Version, streams, memory, descriptors, disk; the database last, as it may be gone."""
    yield Metric("info", "svc_build", "The version that serves", [({"version": __version__}, 1)])
    own = psutil.Process()
    meaning = "When this server was started, in Unix time"
    yield gauge("svc_start_time_seconds", meaning, own.create_time())
    meaning = "Open event streams of a surface"
    yield Metric("gauge", "svc_streams", meaning, by("surface", events.clients()))
    meaning = "Open connections that carry several event streams"
    yield gauge("svc_shared_streams", meaning, shared.connections())
    meaning = "Memory of this server, its share of what it shares"
    yield gauge("svc_server_memory_bytes", meaning, memory([own]))
    yield gauge("svc_server_open_files", "Descriptors this server has open", own.num_fds())
    meaning = "Free bytes on the disk of the data directory"
    yield gauge("svc_disk_free_bytes", meaning, shutil.disk_usage(settings.DATA_DIR).free)
    yield gauge("svc_database_bytes", "Size of the database", database_size())


def memory(processes: Iterable[psutil.Process]) -> int:
    """Memory of all processes in bytes; on Linux a shared page is divided among its sharers."""
    found = 0
    for process in processes:
        with suppress(psutil.Error, OSError):
            found += _share(process.pid) or process.memory_info().rss
    return found


def _share(pid: int) -> int:
    """The proportional set size in bytes; 0 where the system does not report it."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_bytes().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(b"Pss:")), 0)


def database_size() -> int:
    """Size of the database in bytes: SQLite's files, or what PostgreSQL reports."""
    if connection.vendor == "sqlite":
        name = str(connection.settings_dict["NAME"])
        return sum(_size(Path(name + suffix)) for suffix in ("", "-wal"))
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_database_size(current_database())")
        return int(cursor.fetchone()[0])


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
