"""Undo and redo what a turn changed.

Only files that the turn changed and that have not changed since; every other file is left alone and
reported. Each file has either its old or its new bytes at any moment, and an undo that was killed
can simply be repeated. See docs/design/workspace.md#undoing-a-turn.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from config.errors import Conflict, NotFound, SvcError, Unavailable
from config.git import entries, placing, shadow
from config.git.command import GitError
from config.git.entries import Entry
from config.git.shadow import Shadow
from config.storage import files, locks
from workspace.models import Turn
from workspace.projects.project import Project
from workspace.trees import changes, checkpoints, records, touched
from workspace.trees.changes import Change
from workspace.trees.records import Record, Turned

Way = Literal["undo", "redo"]
SINCE = "it was changed since"
IGNORED = "git ignores it"


@dataclass(slots=True)
class Done:
    """`restored`: paths that were changed. `kept`: (path, why) for those left alone."""

    restored: list[str] = field(default_factory=list)
    kept: list[tuple[str, str]] = field(default_factory=list)


def record_of(project: Project, chat: str, turn: str) -> Record:
    """The record of a turn. NotFound if nothing of the turn is kept."""
    record = records.find(chat, turn)
    if record is None or record.project != project.slug:
        raise NotFound("No edits of this turn are kept: it made none, or they are too old")
    return record


def restore_files(project: Project, chat: str, turn: str, way: Way) -> Done:
    """Undo or redo the edits of a turn. NotFound; Unavailable; Conflict while the turn runs, and
    for a redo of edits that were not undone."""
    root = record_of(project, chat, turn).root
    if os.path.realpath(root) != root:
        raise Conflict(f"A link leads elsewhere where this turn worked: {root}", code="moved")
    if Turn.objects.filter(id=turn, state="running").exists():
        raise Conflict("This turn is still running; stop it first", code="busy")
    try:
        with files.lock(shadow.lock_of(Path(root))):
            return _Turning(record_of(project, chat, turn), way).run()
    except GitError as error:
        raise Unavailable(f"The kept files cannot be read: {error.text}") from None
    except OSError as error:
        raise Unavailable(f"The kept files cannot be read: {error}") from None


def sweep() -> None:
    """Remove the drafts that a killed undo or redo left in work trees: done at each start."""
    for record in records.every():
        if record.turned is None:
            continue
        with locks.attempt(shadow.lock_of(Path(record.root))) as free:
            if free:  # otherwise an undo at work there removes them
                placing.sweep(record.root, record.turned.paths)


class _Turning:
    """One undo or redo, under the lock of its work tree."""

    def __init__(self, record: Record, way: Way) -> None:
        self.record, self.way = record, way
        self.done = Done()
        self.rules_kept = False  # a .gitignore that the turn changed stays as it is now
        self.repository: Shadow | None = None

    def run(self) -> Done:
        record = self.record
        if self.way == "redo" and record.undone is None:
            raise Conflict("The edits of this turn were not undone")
        own = self._own()
        placing.sweep(record.root, [change.path for change in own])
        planned = self._plan(own)
        paths = tuple(sorted({*(record.undone or ()), *(change.path for change in planned)}))
        turned = Turned(records.now(), paths)
        record = records.update(record, undone=paths, turned=turned)  # before any file is changed
        if record.git:
            self.repository = changes.shadow_of(record)
        self._act(planned)
        if self.way == "redo":
            records.update(record, undone=None)
        self.done.restored.sort()
        self.done.kept.sort()
        return self.done

    def _act(self, planned: list[Change]) -> None:
        """Change .gitignore files first: an undo needs the rules from before (_without_ignored)."""
        rules = [change for change in planned if _is_rules(change.path)]
        rest = [change for change in planned if not _is_rules(change.path)]
        for change in sorted(rules, key=self._order):
            self._turn(change)
        if self.way == "undo":
            rest = self._without_ignored(rest)
        for change in sorted(rest, key=self._order):
            self._turn(change)

    def _own(self) -> list[Change]:
        """The turn's own changes; on an undo, the others are reported."""
        found = changes.of(self.record, checkpoints.others(self.record))
        if self.way == "redo":
            undone = set(self.record.undone or ())
            return [change for change in found if change.path in undone]
        self.done.kept += [(change.path, change.why) for change in found if change.why]
        self.rules_kept = any(change.why and _is_rules(change.path) for change in found)
        return [change for change in found if not change.why]

    def _plan(self, own: list[Change]) -> list[Change]:
        """The changes whose file is as the turn left it (for a redo: as the turn found it)."""
        planned = []
        for change in own:
            now = changes.look(self.record, change.path)
            if change.why == changes.ASTRAY:  # on a redo: an earlier release undid it
                self._keep(change, change.why)
            elif now == self._from(change):
                planned.append(change)
            elif now != self._to(change):
                self._keep(change, SINCE)
            elif now is None:
                placing.tidy(self.record.root, change.path)
        return planned

    def _without_ignored(self, planned: list[Change]) -> list[Change]:
        """Leave out ignored files that the turn is not proven to have added: they may be older."""
        added = [c.path for c in planned if c.before is None and not c.proven]
        if not added or self.repository is None:
            return planned
        ignored = set(added) if self.rules_kept else self.repository.filter_ignored(added)
        for change in planned:
            if change.path in ignored:
                self._keep(change, IGNORED)
        return [change for change in planned if change.path not in ignored]

    def _order(self, change: Change) -> tuple[int, int, str]:
        """Deletions first, the deepest path first, to make room for the rest."""
        goes = self._to(change) is None
        return (0 if goes else 1, -change.path.count("/") if goes else 0, change.path)

    def _turn(self, change: Change) -> None:
        record, entry = self.record, self._to(change)
        try:
            wanted = None if entry is None else (entry.mode, self._blob(entry))
            found = entries.at(record.root, change.path, sha256=record.sha256)
            if (found.entry if found else None) != self._from(change):
                raise placing.PathChanged(change.path)
            if found is not None and not record.git:
                touched.copy(str(record.folder), found.entry.oid, found.data)
            placing.place(record.root, change.path, found, wanted, sha256=record.sha256)
        except (placing.PathChanged, entries.Odd):
            self._keep(change, SINCE)
        except (OSError, GitError, SvcError) as error:
            self._keep(change, f"it cannot be written: {_reason(error)}")
        else:
            self.done.restored.append(change.path)
            if wanted is None:
                placing.tidy(record.root, change.path)

    def _blob(self, entry: Entry) -> bytes:
        if self.repository is None:
            return touched.read_kept(str(self.record.folder), entry.oid)
        return self.repository.blob(entry.oid)

    def _keep(self, change: Change, why: str) -> None:
        self.done.kept.append((change.path, why))
        self.rules_kept |= _is_rules(change.path)

    def _from(self, change: Change) -> Entry | None:
        return change.after if self.way == "undo" else change.before

    def _to(self, change: Change) -> Entry | None:
        return change.before if self.way == "undo" else change.after


def _is_rules(path: str) -> bool:
    return path.rpartition("/")[2] == ".gitignore"


def _reason(error: Exception) -> str:
    return os.strerror(error.errno) if isinstance(error, OSError) and error.errno else str(error)
