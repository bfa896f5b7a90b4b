"""Whether a person looks at a chat: pages that show one say so while they can be seen.

One file for each page in the data directory, touched every 20 s; a page that died without a word
counts for another 25 s. A server and workers of one data directory share it.
"""

from __future__ import annotations

import time
from pathlib import Path

from django.conf import settings

LASTS_S = 45.0


def look(chat: str, page: str) -> None:
    """The page shows the chat now."""
    folder = _folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / f"{chat}.{page}").touch(mode=0o600)
    _sweep(folder)


def leave(chat: str, page: str) -> None:
    """The page is hidden, or has gone."""
    (_folder() / f"{chat}.{page}").unlink(missing_ok=True)


def looked_at(chat: str) -> bool:
    return any(_fresh(path) for path in _folder().glob(f"{chat}.*"))


def _folder() -> Path:
    return Path(settings.DATA_DIR) / "run" / "looking"


def _fresh(path: Path) -> bool:
    """Of a file from the future the clock was set back since: it tells nothing."""
    try:
        return 0 <= time.time() - path.stat().st_mtime + 1 <= LASTS_S + 1
    except FileNotFoundError:
        return False


def _sweep(folder: Path) -> None:
    for path in folder.iterdir():
        if not _fresh(path):
            path.unlink(missing_ok=True)
