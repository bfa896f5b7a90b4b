"""What `manage.py doctor` reports about the dashboard: what this system does not let it see or
do."""

from __future__ import annotations

from collections.abc import Iterator

from config.process.doctor import HINT, Finding
from dashboard.listeners import portable, scan
from dashboard.rendering import svg
from dashboard.services import rotation

LOGS = (
    "this system cannot cut the head off a file: a line that an app writes in the very instant in "
    "which its log is rotated can be lost"
)


def check() -> Iterator[Finding]:
    if portable.ONLY_MINE in scan.scan().partial:
        yield Finding(HINT, "listeners", portable.ONLY_MINE)
    if not rotation.COLLAPSES:
        yield Finding(HINT, "app logs", LOGS)
    if not svg.can_limit_memory():
        text = "this system bounds no memory: to draw an icon that is an SVG may take much of it"
        yield Finding(HINT, "icons", text)
