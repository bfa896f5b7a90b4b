"""The record of a chat, `.chats/<id>.yaml`: the file kind, read and written.

Unknown keys are kept. A record of a later version is read but never written. Ids are checked here
before they become a path.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from config.errors import Conflict, NotFound, printable
from config.logs import timestamp
from config.storage import files, paths, yamlio
from workspace import ids
from workspace.engines import allowing
from workspace.projects.project import Project

VERSION = 1
LIMIT = 1 << 20
NOT_A_MAPPING = (
    "the record of chat {0} cannot be changed: it must hold a mapping; mend .chats/{0}.yaml by hand"
)
READ_ONLY = "chat {} was written by a later version and is read-only"


@dataclass(frozen=True, slots=True)
class ChatRecord:
    """The contents of a record. `parent` is {project, sessionId}, `forked_from` {sessionId, at, …},
    `imported_from` {program, session, at}, `worktree` {branch, base, repository, below}: where its
    turns work instead of the project's directory (workspace/worktrees)."""

    id: str
    project: str
    created: str
    origin: str = "human"
    depth: int = 0
    parent: Mapping[str, Any] | None = None
    trigger: str = ""
    client: str = ""
    spawn_limit: int = 0
    name: str = ""
    archived: bool = False
    archived_at: str = ""
    engine: str = ""
    model: str = ""
    permission_mode: str = ""
    allow: tuple[str, ...] = ()  # rules (engines/allowing.py) of calls that need no question
    engine_ref: Mapping[str, Any] = field(default_factory=dict)
    forked_from: Mapping[str, Any] | None = None
    imported_from: Mapping[str, Any] | None = None
    worktree: Mapping[str, Any] | None = None
    read_to: int = 0  # byte of the transcript up to which it was read in a page
    version: int = VERSION
    error: str = ""
    unread: bool = False  # the error is the disk's: it may vanish though the file does not change

    def with_changes(self, **changes: Any) -> ChatRecord:
        return replace(self, **changes)

    def wire(self) -> dict[str, Any]:
        """The record as the file holds it; keys without a value are left out."""
        whole = {
            "v": self.version,
            "name": self.name,
            "origin": self.origin,
            "depth": self.depth,
            "parent": dict(self.parent) if self.parent else None,
            "created": self.created,
            "trigger": self.trigger,
            "client": self.client,
            "spawnLimit": self.spawn_limit,
            "archived": self.archived,
            "archivedAt": self.archived_at,
            "engine": self.engine,
            "model": self.model,
            "permissionMode": self.permission_mode,
            "allow": [*self.allow] or None,
            "engineRef": dict(self.engine_ref),
            "forkedFrom": dict(self.forked_from) if self.forked_from else None,
            "importedFrom": dict(self.imported_from) if self.imported_from else None,
            "worktree": dict(self.worktree) if self.worktree else None,
            "readTo": self.read_to or None,
        }
        return {key: value for key, value in whole.items() if value not in ("", None, {})}


def now() -> str:
    return timestamp(datetime.now(UTC))


def missing(project: str, session_id: str) -> NotFound:
    return NotFound(f"Chat not found: {printable(str(session_id))} in project {project}")


def record_path(project: Project, session_id: str) -> Path:
    """The path of the record. NotFound for anything that is not a chat id."""
    if not ids.UUID.fullmatch(session_id):
        raise missing(project.slug, session_id)
    try:
        return paths.inside(project.dir, f".chats/{session_id}.yaml")
    except paths.UnsafePath:
        raise missing(project.slug, session_id) from None


def transcript_path(project: Project, session_id: str) -> Path:
    return record_path(project, session_id).with_suffix(".jsonl")


def read(project: Project, session_id: str) -> ChatRecord:
    """The record as it is now. Raises NotFound if there is none."""
    path = record_path(project, session_id)
    record = find(project, session_id, path)
    if record is None:
        raise missing(project.slug, session_id)
    return record


