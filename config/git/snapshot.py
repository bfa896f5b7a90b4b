"""The current tree of a working directory, taken with an index that is kept between snapshots.

Only what changed since the last snapshot is read. What git would ignore, embedded repositories and
files that are too large are left out; all of it is listed.
"""

from __future__ import annotations

import json
import os
import stat as modes
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from config.git import LARGEST
from config.git.command import GitError
from config.git.pool import Pool
from config.git.shadow import Shadow
from config.storage import files, opening

BUDGET_S = 15.0  # a turn waits for it, and its lease is 30 s
SHORT_S = 0.2  # too short for another try
BATCH, BATCH_BYTES = 4000, 128 * 1024 * 1024  # a batch that was added is kept if time runs out
MOST_NEW = 1 << 30  # bytes of files that the user's git does not track


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`left`: names that are in none of our trees, a folder with its slash. `ignored`: those of the
    previous tree that are ignored since then and still exist. `rules`: a hash of the ignore rules
    that are not files of the tree."""

    tree: str
    rules: str
    left: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)


def take(shadow: Shadow) -> Snapshot:
    """The current tree; the caller holds the work tree's lock. GitError if it cannot be taken."""
    deadline = time.monotonic() + BUDGET_S
    (shadow.dir / "index.lock").unlink(missing_ok=True)  # left by a killed process
    try:
        return _Taking(shadow, deadline).run()
    except GitError as error:
        if error.kind != "failed" or not shadow.index.exists():
            raise
        shadow.forget()  # a damaged index, or one that names blobs that were pruned since
        return _Taking(shadow, deadline).run()


def keep(shadow: Shadow, ref: str, tree: str, message: str, *parents: str) -> str:
    """Commit the tree and point the ref at the commit; return its id."""
    made = commit(shadow, tree, message, *parents)
    shadow.theirs("update-ref", ref, made)
    return made


def commit(shadow: Shadow, tree: str, message: str, *parents: str) -> str:
    """Commit the tree; in a view the same tree and parents always give the same commit."""
    above = [part for parent in parents for part in ("-p", parent)]
    return shadow.run("commit-tree", *above, "-m", message, tree).decode().strip()


def drop(shadow: Shadow, refs: Iterable[str]) -> None:
    """Delete these refs of ours; a missing ref is not an error."""
    lines = b"".join(b"delete %s\0\0" % os.fsencode(ref) for ref in refs)
    if lines:
        shadow.theirs("update-ref", "-z", "--stdin", stdin=lines)


def split(told: bytes) -> list[str]:
    return [os.fsdecode(name) for name in told.split(b"\0")[:-1]]


