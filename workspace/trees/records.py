"""What is known of each turn's edits: one folder per turn, in the data directory.

`<data>/checkpoints/turns/<chat>/<turn>/` holds `record.json`, `touched.jsonl` (what the turn's file
tools did, line by line) and `kept/` (copies, if there is no git).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from config.errors import NotFound, printable
from config.git import shadow
from config.storage import files, opening
from workspace import ids

REFS = "refs/svc/checkpoints"
TURN = re.compile(r"msg_[0-9A-Z]{26}")
LONGEST = 64 * 1024 * 1024


class Turned(NamedTuple):
    """When edits were last undone or redone, and which paths."""

    at: float
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Record:
    """One turn that could edit.

    `before` and `after` are trees: None without git, or if no tree could be made; `commit` is that
    of `before`. `left` is what was in no tree before the turn. `hidden` is what left the tree
    during the turn but still exists, because it is ignored now or too large. Folders in both end
    with a slash. `logged`: every call of the turn is in its log. `undone`: the paths that an undo
    restored.
    """

    project: str
    chat: str
    turn: str
    root: str
    git: bool
    sha256: bool = False
    commit: str = ""
    before: str | None = None
    after: str | None = None
    rules: tuple[str, str] = ("", "")
    left: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    logged: bool = False
    began: float = 0.0
    ended: float | None = None
    count: int | None = None
    undone: tuple[str, ...] | None = None
    turned: Turned | None = None

    @property
    def folder(self) -> Path:
        return folder_of(self.chat, self.turn)

    @property
    def refs(self) -> tuple[str, str]:
        name = f"{REFS}/{self.chat}/{self.turn}"
        return name, f"{name}.after"

    @property
    def halved(self) -> bool:
        """Whether the turn ended without its second tree."""
        return self.ended is not None and self.after is None

    def during(self, moment: float) -> bool:
        return self.began <= moment <= (self.ended or float("inf"))

    def overlaps(self, other: Record) -> bool:
        """Whether both turns ran at the same time, in the same tree or one inside the other."""
        end, others = (one.ended or float("inf") for one in (self, other))
        apart = self.began > others or other.began > end
        return not apart and (within(self.root, other.root) or within(other.root, self.root))


def within(root: str, path: str) -> bool:
    return path == root or path.startswith(f"{root}/")


def folder_of(chat: str, turn: str) -> Path:
    """The folder of a turn. NotFound if an id is not valid, since it comes from a URL."""
    if not ids.UUID.fullmatch(chat) or not TURN.fullmatch(turn):
        raise NotFound(f"Turn not found: {printable(turn)}")
    return shadow.home() / "turns" / chat / turn


def write(record: Record) -> Record:
    record.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    files.write(record.folder / "record.json", json.dumps(asdict(record)).encode())
    return record


def update(record: Record, **changed: Any) -> Record:
    return write(replace(record, **changed))


def find(chat: str, turn: str) -> Record | None:
    """The record of a turn; None if nothing was kept of it, or the file cannot be read."""
    try:
        told = json.loads(opening.contents(folder_of(chat, turn) / "record.json", limit=LONGEST))
        lists = ("rules", "left", "hidden", "undone")
        told |= {key: tuple(told[key]) for key in lists if told[key] is not None}
        if told["turned"] is not None:
            told["turned"] = Turned(told["turned"][0], tuple(told["turned"][1]))
        return Record(**told)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def of_chat(chat: str) -> Iterator[Record]:
    """The records of one chat, oldest first."""
    folder = shadow.home() / "turns" / chat
    names = sorted(os.listdir(folder)) if folder.is_dir() else []  # noqa: PTH208
    found = (find(chat, name) for name in names if TURN.fullmatch(name))
    yield from (record for record in found if record is not None)


def every() -> Iterator[Record]:
    folder = shadow.home() / "turns"
    names = sorted(os.listdir(folder)) if folder.is_dir() else []  # noqa: PTH208
    for chat in names:
        if ids.UUID.fullmatch(chat):
            yield from of_chat(chat)


def remove(record: Record) -> None:
    shutil.rmtree(record.folder, ignore_errors=True)
    try:
        record.folder.parent.rmdir()
    except OSError:  # other turns of the chat are kept
        return


def now() -> float:
    return time.time()
