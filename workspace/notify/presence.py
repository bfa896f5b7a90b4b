"""Whether a person looks at a chat: pages that show the chat report it while they are visible.

Each page has a file in the data directory, touched every 20 s; a page that closed without reporting
it counts for another 25 s. A server and the workers of one data directory share the files.
"""

from __future__ import annotations

import time
from pathlib import Path

from django.conf import settings

LASTS_S = 45.0


def look(chat: str, page: str) -> None:
    """Record that the page shows the chat now."""
    folder = _folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / f"{chat}.{page}").touch(mode=0o600)
    _sweep(folder)


def leave(chat: str, page: str) -> None:
    """Record that the page is hidden or closed."""
    (_folder() / f"{chat}.{page}").unlink(missing_ok=True)


def looked_at(chat: str) -> bool:
    return any(_fresh(path) for path in _folder().glob(f"{chat}.*"))


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "run" / "looking"


def _fresh(path: Path) -> bool:
    """Whether the file is recent. One from the future is not: the clock was set back since then."""
    try:
        return 0 <= time.time() - path.stat().st_mtime + 1 <= LASTS_S + 1
    except FileNotFoundError:
        return False


def _sweep(folder: Path) -> None:
    for path in folder.iterdir():
        if not _fresh(path):
            path.unlink(missing_ok=True)
