"""Move a checked-out branch to a new commit along with its work tree: files, index, ref at once.

See docs/design/review.md#apply-and-fold.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.errors import Conflict, printable
from config.git import command, entries, shadow
from config.git.command import GitError
from config.git.entries import LINK, Entry, EntryContent
from config.git.index import Index, user_index
from config.git.shadow import Shadow
from config.storage import files
from review.git.repository import Repository
from review.git.rewriting import keeping
from review.git.rewriting.keeping import Move
from review.git.rewriting.worktrees import Worktree
from review.stacks.worktree import repositories

DIRTY = "dirty"


@dataclass(frozen=True, slots=True)
class Change:
    """One file: its mode, its blob before and after, and their bytes."""

    path: str
    mode: str
    old: str
    new: str
    before: bytes
    after: bytes


class Checkout:
    """Brings some changed files into one work tree."""

    def __init__(self, repository: Repository, tree: Worktree, changes: Sequence[Change]) -> None:
        self.repository, self.tree, self.changes = repository, tree, changes
        self.root = Path(os.path.realpath(tree.path))

    def follow(self, move: Move, why: str) -> None:
        """Write the files and the index entries, and move the branch. Conflict, with nothing
        changed, if one of the files is not as on the branch; GitError."""
        keeping.refuse_detours(self.repository)
        mine = shadow.open_at(self.root)
        if mine is None:
            raise GitError("failed", f"{self.tree.path} is not a work tree any more")
        with files.lock(shadow.lock_of(self.root)):
            repositories.handed_over(mine, lambda: self._prepare(mine, move, why))

    def _prepare(self, mine: Shadow, move: Move, why: str) -> dict[str, Any]:
        copy = Index(mine, "copy")
        was = copy.copy()
        self._check_index(copy)
        copy.set({change.path: Entry(change.mode, change.new) for change in self.changes})
        asked = ("update-ref", "-m", why, move.ref, move.after, move.before)
        env = command.environment(self.root) | mine.environ
        return {
            "index": {"path": str(user_index(mine)), "new": str(copy.path), "was": was},
            "files": [self._placement(mine, n, change) for n, change in enumerate(self.changes)],
            "ref": {"argv": [*command.ARGV, *asked], "env": env},
        }

    def _check_index(self, copy: Index) -> None:
        found, torn = copy.entries({change.path for change in self.changes})
        for change in self.changes:
            clean = [Entry(change.mode, oid) for oid in (change.old, change.new)]
            if change.path in torn or found.get(change.path) not in clean:
                raise self._dirty(change, "has changes that are staged")

    def _placement(self, mine: Shadow, n: int, change: Change) -> dict[str, Any]:
        """A file's new content as handover takes it, with the line ends and mode it has now."""
        now = self._now(mine, change)
        source = mine.dir / f"source-{n}"
        source.write_bytes(_ends(now.data, change)(change.after))
        return {
            "path": change.path, "was": now.entry, "mode": now.entry.mode, "source": str(source),
        }  # fmt: skip

    def _now(self, mine: Shadow, change: Change) -> EntryContent:
        try:
            found = entries.at(str(self.root), change.path, sha256=mine.sha256)
        except (OSError, entries.Odd):
            found = None
        if found is None:
            raise self._dirty(change, "is not there, or cannot be read")
        if found.entry.mode == LINK:
            raise self._dirty(change, "is a link")
        return found

    def _dirty(self, change: Change, why: str) -> Conflict:
        return _unclean(change, f"{why} in {self.tree.path}")


def _ends(now: bytes, change: Change) -> Callable[[bytes], bytes]:
    """How bytes of the branch are written to this file: as they are, or with CRLF if the checkout
    converts line ends. Conflict if the file is neither."""
    if now in (change.before, change.after):
        return lambda data: data
    if b"\r" not in change.before and now in (_crlf(change.before), _crlf(change.after)):
        return _crlf
    raise _unclean(change, "has changes that are not committed")


def _unclean(change: Change, why: str) -> Conflict:
    return Conflict(
        f"{printable(change.path)} {why}; commit or discard them and apply again.", code=DIRTY
    )


def _crlf(data: bytes) -> bytes:
    return data.replace(b"\n", b"\r\n")
