"""What the file tools of a turn did, path by path; written by the turn's own process.

The state of a file is noted before and after each call; without git its bytes are copied too. If
the notes of a path have no gap, only this turn changed it. Without Django.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable

from config.git import entries
from config.git.entries import Entry
from config.process.light_typing import TYPE_CHECKING, Any, NamedTuple
from config.storage import opening
from workspace.engines import catalogue

if TYPE_CHECKING:
    from workspace.engines.base import ToolUse

FILE, KEPT = "touched.jsonl", "kept"
HARMLESS = "RPNE"  # kinds of tools that change no file, or only one that is noted here
LONGEST = 64 * 1024 * 1024
ODD = ["", ""]


class Touched:
    """The notes of one turn; `keep` is {folder, root, sha256, copies} of its job."""

    def __init__(self, keep: dict[str, Any]) -> None:
        self.folder, self.root = keep["folder"], keep["root"]
        self.sha256, self.copies = keep["sha256"], keep["copies"]
        self.open: dict[str, str] = {}  # call -> path
        self.copied: set[str] = set()
        self.ran = False

    def before(self, use: ToolUse) -> None:
        """Note the file of an allowed call that is about to act."""
        kind = catalogue.kind(use.tool) or ""
        if kind not in HARMLESS or not kind:
            if not self.ran and not use.tool.startswith(catalogue.OURS):
                self.ran = True
                self._note({"ran": use.tool})
            return
        path = self._path(use) if kind == "E" else None
        if path is not None:
            self.open[use.call] = path
            first = self.copies and path not in self.copied
            self.copied.add(path)
            self._note({"path": path, "before": self._look(path, kept=first)})

    def after(self, call: str) -> None:
        """Note the file of a call that has ended, successfully or not."""
        path = self.open.pop(call, None)
        if path is not None:
            self._note({"path": path, "after": self._look(path, kept=False)})

    def close(self) -> None:
        for call in list(self.open):
            self.after(call)

    def _path(self, use: ToolUse) -> str | None:
        asked = os.path.join(self.root, catalogue.path(use.tool, use.input) or "")
        try:
            real = os.path.realpath(asked)
        except ValueError:
            return None
        return os.path.relpath(real, self.root) if real.startswith(f"{self.root}/") else None

    def _look(self, path: str, *, kept: bool) -> list[str] | None:
        try:
            found = entries.at(self.root, path, sha256=self.sha256)
        except (OSError, entries.Odd):
            return ODD
        if found is None:
            return None
        if kept:
            copy(self.folder, found.entry.oid, found.data)
        return list(found.entry)

    def _note(self, said: dict[str, Any]) -> None:
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(os.path.join(self.folder, FILE), flags, 0o600)
        try:
            os.write(fd, json.dumps(said).encode() + b"\n")
        finally:
            os.close(fd)


def copy(folder: str, oid: str, data: bytes) -> None:
    """Store bytes under their id, completely or not at all."""
    kept = os.path.join(folder, KEPT)
    os.makedirs(kept, mode=0o700, exist_ok=True)
    path = os.path.join(kept, oid)
    if os.path.exists(path):
        return
    draft = f"{path}.{os.getpid()}"
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.rename(draft, path)


class Notes(NamedTuple):
    """`own`: path -> (before, after) for paths that only the turn's file tools changed. `broken`:
    paths that something else changed in between. `ran`: whether the turn could change more."""

    own: dict[str, tuple[Entry | None, Entry | None]]
    broken: set[str]
    ran: bool


def read(folder: str) -> Notes:
    """The notes of a turn; empty if it noted nothing."""
    try:
        lines = opening.contents(os.path.join(folder, FILE), limit=LONGEST).splitlines()
    except OSError:
        return Notes({}, set(), ran=False)
    return merge(_parse_lines(lines))


def _parse_lines(lines: Iterable[bytes]) -> Iterable[dict[str, Any]]:
    for line in lines:
        try:
            said = json.loads(line)
        except ValueError:  # torn by a crash
            continue
        if isinstance(said, dict):
            yield said


def merge(notes: Iterable[dict[str, Any]]) -> Notes:
    first: dict[str, Entry | None] = {}
    last: dict[str, Entry | None] = {}
    waiting: set[str] = set()
    broken: set[str] = set()
    ran = False
    for said in notes:
        ran = ran or "ran" in said
        path = said.get("path")
        if path is None:
            continue
        key = "before" if "before" in said else "after"
        seen = None if said[key] is None else Entry(*said[key])
        if seen == Entry(*ODD) or (key == "before" and path in last and last[path] != seen):
            broken.add(path)
        if key == "before":
            first.setdefault(path, seen)
            waiting.add(path)
        else:
            waiting.discard(path)
        last[path] = seen
    broken |= waiting
    own = {path: (first[path], last[path]) for path in first if path not in broken}
    return Notes(own, broken, ran)


def read_kept(folder: str, oid: str) -> bytes:
    """The bytes that were stored under this id."""
    return opening.contents(os.path.join(folder, KEPT, oid), limit=LONGEST)
