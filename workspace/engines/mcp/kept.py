"""What the last turn saw of each server of a project: its tools, or why it did not start.

A file of the data directory, for the page; no turn depends on it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from config.process.light_typing import Any

LIMIT = 256 * 1024


def remember(path: str, told: Mapping[str, tuple[str, list[str]]]) -> None:
    """Keep `told`: name -> (why the server did not start, or ""; the names of its tools)."""
    if not path or not told:
        return
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    rows = {
        name: {"error": error or None, "tools": tools, "at": at}
        for name, (error, tools) in told.items()
    }
    file = Path(path)
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = file.with_suffix(f".{time.time_ns()}")
        draft.write_text(json.dumps(_load(file) | rows))
        draft.replace(file)


def _load(file: Path) -> dict[str, Any]:
    try:
        return read(file.read_bytes()[:LIMIT])
    except OSError:
        return {}


def read(data: bytes) -> dict[str, Any]:
    """name -> {error, tools, at}, without rows that cannot be read."""
    try:
        found = json.loads(data)
        return {str(name): row for name, row in found.items() if {*row} == {"error", "tools", "at"}}
    except (ValueError, AttributeError, TypeError):
        return {}