def find(project: Project, session_id: str, path: Path) -> ChatRecord | None:
    """The record at this path, None if there is none. If it cannot be read, `error` says why."""
    try:
        snapshot = files.read(path, limit=LIMIT, within=project.dir)
    except paths.UnsafePath:
        return None
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
        return ChatRecord(session_id, project.slug, created="", error=why, unread=True)
    return parse(project.slug, session_id, snapshot.data) if snapshot else None


def exists(slug: str, session_id: str) -> bool:
    """Whether the record of this chat exists; the id must be one of ours."""
    path = f"{settings.PROJECTS_DIR}/{slug}/.chats/{session_id}.yaml"
    return os.path.exists(path)  # noqa: PTH110 - once for each row of a list


def sound(record: ChatRecord) -> ChatRecord:
    """Return the record. Conflict if it cannot be read or its chat is read-only."""
    if record.error:
        text = f"the record of chat {record.id} cannot be read: {record.error}"
        raise Conflict(text)
    if record.version > VERSION:
        raise Conflict(READ_ONLY.format(record.id))
    return record


def all(project: Project) -> list[ChatRecord]:  # noqa: A001 - files.all(project) reads as it should
    return [read(project, session_id) for session_id in session_ids(project)]


def session_ids(project: Project) -> list[str]:
    """The ids that have a record, unordered. A file with any other name is not a chat."""
    try:
        names = os.listdir(project.chats_dir)  # noqa: PTH208 - thousands of names, no Path each
    except FileNotFoundError:
        return []
    found = [name[:-5] for name in names if len(name) == 41 and name.endswith(".yaml")]
    return [session_id for session_id in found if ids.UUID.fullmatch(session_id)]


def parse(project: str, session_id: str, data: bytes) -> ChatRecord:
    """Parse a record, however damaged: `error` says what cannot be read."""
    try:
        value = yamlio.parse(data).value
    except yamlio.YamlError as error:
        return ChatRecord(session_id, project, created="", error=str(error))
    if not isinstance(value, dict):
        return ChatRecord(session_id, project, created="", error="the record must hold a mapping")
    return from_wire(project, session_id, value)


def from_wire(project: str, session_id: str, value: Mapping[str, Any]) -> ChatRecord:
    return ChatRecord(
        id=session_id,
        project=project,
        created=_text(value, "created"),
        origin=_text(value, "origin") or "human",
        depth=_number(value, "depth"),
        parent=_mapping(value, "parent"),
        trigger=_text(value, "trigger"),
        client=_text(value, "client"),
        spawn_limit=_number(value, "spawnLimit"),
        name=_text(value, "name"),
        archived=value.get("archived") is True,
        archived_at=_text(value, "archivedAt"),
        engine=_text(value, "engine"),
        model=_text(value, "model"),
        permission_mode=_text(value, "permissionMode"),
        allow=tuple(_rules(value)),
        engine_ref=_mapping(value, "engineRef") or {},
        forked_from=_mapping(value, "forkedFrom"),
        imported_from=_mapping(value, "importedFrom"),
        worktree=_mapping(value, "worktree"),
        read_to=_number(value, "readTo"),
        version=_number(value, "v") or VERSION,
    )


def _text(value: Mapping[str, Any], key: str) -> str:
    found = value.get(key)
    return "" if found is None or isinstance(found, dict | list) else str(found)


def _number(value: Mapping[str, Any], key: str) -> int:
    found = value.get(key)
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else 0


def _mapping(value: Mapping[str, Any], key: str) -> Mapping[str, Any] | None:
    found = value.get(key)
    return found if isinstance(found, dict) else None


def _rules(value: Mapping[str, Any]) -> list[str]:
    """The rules in `allow`; an invalid entry allows nothing."""
    found = value.get("allow")
    listed = found if isinstance(found, list) else []
    return [one for one in listed if isinstance(one, str) and allowing.valid(one)]


