"""The record of a chat, `.chats/<id>.yaml`: the file kind, read and written.

Unknown keys are kept; a record of a later version is read and never written. Ids are checked
here before they become a path.
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
READ_ONLY = "chat {} was written by a later version and is read-only"


@dataclass(frozen=True, slots=True)
class ChatRecord:
    """What the record says. `parent` is {project, sessionId}, `forked_from` {sessionId, at, …},
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
    allow: tuple[str, ...] = ()  # what is not asked for any more, as rules of engines/allowing.py
    engine_ref: Mapping[str, Any] = field(default_factory=dict)
    forked_from: Mapping[str, Any] | None = None
    imported_from: Mapping[str, Any] | None = None
    worktree: Mapping[str, Any] | None = None
    read_to: int = 0  # byte of the transcript up to which it was read in a page
    version: int = VERSION
    error: str = ""
    unread: bool = False  # the error is of the disk, and may go without a trace in the file

    def replaced(self, **changes: Any) -> ChatRecord:
        return replace(self, **changes)

    def wire(self) -> dict[str, Any]:
        """The record as its file holds it; keys without a value are left out."""
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
    """Where the record is; NotFound for anything that is no chat id."""
    if not ids.UUID.fullmatch(session_id):
        raise missing(project.slug, session_id)
    try:
        return paths.inside(project.dir, f".chats/{session_id}.yaml")
    except paths.UnsafePath:
        raise missing(project.slug, session_id) from None


def transcript_path(project: Project, session_id: str) -> Path:
    return record_path(project, session_id).with_suffix(".jsonl")


def read(project: Project, session_id: str) -> ChatRecord:
    """The record as it is now. NotFound when there is none."""
    path = record_path(project, session_id)
    record = found(project, session_id, path)
    if record is None:
        raise missing(project.slug, session_id)
    return record


def found(project: Project, session_id: str, path: Path) -> ChatRecord | None:
    """What a record there says, None for none. One that is not read tells why in `error`."""
    try:
        snapshot = files.read(path, limit=LIMIT, within=project.dir)
    except paths.UnsafePath:
        return None
    except OSError as error:
        why = f"cannot be read: {error.strerror}"
        return ChatRecord(session_id, project.slug, created="", error=why, unread=True)
    return parse(project.slug, session_id, snapshot.data) if snapshot else None


def exists(slug: str, session_id: str) -> bool:
    """Whether the chat of this id, one of ours, is where chats are."""
    path = f"{settings.PROJECTS_DIR}/{slug}/.chats/{session_id}.yaml"
    return os.path.exists(path)  # noqa: PTH110 - once for each row of a list


def sound(record: ChatRecord) -> ChatRecord:
    """The record itself; Conflict when its chat may only be read."""
    if record.error:
        text = f"the record of chat {record.id} cannot be read: {record.error}"
        raise Conflict(text)
    if record.version > VERSION:
        raise Conflict(READ_ONLY.format(record.id))
    return record


def all(project: Project) -> list[ChatRecord]:  # noqa: A001 - files.all(project) reads as it should
    return [read(project, session_id) for session_id in session_ids(project)]


def session_ids(project: Project) -> list[str]:
    """The ids that have a record, unordered. Of another name is no chat: nothing opens it."""
    try:
        names = os.listdir(project.chats_dir)  # noqa: PTH208 - thousands of names, no Path each
    except FileNotFoundError:
        return []
    found = [name[:-5] for name in names if len(name) == 41 and name.endswith(".yaml")]
    return [session_id for session_id in found if ids.UUID.fullmatch(session_id)]


def parse(project: str, session_id: str, data: bytes) -> ChatRecord:
    """A record, however damaged: `error` says what cannot be read."""
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
    """What `allow` lists; an entry that is no rule allows nothing."""
    found = value.get("allow")
    listed = found if isinstance(found, list) else []
    return [one for one in listed if isinstance(one, str) and allowing.valid(one)]


def make_folder(project: Project) -> Path:
    """`.chats/`, 0700, which git ignores whole."""
    folder = project.chats_dir
    if not folder.is_dir():
        folder.mkdir(mode=0o700, exist_ok=True)
    ignore = folder / ".gitignore"
    if not ignore.exists():
        files.write(ignore, b"*\n", within=project.dir)
    return folder


def create(project: Project, record: ChatRecord) -> ChatRecord:
    """Write a new record beside its transcript, which is made here unless it is a copy."""
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
    """Undo `create`, of a chat in which nothing was said."""
    path = record_path(project, session_id)
    with contextlib.suppress(OSError):
        if path.with_suffix(".jsonl").stat().st_size == 0:
            path.unlink()
            path.with_suffix(".jsonl").unlink()


def update(project: Project, session_id: str, **changes: Any) -> tuple[ChatRecord, bool]:
    """Set or (with None) remove keys, by the names of the file; (record, whether it changed)."""
    return _edit(project, session_id, lambda present: changes)


def set_archived(project: Project, session_id: str, *, archived: bool) -> tuple[ChatRecord, bool]:
    """The archived flag and its time; nothing changes when it is as wanted already."""

    def wanted(present: Mapping[str, Any]) -> Mapping[str, Any]:
        if (present.get("archived") is True) == archived:
            return {}
        return {"archived": archived, "archivedAt": now() if archived else None}

    return _edit(project, session_id, wanted)


def set_read(project: Project, session_id: str, offset: int) -> tuple[ChatRecord, bool]:
    """How far the chat was read; never back."""

    def wanted(present: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"readTo": offset} if offset > read_up_to(present) else {}

    return _edit(project, session_id, wanted)


def set_allowed(
    project: Project, session_id: str, change: Callable[[list[str]], list[str]]
) -> bool:
    """Change what is allowed for the rest of the chat; whether it changed."""

    def wanted(present: Mapping[str, Any]) -> Mapping[str, Any]:
        known = _rules(present)
        after = change(known)
        return {} if after == known else {"allow": after or None}

    return _edit(project, session_id, wanted)[1]


def read_up_to(record: Mapping[str, Any]) -> int:
    """The byte up to which this record, as written, says the chat is known; what a fork inherited
    counts as read."""
    return max(_number(record, "readTo"), inherited_to(record))


def inherited_to(record: Mapping[str, Any]) -> int:
    """The byte up to which the lines of a fork are its source's; 0 in any other chat."""
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
        edited = _spliced(session_id, data, wanted)
        changed = edited != data
        return edited

    snapshot = files.change(path, edit, within=project.dir)
    assert snapshot is not None  # an edit never deletes
    return parse(project.slug, session_id, snapshot.data), changed


def _spliced(
    session_id: str, data: bytes, wanted: Callable[[Mapping[str, Any]], Mapping[str, Any]]
) -> bytes:
    try:
        present = yamlio.parse(data).value or {}
        if present.get("v", VERSION) > VERSION:
            raise Conflict(READ_ONLY.format(session_id))
        for key, value in wanted(present).items():
            if value is None and key in present:
                data = yamlio.remove_entry(data, (key,))
            elif value is not None and present.get(key) != value:
                data = yamlio.set_entry(data, (key,), value)
        return data
    except (yamlio.YamlError, AttributeError, TypeError) as error:
        raise Conflict(f"the record of chat {session_id} cannot be changed: {error}") from None
