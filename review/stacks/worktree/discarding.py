"""Discard the changes of a file: it becomes as in HEAD, after a checkpoint that can restore it.

The checkpoint is a commit like git's stash: the files as they were in the work tree, and as its
parent the same files as they were staged. Its record is kept in the data directory, because a turn
may write refs and commits, and a person who restores one file would restore whatever those contain.
See docs/design/review.md#committing-and-discarding.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import time
from collections.abc import Container
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypedDict

from django.conf import settings

from config.errors import Conflict, Invalid, NotFound, SvcError
from config.git import entries, shadow, snapshot
from config.git.command import GitError
from config.git.entries import LINK, Entry
from config.git.index import Index, user_index
from config.git.shadow import Shadow
from config.storage import files, opening
from review import events
from review.git.commits import SUBMODULE, Changed, shown_path
from review.stacks.worktree import looks, repositories
from review.stacks.worktree.looks import Look

REFS = "refs/svc/checkpoints/worktree"
ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{8}")
DAY_S = 86_400
MOST = 50
STAMP = "%Y%m%dT%H%M%SZ"
LARGEST = 1 << 20  # bytes of a record
Held = dict[str, Entry | None]


class Discarded(TypedDict):
    """`id` names the checkpoint, for an undo. `files`: the paths that changed."""

    id: str
    path: str
    files: list[str]


class Earlier(TypedDict):
    id: str
    path: str
    at: str


class Listed(TypedDict):
    """What was discarded here, newest first."""

    discarded: list[Earlier]


@dataclass(frozen=True, slots=True)
class Kept:
    """The record of a checkpoint: for each path, what was in the work tree (`was`), what was
    `staged`, and what the index and the work tree had afterwards (`head`, `now`)."""

    path: str
    root: str
    was: Held
    staged: Held
    head: Held
    now: Held

    def text(self) -> str:
        return json.dumps({name: getattr(self, name) for name in self.__slots__})

    @classmethod
    def read(cls, text: str) -> Kept:
        told = json.loads(text)
        held = {
            name: {path: Entry(*entry) if entry else None for path, entry in told[name].items()}
            for name in ("was", "staged", "head", "now")
        }
        return cls(told["path"], told["root"], **held)


def discard(project: str, repo: str, *, path: Any = None, look: Any = None) -> Discarded:
    """Reset a file to HEAD, in the work tree and in the index; a new file is deleted.

    Invalid for a path that does not differ. Conflict as for a commit, and for a file that no
    checkpoint can hold.
    """
    if not isinstance(path, str) or not path:
        raise Invalid('"path" is required')
    with repositories.held(project, repo) as mine:
        found = looks.look(project, repo)
        changed = looks.find_file(found.files, path)
        if changed is None:
            looks.refuse_left(found, path)
            raise Invalid('"path" is not a file that differs from HEAD')
        looks.refuse_changed(found.repository, found.commit, look, [changed])
        paths = repositories.touched_paths([changed])
        repositories.refuse_filtered(mine, paths)
        _prune(mine)
        try:
            made = _Discarding(mine, found, changed, paths)
            name = made.keep()
        except GitError as error:
            text = f"{shown_path(changed.path)} stays: it cannot be kept for an undo ({error.text})"
            raise Conflict(text, code="not_kept") from None
        try:
            repositories.handed_over(mine, made.prepare)
        except (SvcError, GitError):
            _drop(mine, [name])
            raise
    looks.forget(project, repo)
    events.project(project, "worktree")
    return {"id": name, "path": shown_path(changed.path), "files": _paths(paths)}


def undo(project: str, repo: str, *, name: Any = None) -> Discarded:
    """Restore what was discarded. NotFound; Conflict if the file was written since."""
    if not isinstance(name, str) or not ID.fullmatch(name):
        raise Invalid('"id" must be the "id" of a discard')
    with repositories.held(project, repo) as mine:
        kept = _read(mine, name)
        turning = _Undoing(mine, kept)
        try:
            if turning.is_needed():
                repositories.handed_over(mine, turning.prepare)
        except GitError as error:
            text = f"{shown_path(kept.path)} cannot be given back: {error.text}"
            raise Conflict(text, code="not_kept") from None
    looks.forget(project, repo)
    events.project(project, "worktree")
    return {"id": name, "path": shown_path(kept.path), "files": _paths(kept.was)}


def list_discarded(project: str, repo: str) -> Listed:
    """What can be restored: the newest 50 that are still kept. NotFound without a work tree."""
    path = looks.place(project, repo)
    looks.read(path)
    try:
        mine = looks.open_shadow(path)
    except GitError:  # nothing can be written there, so nothing was discarded
        return {"discarded": []}
    found: list[Earlier] = []
    for name in sorted(_ref_names(mine) & _record_names(mine), reverse=True)[:MOST]:
        with contextlib.suppress(NotFound):
            kept = _read(mine, name)
            at = datetime.strptime(name.partition("-")[0], STAMP).replace(tzinfo=UTC)
            when = at.strftime("%Y-%m-%dT%H:%M:%SZ")
            found.append({"id": name, "path": shown_path(kept.path), "at": when})
    return {"discarded": found}


class _Discarding:
    """One file on its way back to HEAD; for a renamed one, both of its paths."""

    def __init__(self, mine: Shadow, found: Look, changed: Changed, paths: list[str]) -> None:
        self.mine, self.found, self.changed, self.paths = mine, found, changed, paths
        self.head = {path: self._of_head(path) for path in paths}
        self.texts = {path: _text(found.view, path, entry) for path, entry in self.head.items()}
        self.was: Held = {}

    def _of_head(self, path: str) -> Entry | None:
        file = self.changed
        if file.old_mode == SUBMODULE:
            raise Conflict(f"{shown_path(path)} is a submodule in HEAD", code="submodule")
        if file.status in ("added", "copied") or (path == file.path and file.status == "renamed"):
            return None
        return Entry(file.old_mode or "", file.old_oid or "")

    def keep(self) -> str:
        """Make the checkpoint and return its name."""
        trees, staged = Index(self.mine, "kept"), Index(self.found.view, "copy")
        staged.copy()
        listed, torn = staged.entries(set(self.paths))
        repositories.refuse_torn(path for path in torn if path in self.paths)
        self._refuse_taken(listed)
        trees.read(None)
        trees.feed(self.paths)
        lying, _ = trees.entries(set(self.paths))
        self.was = {path: lying.get(path) for path in self.paths}
        now = {path: self._now(path) for path in self.paths}
        held = {path: listed.get(path) for path in self.paths}
        kept = Kept(self.changed.path, str(self.mine.root), self.was, held, self.head, now)
        below = Index(self.mine, "staged")
        below.read(None)
        below.set({path: entry for path, entry in held.items() if entry and entry.oid})
        parent = snapshot.commit(self.mine, below.tree(), "What was staged")
        name = f"{time.strftime(STAMP, time.gmtime())}-{secrets.token_hex(4)}"
        message = "Discarded in the work tree"
        snapshot.keep(self.mine, f"{REFS}/{name}", trees.tree(), message, parent)
        _write(self.mine, name, kept)
        return name

    def _refuse_taken(self, listed: Container[str]) -> None:
        """Conflict if something else is in the way: a folder, a file that git ignores, or what is
        no folder where the file has one."""
        ignored = repositories.ignored_paths(self.found.view, self.paths, listed)
        for path in self.paths:
            place, name = self.mine.root / path, shown_path(path)
            for above in reversed(Path(path).parents[:-1]):
                folder = self.mine.root / above
                if os.path.lexists(folder) and (folder.is_symlink() or not folder.is_dir()):
                    text = f"{shown_path(str(above))} is in the way of {name}; discard it first"
                    raise Conflict(text, code="in_the_way")
            if place.is_dir() and not place.is_symlink():
                text = f"A folder stands in the place of {name}; discard what is in it"
                raise Conflict(text, code="in_the_way")
            if path in ignored and os.path.lexists(place):
                text = f"{name} is there and ignored, so it stays; git add -f it first"
                raise Conflict(text, code="in_the_way")

    def _now(self, path: str) -> Entry | None:
        entry, text = self.head[path], self.texts[path]
        if entry is None or text is None:
            return None
        return Entry(entry.mode, entries.oid(text, sha256=self.mine.sha256))

    def prepare(self) -> dict[str, Any]:
        index = _index(self.mine, self.found.view, self.head)
        files = [
            {"path": path, "was": self.was[path]}
            | _placement(self.mine, f"source-{n}", self.head[path], self.texts[path])
            for n, path in enumerate(self.paths)
        ]
        return {"index": index, "files": _goes_first(files), "ref": None}


class _Undoing:
    """A discarded file on its way back."""

    def __init__(self, mine: Shadow, kept: Kept) -> None:
        self.mine, self.kept = mine, kept
        self.lying: Held = {}

    def is_needed(self) -> bool:
        """Whether anything is left to restore. Conflict if a path has been written since."""
        for path, was in self.kept.was.items():
            try:
                found = entries.at(str(self.mine.root), path, sha256=self.mine.sha256)
            except entries.Astray:
                raise repositories.astray(path) from None
            except (OSError, entries.Odd):
                raise _since(path) from None
            self.lying[path] = found.entry if found else None
            if self.lying[path] not in (was, self.kept.now[path]):
                raise _since(path)
        return self.lying != self.kept.was or bool(self._restaged_entries())

    def _restaged_entries(self) -> Held:
        """The entries that go back into the index, except where something was staged since."""
        copy = Index(self.mine, "copy")
        copy.copy()
        listed, torn = copy.entries(set(self.kept.was))
        return {
            path: staged
            for path, staged in self.kept.staged.items()
            if staged != self.kept.head[path] == listed.get(path) and path not in torn
        }

    def prepare(self) -> dict[str, Any]:
        index = _index(self.mine, self.mine, self._restaged_entries())
        files = [
            {"path": path, "was": self.lying[path]}
            | _placement(self.mine, f"source-{n}", was, _raw(self.mine, was))
            for n, (path, was) in enumerate(self.kept.was.items())
            if self.lying[path] != was
        ]
        return {"index": index, "files": _goes_first(files), "ref": None}


def _index(mine: Shadow, through: Shadow, wanted: Held) -> dict[str, str] | None:
    """A copy of the index with these entries, without cached file sizes. None if the index has no
    entry at any of these paths and is to get none."""
    copy = Index(through, "copy")
    was = copy.copy()
    listed, _ = copy.entries(set(wanted))
    if not listed and not any(wanted.values()):
        return None
    copy.set(wanted)
    return {"path": str(user_index(mine)), "new": str(copy.path), "was": was}


def _placement(mine: Shadow, name: str, wanted: Entry | None, text: bytes | None) -> dict[str, Any]:
    """The new content of a path, as handover takes it."""
    source = mine.dir / name
    source.write_bytes(text or b"")
    return {"mode": wanted.mode if wanted else None, "source": str(source)}


def _goes_first(files: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(files, key=lambda change: change["mode"] is not None)


def _text(view: Shadow, path: str, entry: Entry | None) -> bytes | None:
    """The bytes that a checkout would write, with the line ends that git uses here."""
    if entry is None:
        return None
    if entry.mode == LINK:
        return view.run("cat-file", "blob", entry.oid)
    return view.run("cat-file", "--filters", f"--path={path}", entry.oid)


def _raw(mine: Shadow, entry: Entry | None) -> bytes | None:
    return mine.blob(entry.oid) if entry else None


def _folder(mine: Shadow) -> Path:
    """The folder with the records of one work tree, which no turn can write."""
    return shadow.home() / "discards" / mine.dir.name


def _record(mine: Shadow, name: str) -> Path:
    return _folder(mine) / f"{name}.json"


def _write(mine: Shadow, name: str, kept: Kept) -> None:
    _folder(mine).mkdir(mode=0o700, parents=True, exist_ok=True)
    files.write(_record(mine, name), kept.text().encode())


def _read(mine: Shadow, name: str) -> Kept:
    missing = NotFound("No such discard here: it is too old, or of another repository")
    try:
        kept = Kept.read(opening.contents(_record(mine, name), limit=LARGEST).decode())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise missing from None
    if kept.root != str(mine.root):
        raise missing
    return kept


def _record_names(mine: Shadow) -> set[str]:
    """The names of the records."""
    names = (path.stem for path in _folder(mine).glob("*.json"))
    return {name for name in names if ID.fullmatch(name)}


def _ref_names(mine: Shadow) -> set[str]:
    """The names of the refs that hold what was discarded."""
    told = mine.theirs("for-each-ref", "--format=%(refname:lstrip=4)", REFS).decode()
    return {name for name in told.splitlines() if ID.fullmatch(name)}


def _prune(mine: Shadow) -> None:
    """Delete the checkpoints that are too old to be kept."""
    kept_s = (settings.SVC.checkpoint_days or 1) * DAY_S
    before = time.strftime(STAMP, time.gmtime(time.time() - kept_s))
    with contextlib.suppress(GitError):
        _drop(mine, [name for name in _ref_names(mine) | _record_names(mine) if name < before])


def _drop(mine: Shadow, names: list[str]) -> None:
    snapshot.drop(mine, [f"{REFS}/{name}" for name in names])
    for name in names:
        _record(mine, name).unlink(missing_ok=True)


def _since(path: str) -> Conflict:
    text = f"{shown_path(path)} was written since it was discarded, and stays as it is"
    return Conflict(text, code="changed")


def _paths(paths: Any) -> list[str]:
    return [shown_path(path) for path in paths]
