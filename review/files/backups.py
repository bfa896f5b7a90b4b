"""Backups, outside the projects, of texts that would be lost. Nothing is restored automatically."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Sequence
from pathlib import Path

from config.storage import files
from review.files.layout import state_dir

KEPT = 20  # backups of each file


def keep(parts: Sequence[str], data: bytes) -> None:
    """Keep a text of the file, unless it equals the latest backup.

    Raises CannotWrite, naming the file.
    """
    folder = state_dir().joinpath("backups", *parts)
    with files.writing("/".join(parts[1:])):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        files.sweep([folder])
        kept = sorted(name for name in os.listdir(folder) if name[0] != ".")  # noqa: PTH208
        if kept and _holds(folder / kept[-1], data):
            return
        files.write(folder / f"{dt.datetime.now(dt.UTC):%Y%m%dT%H%M%S.%fZ}", data)
        for name in kept[: 1 - KEPT]:
            (folder / name).unlink(missing_ok=True)


def _holds(path: Path, data: bytes) -> bool:
    found = files.read(path)
    return found is not None and found.data == data
