"""Which files a turn changed, and which of the changes are its own to undo.

Comparing two trees shows what differs, but that includes changes by others in the meantime. So if
another turn ran at the same time, a file counts as the turn's own only if its notes prove it.
Anything uncertain is left alone and reported. See docs/design/workspace.md#whose-a-change-is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from config.git import entries, shadow
from config.git.command import GitError
from config.git.entries import Entry
from config.git.shadow import Shadow
from config.git.snapshot import split
from workspace.trees import records, touched
from workspace.trees.records import Record

OTHER_TURN = "another turn worked in this directory at the same time"
NOT_BY_TOOLS = "no tool of this turn wrote it"
BROKEN = "something else changed it while the turn worked on it"
LEFT_OUT = "it was not kept before the turn: ignored, too large, or of a repository inside"
RULES = "what git ignores changed meanwhile"
HIDDEN = "it is ignored now, or too large, and was not kept after the turn"
ASTRAY = "git itself writes no such path"
LINK, GITLINK, NONE = entries.LINK, "160000", "000000"


class Change(NamedTuple):
    """One path before and after a turn; `why` says why it is not undone, "" if it may be."""

    path: str
    before: Entry | None
    after: Entry | None
    why: str = ""
    proven: bool = False  # by the notes of the turn

    @property
    def kind(self) -> str:
        if self.before is None:
            return "added"
        return "modified" if self.after is not None else "deleted"


def of(record: Record, others: Iterable[Record] = ()) -> list[Change]:
    """Every path that differs, in order. GitError if the trees cannot be read."""
    return [
        one._replace(why=ASTRAY, proven=False) if entries.astray(one.path) else one
        for one in _differing(record, others)
    ]


def _differing(record: Record, others: Iterable[Record]) -> list[Change]:
    notes = touched.read(str(record.folder))
    if not record.git or record.after is None:
        return sorted(_from_notes(notes))
    if record.before is None:
        return []
    repository = shadow_of(record)
    meanwhile = _Meanwhile(others, record, repository)
    differing = list(between(repository, record.before, record.after))
    rules = record.rules[0] != record.rules[1]
    found = []
    for one in differing:
        if one.after is None and _among(record.hidden, one.path):
            found += [one._replace(why=HIDDEN)] if one.path in notes.own else []
            continue
        proven = notes.own.get(one.path) == (one.before, one.after)
        why = "" if proven else _doubt(one, record, notes, meanwhile, rules=rules)
        found.append(one._replace(why=why, proven=proven))
    return found


def _from_notes(notes: touched.Notes) -> Iterator[Change]:
    """Changes known from the notes alone: without git, or of a turn that a crash ended."""
    for path, (before, after) in notes.own.items():
        if before != after:
            yield Change(path, before, after, proven=True)
    for path in notes.broken:
        yield Change(path, None, None, BROKEN)


def _doubt(
    change: Change,
    record: Record,
    notes: touched.Notes,
    meanwhile: _Meanwhile,
    *,
    rules: bool,
) -> str:
    """Why a change that the notes do not prove may be someone else's; "" if it is the turn's."""
    path = change.path
    if _among(record.left, path):
        return LEFT_OUT
    if meanwhile.changed(path):
        return OTHER_TURN
    if record.logged and not notes.ran:
        return BROKEN if path in notes.own or path in notes.broken else NOT_BY_TOOLS
    if change.before is None and rules:
        return RULES
    return ""


def _among(names: tuple[str, ...], path: str) -> bool:
    """Whether the path is one of these names, or lies in a folder among them."""
    return any(path == name or (name.endswith("/") and path.startswith(name)) for name in names)


class _Meanwhile:
    """What other turns changed while this one ran."""

    def __init__(self, others: Iterable[Record], record: Record, repository: Shadow) -> None:
        self.record, self.repository = record, repository
        self.unknown: list[str] = []  # folders in which any file may have changed
        self.ended: set[str] = set()
        self.running: dict[str, Entry] | None = None
        for other in others:
            if other.root == record.root and other.turned and record.during(other.turned.at):
                self.ended |= set(other.turned.paths)
            if other.overlaps(record):
                self._add(other)

    def _add(self, other: Record) -> None:
        notes = touched.read(str(other.folder))
        if other.root == self.record.root and other.logged and not notes.ran:
            self.ended |= notes.own.keys() | notes.broken
        elif other.root != self.record.root or not other.before or other.halved:
            self.unknown.append(other.root)
        elif other.after:
            differing = between(self.repository, other.before, other.after)
            self.ended |= {change.path for change in differing}
        else:
            self.running = tree(self.repository, other.before)

    def changed(self, path: str) -> bool:
        here = f"{self.record.root}/{path}"
        if path in self.ended or any(records.within(folder, here) for folder in self.unknown):
            return True
        if self.running is None:
            return False
        now = look(self.record, path)
        return now != self.running.get(path)


def look(record: Record, path: str) -> Entry | None:
    """The entry at the path now, None if missing; for anything but a file, one that no tree has."""
    try:
        found = entries.at(record.root, path, sha256=record.sha256)
    except (OSError, entries.Odd):
        return Entry("", "")
    return found.entry if found else None


def between(repository: Shadow, before: str, after: str) -> Iterator[Change]:
    """How two trees differ, path by path."""
    parts = iter(
        split(repository.run("diff-tree", "-r", "-z", "--raw", "--no-renames", before, after))
    )
    for head in parts:
        old, new, was, now, _ = head.removeprefix(":").split(" ")
        path = next(parts)
        if GITLINK not in (old, new):
            yield Change(path, _entry(old, was), _entry(new, now))


def tree(repository: Shadow, name: str) -> dict[str, Entry]:
    """The entries of a tree by path."""
    found = {}
    for line in split(repository.run("ls-tree", "-r", "-z", name)):
        head, _, path = line.partition("\t")
        mode, _kind, oid = head.split(" ")
        found[path] = Entry(mode, oid)
    return found


def lines(record: Record) -> dict[str, tuple[int | None, int | None]]:
    """Lines added and removed, by path; None for files that are not text."""
    if not (record.git and record.before and record.after):
        return {}
    repository = shadow_of(record)
    asked = ("diff-tree", "-r", "-z", "--numstat", "--no-renames", record.before, record.after)
    found = {}
    for line in split(repository.run(*asked)):
        added, removed, path = line.split("\t", 2)
        found[path] = (_count(added), _count(removed))
    return found


def shadow_of(record: Record) -> Shadow:
    """The repository through which its trees are read. GitError if there is none any more."""
    repository = shadow.open_at(Path(record.root))
    if repository is None:
        raise GitError("not_git", f"Not a git repository any more: {record.root}")
    return repository


def _entry(mode: str, oid: str) -> Entry | None:
    return None if mode == NONE else Entry(mode, oid)


def _count(word: str) -> int | None:
    return int(word) if word.isdigit() else None
