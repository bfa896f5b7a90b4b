"""Files under a home of their own, written as a person would."""

from __future__ import annotations

import hashlib
import os
import time
from pathlib import Path


class Home:
    """The dashboard's folder; `write` saves a file as an editor that is long done."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, file: str, data: bytes | str) -> Path:
        path = self.path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return aged(path)

    def read(self, file: str) -> bytes:
        return (self.path / file).read_bytes()

    def tree(self) -> dict[str, bytes]:
        """Every file below home with its bytes."""
        found = sorted(path for path in self.path.rglob("*") if path.is_file())
        return {str(path.relative_to(self.path)): path.read_bytes() for path in found}


def aged(path: Path) -> Path:
    """No longer so young that a reader waits for the rest of a save; every time another age."""
    aged.count += 1  # type: ignore[attr-defined]
    then = time.time_ns() - 10_000_000_000 + aged.count * 1000  # type: ignore[attr-defined]
    os.utime(path, ns=(then, then))
    return path


aged.count = 0  # type: ignore[attr-defined]


def tag(data: bytes) -> str:
    return f'"{hashlib.sha256(data).hexdigest()[:32]}"'
