"""Completion of a typed path to directories: bounded, and opens nothing but directories."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from workspace.projects import schema

MOST = 50  # paths in one answer
LOOKED = 20_000  # entries read of a directory


@dataclass(frozen=True, slots=True)
class Completed:
    """Paths that complete a prefix; `more` if there are further ones, `problem` if it cannot be
    completed."""

    paths: tuple[str, ...] = ()
    more: bool = False
    problem: str = ""


def complete(prefix: str) -> Completed:
    """The directories that complete `prefix`; hidden ones only if its last part begins with a
    dot."""
    try:
        text = schema.folder("~/" if prefix == "~" else prefix)
    except schema.Unfit as error:
        return Completed(problem=str(error))
    shown, _, stem = (text if prefix[-1:] != "/" else f"{text.rstrip('/')}/").rpartition("/")
    folder = Path.home() / shown[2:] if shown.startswith("~") else Path(shown or "/")
    try:
        with os.scandir(folder) as entries:
            seen = list(islice(entries, LOOKED + 1))
    except OSError as error:
        return Completed(problem=f"{shown or '/'}: {os.strerror(error.errno or 0)}")
    wanted = stem.casefold()
    fitting = [one for one in seen[:LOOKED] if _fits(one.name, wanted)]
    fitting.sort(key=lambda one: (not one.name.startswith(stem), one.name.casefold(), one.name))
    found = list(islice((one.name for one in fitting if _is_folder(one)), MOST + 1))
    more = len(found) > MOST or len(seen) > LOOKED
    return Completed(tuple(f"{shown}/{name}" for name in found[:MOST]), more)


def _fits(name: str, wanted: str) -> bool:
    if name.startswith(".") and not wanted.startswith("."):
        return False
    return name.casefold().startswith(wanted) and name.isprintable()


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False
