"""What turns changed, as pages and programs read it, and the results of undo and redo."""

from __future__ import annotations

from typing import Literal, TypedDict, cast

from config.errors import Unavailable
from config.git.command import GitError
from workspace.chats import files
from workspace.projects.project import Project
from workspace.trees import changes, checkpoints, records, undo
from workspace.trees.records import Record
from workspace.trees.undo import Done


class TurnEdits(TypedDict):
    """One turn that changed files: how many are its own, and whether they were undone."""

    turnId: str
    files: int
    undone: bool


class EditedFile(TypedDict):
    """`kept` says why an undo leaves the file alone; the line counts are null if it is not text."""

    path: str
    change: Literal["added", "modified", "deleted"]
    added: int | None
    removed: int | None
    kept: str | None


class NotUndone(TypedDict):
    path: str
    reason: str


def of_chat(project: Project, chat: str) -> list[TurnEdits]:
    """Turns that changed something, oldest first, without running ones."""
    files.read(project, chat)
    found: list[TurnEdits] = []
    for record in records.of_chat(chat):
        if record.ended is None or record.project != project.slug:
            continue
        count = _count(record)
        if count:
            undone = record.undone is not None
            found.append({"turnId": record.turn, "files": count, "undone": undone})
    return found


def _count(record: Record) -> int:
    """How many files are the turn's own; counted from its notes if a crash ended it."""
    if record.count is not None:
        return record.count
    return sum(1 for change in changes.of(record) if not change.why)


def of_turn(project: Project, chat: str, turn: str) -> tuple[list[EditedFile], bool]:
    """The files, and whether they were undone. Raises NotFound, Unavailable."""
    files.read(project, chat)
    record = undo.record_of(project, chat, turn)
    try:
        found = changes.of(record, checkpoints.others(record))
        lines = changes.lines(record)
    except (GitError, OSError) as error:
        raise Unavailable(f"The kept files cannot be read: {error}") from None
    shown: list[EditedFile] = []
    for change in found:
        added, removed = lines.get(change.path, (None, None))
        kind = cast("Literal['added', 'modified', 'deleted']", change.kind)
        shown.append(
            {
                "path": printable_path(change.path),
                "change": kind,
                "added": added,
                "removed": removed,
                "kept": change.why or None,
            }
        )
    return shown, record.undone is not None


def render_kept(done: Done) -> list[NotUndone]:
    return [{"path": printable_path(path), "reason": why} for path, why in done.kept]


def printable_path(path: str) -> str:
    """The name with a replacement character for each byte that is not UTF-8."""
    return path.encode(errors="surrogateescape").decode(errors="replace")
