"""The work tree that has the branch checked out follows a new commit: files, index, then the ref.

Killed in between, the change is there and not committed yet, and the next try completes it.
See docs/design/review.md#apply-and-fold.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from config.errors import Conflict, printable
from config.git import command, shadow
from config.git.command import GitError
from config.storage import drafts, files, opening
from config.storage.paths import UnsafePath
from review.git.repository import Repository
from review.git.rewriting import keeping
from review.git.rewriting.keeping import Move
from review.git.rewriting.worktrees import Worktree

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
    """Takes some changed files into one work tree."""

    def __init__(self, repository: Repository, tree: Worktree, changes: Sequence[Change]) -> None:
        self.repository, self.tree, self.changes = repository, tree, changes
        self.root = Path(os.path.realpath(tree.path))

    def follow(self, move: Move, why: str) -> None:
        """Write the files and the index entries, move the branch. Conflict, with all as it was,
        when one of the files is not as the branch has it; GitError."""
        with files.lock(shadow.lock_of(self.root)):
            self._check_index()
            for change in self.changes:
                _ends(self._now(change), change)
            try:
                for change in self.changes:
                    self._write(change, change.after)
                self._index([(change.mode, change.new, change.path) for change in self.changes])
                keeping.move(self.repository, [move], why)
            except (GitError, Conflict, files.CannotWrite):
                self._back()
                raise

    def _check_index(self) -> None:
        asked = ("ls-files", "-s", "-z", "--", *(change.path for change in self.changes))
        told = os.fsdecode(command.run(self.tree.path, *asked)).split("\0")[:-1]
        found: dict[str, list[str]] = {}
        for line in told:
            facts, _, path = line.partition("\t")
            found.setdefault(path, []).append(facts)
        for change in self.changes:
            clean = [[f"{change.mode} {oid} 0"] for oid in (change.old, change.new)]
            if found.get(change.path) not in clean:
                raise self._dirty(change, "has changes that are staged")

    def _now(self, change: Change) -> bytes:
        try:
            path = self.root / change.path
            if path.is_symlink():
                raise self._dirty(change, "is a link")
            return opening.contents(path, limit=drafts.LIMIT, within=self.root)
        except OSError:
            raise self._dirty(change, "is not there, or cannot be read") from None

    def _write(self, change: Change, wanted: bytes) -> None:
        """Make the file hold this, if it still holds one of the two, in the ends it has."""

        def edit(now: bytes | None) -> bytes:
            ends = _ends(now or b"", change)
            return ends(wanted)

        path = self.root / change.path
        drafts.sweep([path.parent])
        try:
            files.change(path, edit, within=self.root)
        except UnsafePath:
            raise self._dirty(change, "leads out of the directory") from None

    def _index(self, entries: Sequence[tuple[str, str, str]]) -> None:
        told = "".join(f"{mode} {oid}\t{path}\0" for mode, oid, path in entries)
        asked = ("update-index", "-z", "--index-info")
        stdin = told.encode("utf-8", "surrogateescape")
        command.run(self.tree.path, *asked, stdin=stdin, environ=self._without_filters())

    def _without_filters(self) -> dict[str, str]:
        """git hashes files as young as the index, too: by no program of the repository."""
        asked = ("config", "-z", "--name-only", "--get-regexp", r"^filter\..*\.(clean|process)$")
        told = os.fsdecode(command.run(self.tree.path, *asked, accepted=(0, 1))).split("\0")[:-1]
        names = {key.rpartition(".")[0] for key in told}
        off = [(f"{name}.{key}", "") for name in sorted(names) for key in ("clean", "process")]
        off += [(f"{name}.required", "false") for name in sorted(names)]
        found = {"GIT_CONFIG_COUNT": str(len(off))}
        for n, (key, value) in enumerate(off):
            found |= {f"GIT_CONFIG_KEY_{n}": key, f"GIT_CONFIG_VALUE_{n}": value}
        return found

    def _back(self) -> None:
        """What was done is taken back, as far as nobody has changed it since."""
        for change in self.changes:
            try:
                self._write(change, change.before)
                self._index([(change.mode, change.old, change.path)])
            except (GitError, Conflict, files.CannotWrite):
                continue

    def _dirty(self, change: Change, why: str) -> Conflict:
        return _unclean(change, f"{why} in {self.tree.path}")


def _ends(now: bytes, change: Change) -> Callable[[bytes], bytes]:
    """How bytes of the branch are written there: as they are, or with the line ends of a checkout
    that converts them. Conflict when the file is neither."""
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