class _Taking:
    """One snapshot of the work tree."""

    def __init__(self, shadow: Shadow, deadline: float) -> None:
        self.shadow, self.deadline = shadow, deadline
        self.seen_file = shadow.dir / "seen.json"
        self.seen = _read_seen(shadow)
        self.left: list[str] = []
        self.folders: dict[str, bool] = {"": True}

    def run(self) -> Snapshot:
        rules = self.shadow.rules()
        names = self._changed_names()
        marks = {"rules": rules, "users": _stat(self.shadow)}
        known = {key: self.seen.get(key) for key in marks}
        gone: list[str] = []
        if known != marks or any(name.endswith(".gitignore") for name in names):
            gone, more = self._ignored_names()
            names |= dict.fromkeys(more)
            for name in gone:  # also what was written since
                names.pop(name, None)
        ignored = [name for name in gone if os.path.lexists(f"{self.shadow.root}/{name}")]
        changed = self._update(list(names), gone)
        tree = self.seen.get("tree")
        if not changed and tree:
            self._run("cat-file", "-e", tree)  # no ref holds the tree: it may have been pruned
        else:
            tree = self._run("write-tree").decode().strip()
        if changed or known != marks:
            self.seen_file.write_text(json.dumps({**marks, "tree": tree}))
        return Snapshot(str(tree), rules, sorted(self.left), ignored)

    def _changed_names(self) -> dict[str, None]:
        """Names that differ from the index. The two git commands for them run at the same time."""
        with Pool(1) as pool:
            others = pool.submit(self._list, "-o", "--exclude-standard")
            names = dict.fromkeys(self._list("-m") if self.shadow.index.exists() else [])
            return names | dict.fromkeys(others.result())

    def _ignored_names(self) -> tuple[list[str], list[str]]:
        """What our index has and git would ignore, and what is tracked although it is ignored."""
        asked = ("ls-files", "-z", "-c", "-i", "--exclude-standard")
        ours = set(split(self._run(*asked)))
        tracked = set(split(self.shadow.theirs(*asked, timeout=self._rest())))
        return sorted(ours - tracked), sorted(tracked - ours)

    def _update(self, names: list[str], gone: list[str]) -> bool:
        """Update the index; return whether anything changed."""
        added: list[tuple[str, int]] = []
        for name in names:
            size = self._size(name)
            if size is None:
                gone.append(name)
            else:
                added.append((name, size))
        if sum(size for _, size in added) > MOST_NEW:
            self._refuse_heaps(added)
        gone = [name for name in gone if not name.endswith("/")]
        if gone or added:
            self.seen_file.unlink(missing_ok=True)  # its tree no longer matches the index
        if gone:
            self._feed(["--force-remove"], gone)
        for batch in _batches(added):
            self._add(batch)
        return bool(gone or added)

    def _add(self, names: list[str]) -> None:
        """Add these files, but not one that git cannot read in its declared encoding."""
        try:
            self._feed(["--add", "--replace", "--remove"], names)
        except GitError as error:
            if error.kind != "failed" or self._rest() < SHORT_S or not self._has_encoding(names):
                raise
            if len(names) == 1:
                self.left += names
                self._feed(["--force-remove"], names)
                return
            self._add(names[: len(names) // 2])
            self._add(names[len(names) // 2 :])

    def _has_encoding(self, names: list[str]) -> bool:
        """Whether any of them has a working-tree-encoding attribute."""
        lines = b"".join(os.fsencode(name) + b"\0" for name in names)
        asked = ("check-attr", "-z", "--stdin", "working-tree-encoding")
        return bool({*split(self._run(*asked, stdin=lines))[2::3]} - {"unspecified", "unset"})

    def _size(self, name: str) -> int | None:
        """The size of what can be stored; None for what is missing or is left out."""
        if name.endswith("/"):
            self.left.append(name)
            return None
        path = f"{self.shadow.root}/{name}"
        try:
            found = os.lstat(path) if self._is_real_folder(name.rpartition("/")[0]) else None
        except OSError:
            found = None
        if found is None:
            return None
        fine = modes.S_ISLNK(found.st_mode) or (
            modes.S_ISREG(found.st_mode) and found.st_size <= LARGEST and os.access(path, os.R_OK)
        )
        if not fine:
            self.left.append(name)
            return None
        return found.st_size

    def _is_real_folder(self, folder: str) -> bool:
        """Whether the path of the folder exists and contains no link."""
        if folder not in self.folders:
            above = self._is_real_folder(folder.rpartition("/")[0])
            found = above and os.lstat(f"{self.shadow.root}/{folder}")
            self.folders[folder] = bool(found and modes.S_ISDIR(found.st_mode))
        return self.folders[folder]

    def _refuse_heaps(self, added: Sequence[tuple[str, int]]) -> None:
        """Raise GitError rather than copy more than 1 GB that is neither tracked nor ignored."""
        tracked = set(split(self.shadow.theirs("ls-files", "-z", timeout=self._rest())))
        if sum(size for name, size in added if name not in tracked) > MOST_NEW:
            raise GitError("failed", "more than 1 GB of files is neither tracked nor ignored")

    def _feed(self, how: list[str], names: Iterable[str]) -> None:
        told = b"".join(os.fsencode(name) + b"\0" for name in names)
        self._run("update-index", *how, "-z", "--stdin", stdin=told)

    def _list(self, *how: str) -> list[str]:
        return split(self._run("ls-files", "-z", *how))

    def _run(self, *args: str, stdin: bytes | None = None) -> bytes:
        return self.shadow.run(*args, stdin=stdin, timeout=self._rest())

    def _rest(self) -> float:
        return max(0.1, self.deadline - time.monotonic())


def _batches(added: Sequence[tuple[str, int]]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for name, more in added:
        batch.append(name)
        size += more
        if len(batch) >= BATCH or size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _read_seen(shadow: Shadow) -> dict[str, Any]:
    """The record of what the index was last updated to; {} without an index."""
    try:
        found = json.loads(opening.contents(shadow.dir / "seen.json"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) and shadow.index.exists() else {}


def _stat(shadow: Shadow) -> str | None:
    return files.stat_of(shadow.git_dir / "index")
