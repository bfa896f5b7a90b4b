"""Files of a test's projects directory, written by hand."""

from __future__ import annotations

import os
from pathlib import Path


def put(path: Path, data: bytes) -> Path:
    """The file, holding this; its folders are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def aged(path: Path) -> Path:
    """The file, saved a minute ago."""
    os.utime(path, (path.stat().st_mtime - 60,) * 2)
    return path
