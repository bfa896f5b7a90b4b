"""The trash of a project, `.chats/trash/`: deleted chats, complete, until they are restored.

Deleting a chat moves its files unchanged into a folder of their own, `<time>-<id>`. Nothing ever
empties the trash, so that nothing a user wrote is lost. The record is moved first and restored
last, so that a chat is listed only while it is complete.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from django.db import transaction

from config.errors import Conflict, NotFound, printable
from config.storage import files as kernel_files
from config.storage import locks, paths
from workspace import ids
from workspace.chats import counts, files, index, titles, transcript
from workspace.chats.turns import queue
from workspace.chats.turns.states import ACTIVE, BUSY
from workspace.models import Chat, Turn
from workspace.projects import store
from workspace.projects.project import Project
from workspace.worktrees import leaving
from workspace.worktrees.leaving import WorktreeLeft

FOLDER = ".chats/trash"
SUFFIXES = (".yaml", ".jsonl", ".live")
STAMP = "%Y%m%dT%H%M%S.%fZ"
ENTRY = re.compile(r"(\d{8}T\d{6}\.\d{6}Z)-(.{36})")


@dataclass(frozen=True, slots=True)
class Deleted:
    """One chat in the trash; `folder` holds its files. `left`: what became of its worktree, set
    only by `delete`."""

    session_id: str
    name: str
    created: str
    deleted: datetime
    folder: Path
    left: WorktreeLeft | None = None


def delete(*, project: Project, session_id: str) -> Deleted:
    """Move the chat to the trash. NotFound; Conflict `busy` while a turn runs or waits in it.

    Its held messages are kept and are there again after a restore. So is its worktree; a clean one
    is removed in the meantime."""
    store.sound(project)
    with locks.lock(f"chat {session_id}"):
        record = files.read(project, session_id)
        entry = _folder(project) / f"{datetime.now(UTC).strftime(STAMP)}-{session_id}"
        with kernel_files.writing(FOLDER), transaction.atomic():
            queue.hold_chat(session_id)  # a message arrives before this, or finds no chat
            _refuse_busy(project, session_id)
            _move(project.chats_dir, entry, session_id, SUFFIXES)
    _reindex(project, session_id)
    return replace(_read(project, entry), left=leaving.leave(record))


def restore(*, project: Project, session_id: str) -> Chat:
    """Restore the chat as it was. NotFound if it is not in the trash."""
    store.sound(project)
    with locks.lock(f"chat {session_id}"):
        entry = _newest(project, session_id)
        if files.record_path(project, session_id).exists():
            raise Conflict(f"Chat {session_id} is there already", code="exists")
        with kernel_files.writing(FOLDER):
            _move(entry, project.chats_dir, session_id, SUFFIXES[::-1])
            with suppress(OSError):  # something else was put there, so the folder stays
                entry.rmdir()
    record = files.read(project, session_id)
    if not record.archived:
        leaving.come_back(project, record)
    return index.get(project, session_id)


def listing(project: Project) -> list[Deleted]:
    """The chats in the trash, the last deleted first."""
    return [_read(project, entry) for entry in _entries(project)]


def _refuse_busy(project: Project, session_id: str) -> None:
    rows = Turn.of(project.slug, session_id).filter(state__in=ACTIVE)
    states = list(rows.values_list("state", flat=True))
    if not states:
        return
    waiting = states.count("queued")
    runs = {*BUSY} & {*states}
    now = "A turn is running" if runs else f"Messages ({waiting}) wait to run"
    raise Conflict(f"{now} in this chat; stop it first, then delete it.", code="busy")


def _folder(project: Project) -> Path:
    """The trash folder. Conflict if a link leads elsewhere."""
    try:
        return paths.inside(project.dir, FOLDER)
    except paths.UnsafePath as error:
        raise Conflict(f"the trash of {project.slug} cannot be used: {error.text}") from None


def _entries(project: Project) -> list[Path]:
    """Folders of deleted chats, newest first."""
    try:
        found = [path for path in _folder(project).iterdir() if _is_entry(path)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(found, key=lambda path: path.name, reverse=True)


def _is_entry(path: Path) -> bool:
    match = ENTRY.fullmatch(path.name)
    if not match or not ids.UUID.fullmatch(match[2]):
        return False
    try:
        datetime.strptime(match[1], STAMP).replace(tzinfo=UTC)
    except ValueError:
        return False
    return (path / f"{match[2]}.yaml").is_file()


def _id_of(entry: Path) -> str:
    return entry.name[-36:]


def _newest(project: Project, session_id: str) -> Path:
    for entry in _entries(project):
        if _id_of(entry) == session_id:
            return entry
    raise NotFound(f"Chat not found: {printable(session_id)} in the trash of {project.slug}")


def _move(source: Path, target: Path, session_id: str, suffixes: tuple[str, ...]) -> None:
    """Move the chat's files in this order, if they exist; then sync both folders to disk."""
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    for suffix in suffixes:
        with suppress(FileNotFoundError):
            (source / f"{session_id}{suffix}").rename(target / f"{session_id}{suffix}")
    for folder in (target, source):
        _sync(folder)


def _sync(folder: Path) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _reindex(project: Project, session_id: str) -> None:
    """Let the index notice that the chat is gone."""
    with suppress(NotFound):
        index.get(project, session_id)


def _read(project: Project, entry: Path) -> Deleted:
    """The list entry of a deleted chat, read from its files."""
    session_id = _id_of(entry)
    record = files.find(project, session_id, entry / f"{session_id}.yaml")
    record = record or files.parse(project.slug, session_id, b"")
    deleted = datetime.strptime(entry.name[: -len(session_id) - 1], STAMP).replace(tzinfo=UTC)
    name = record.name or _automatic(project, record, entry / f"{session_id}.jsonl")
    return Deleted(session_id, name or session_id[:8], record.created, deleted, entry)


def _automatic(project: Project, record: files.ChatRecord, path: Path) -> str:
    if record.trigger:
        return titles.fired_name(project, record.trigger, counts.moment(record.created))
    return _first_prompt(path)


def _first_prompt(path: Path) -> str:
    prompts = (line for _, line in transcript.read(str(path)) if line["type"] == "user")
    return titles.title(str(next(prompts, {}).get("text") or ""))
