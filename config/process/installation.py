"""Checks of `manage.py doctor` around the service: version, unit, tokens, logs, other nodes."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings

from config import __version__, written
from config.logs import timestamp
from config.process import nodes, units
from config.process.doctor import FAULT, HINT, OK, Finding
from config.storage import opening, release

KEPT_MB = 200  # of logs; more than this is a hint


def check() -> Iterator[Finding]:
    yield from _version()
    yield from _environment(settings.DATA_DIR / written.SERVICE_ENV)
    for kind, pattern in (("systemd", "*.service"), ("launchd", "*.plist")):
        for path in sorted(units.folder(kind).glob(pattern)):
            yield from _unit(path)
    yield from _logs()
    if settings.SVC.redis_url:
        yield from _nodes()


def _version() -> Iterator[Finding]:
    told = release.last_version(settings.DATA_DIR)
    if release.newer(told):
        text = f"last used by svc {told}, this is {__version__}: install that version or newer"
        yield Finding(FAULT, "release", text)
    else:
        yield Finding(OK, "release", f"svc {__version__}, the data last used by {told or 'none'}")


def _environment(path: Path) -> Iterator[Finding]:
    """Whether other users can read the environment file, which may hold tokens."""
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
    except OSError:
        return
    if mode & 0o077:
        text = f"{path} is open to others ({mode:04o}): chmod 600 {path}"
        yield Finding(FAULT, "environment file", text)


def _unit(path: Path) -> Iterator[Finding]:
    """Whether a unit for this data directory would start, and leaves apps running when it stops."""
    try:
        text = opening.contents(path).decode()
    except (OSError, UnicodeDecodeError):
        return
    if not re.search(rf"SVC_DATA_DIR(=|</key>\s*<string>){re.escape(str(settings.DATA_DIR))}[\"<]",
                     text):  # fmt: skip
        return
    if not re.search(r"^KillMode=process$|AbandonProcessGroup", text, re.MULTILINE):
        why = f"{path} ends apps with the service: add KillMode=process to it"
        yield Finding(FAULT, "unit", why)
    programs = re.findall(r"/[^\"<> ]*/manage\.py", text)
    if gone := [program for program in programs if not os.access(program, os.R_OK)]:
        why = f"{path} runs {gone[0]}, which is gone: manage.py install-service"
        yield Finding(FAULT, "unit", why)
    else:
        yield Finding(OK, "unit", str(path))


def _logs() -> Iterator[Finding]:
    """Whether logs take much space: all are bounded, but the bounds of apps may be wide."""
    size = 0
    for folder in (settings.DATA_DIR / "logs", settings.DATA_DIR / "dashboard" / "logs"):
        for path in folder.rglob("*"):
            size += path.lstat().st_size if path.is_file() else 0
    if size > KEPT_MB * 1024**2:
        text = f"{size // 1024**2} MB of logs: services.logMaxBytes and services.logKeep of the"
        yield Finding(HINT, "logs", f"{text} dashboard's config.yaml bound those of apps")


def _nodes() -> Iterator[Finding]:
    """Other nodes on this PostgreSQL and Redis, which of them are gone or of another version."""
    others = nodes.others()
    if not nodes.can_hear():
        yield Finding(FAULT, "nodes", "the Redis does not answer, so no other node is heard")
        return
    for one in others:
        since = timestamp(datetime.fromtimestamp(one.seen, UTC))
        told = f"{one.name}, svc {one.version or 'of no version'}, id {one.id}"
        if not one.alive:
            text = f"{told}: not heard since {since}; forgotten a week after that"
            yield Finding(HINT, "node", text)
        elif one.version != __version__:
            text = f"{told}: this is {__version__}, and one database wants one version: upgrade"
            yield Finding(HINT, "node", f"{text} the older")
        else:
            yield Finding(OK, "node", told)
    if other := nodes.twin():
        text = f"the server {other} uses the id of this node, {nodes.me()}: {nodes.MEND}"
        yield Finding(FAULT, "nodes", text)
    yield Finding(OK, "nodes", f"this is {nodes.name()}, id {nodes.me()}; others: {len(others)}")