def make_folder(project: Project) -> Path:
    """Create `.chats/` with mode 0700 and a .gitignore that covers all of it."""
    folder = project.chats_dir
    if not folder.is_dir():
        folder.mkdir(mode=0o700, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        files.write(ignore, b"*\n", within=project.dir)
    return folder


def create(project: Project, record: ChatRecord) -> ChatRecord:
    """Write a new record and, unless it was copied already, an empty transcript."""
    path = record_path(project, record.id)
    transcript = path.with_suffix(".jsonl")
    try:
        with files.writing(transcript.name):
            make_folder(project)
            if not transcript.exists():
                transcript.touch(mode=0o600)
        files.new(path, yamlio.dump(record.wire()), within=project.dir)
    except files.CannotWrite:
        with contextlib.suppress(OSError):
            transcript.unlink(missing_ok=True)
        raise
    return record


def unmake(project: Project, session_id: str) -> None:
    """Undo `create`, if the transcript is still empty."""
    path = record_path(project, session_id)
    with contextlib.suppress(OSError):
        if path.with_suffix(".jsonl").stat().st_size == 0:
            path.unlink()
            path.with_suffix(".jsonl").unlink()


def update(project: Project, session_id: str, **changes: Any) -> tuple[ChatRecord, bool]:
    """Set keys, by their names in the file; None removes one. (record, whether it changed)"""
    return _edit(project, session_id, lambda present: changes)


def set_archived(project: Project, session_id: str, *, archived: bool) -> tuple[ChatRecord, bool]:
    """Set the archived flag and its time; nothing changes if the flag is already as wanted."""

    def wanted(present: Mapping[str, Any]) -> Mapping[str, Any]:
        if (present.get("archived") is True) == archived:
            return {}
        return {"archived": archived, "archivedAt": now() if archived else None}

    return _edit(project, session_id, wanted)


def set_read(project: Project, session_id: str, offset: int) -> tuple[ChatRecord, bool]:
    """Record how far the chat was read; the position never moves back."""

    def wanted(present: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"readTo": offset} if offset > read_up_to(present) else {}

    return _edit(project, session_id, wanted)


def set_allowed(
    project: Project, session_id: str, change: Callable[[list[str]], list[str]]
) -> bool:
    """Change what is allowed for the rest of the chat. Return whether it changed."""

    def wanted(present: Mapping[str, Any]) -> Mapping[str, Any]:
        known = _rules(present)
        after = change(known)
        return {} if after == known else {"allow": after or None}

    return _edit(project, session_id, wanted)[1]


def read_up_to(record: Mapping[str, Any]) -> int:
    """The byte up to which the chat was read, according to this raw record; what a fork inherited
    counts as read."""
    return max(_number(record, "readTo"), inherited_to(record))


def inherited_to(record: Mapping[str, Any]) -> int:
    """The byte up to which a fork's lines were copied from its source; 0 in any other chat."""
    return _number(_mapping(record, "forkedFrom") or {}, "offset")


def _edit(
    project: Project,
    session_id: str,
    wanted: Callable[[Mapping[str, Any]], Mapping[str, Any]],
) -> tuple[ChatRecord, bool]:
    path = record_path(project, session_id)
    if files.stat_of(path) is None:
        raise missing(project.slug, session_id)
    changed = False

    def edit(data: bytes | None) -> bytes:
        nonlocal changed
        if data is None:
            raise missing(project.slug, session_id)
        edited = _splice(session_id, data, wanted)
        changed = edited != data
        return edited

    snapshot = files.change(path, edit, within=project.dir)
    assert snapshot is not None  # an edit never deletes
    return parse(project.slug, session_id, snapshot.data), changed


def _splice(
    session_id: str, data: bytes, wanted: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> bytes:
    try:
        present = yamlio.parse(data).value
        present = {} if present is None else present
        if not isinstance(present, dict):
            raise Conflict(NOT_A_MAPPING.format(session_id))
        if _number(present, "v") > VERSION:
            raise Conflict(READ_ONLY.format(session_id))
        for key, value in wanted(present).items():
            if value is None and key in present:
                data = yamlio.remove_entry(data, (key,))
            elif value is not None and present.get(key) != value:
                data = yamlio.set_entry(data, (key,), value)
        return data
    except yamlio.YamlError as error:
        raise Conflict(f"the record of chat {session_id} cannot be changed: {error}") from None
