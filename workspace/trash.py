"""The trash of projects, `.trash/` of the projects directory, which holds whole deleted projects.

A deletion moves a project's directory into its own folder, `<time>-<slug>`, together with what only
the database knows about its triggers; nothing ever empties the trash. A directory that the project
works in by its `path` is the user's and is not touched.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings
from django.db import transaction
from django.utils.dateparse import parse_datetime

from config.errors import Conflict, NotFound, printable
from config.logs import timestamp
from config.storage import database, files, opening, yamlio
from workspace.chats import index
from workspace.chats.turns.states import ACTIVE
from workspace.models import Run, TriggerState, Turn
from workspace.projects import schema, store
from workspace.projects.project import FILE, Project
from workspace.triggers import runs
from workspace.triggers.schedule import arming

FOLDER, HELD, ARMED = ".trash", "project", "triggers.json"
STAMP = "%Y%m%dT%H%M%S.%fZ"
ENTRY = re.compile(r"(\d{8}T\d{6}\.\d{6}Z)-(.+)")
KEPT = ("name", "legacy", "type", "enabled", "when", "armed_at", "owned_chat")  # of a trigger
LIMIT = 1 << 20


@dataclass(frozen=True, slots=True)
class Deleted:
    """One project in the trash; `folder` contains its directory."""

    slug: str
    name: str
    deleted: datetime
    folder: Path


def delete(slug: str) -> Deleted:
    """Move the project to the trash. NotFound; Conflict (`busy`) while turns run or wait in it."""
    project = store.get(slug)
    _refuse_busy(slug)  # before anything is written
    entry = _folder() / f"{datetime.now(UTC).strftime(STAMP)}-{slug}"
    with files.writing(FOLDER):
        entry.mkdir(mode=0o700, parents=True)
        files.write(entry / ARMED, orjson.dumps(_arming_rows(slug)), mode=0o600)
        try:
            with transaction.atomic():
                database.alone("arming", slug)
                database.alone("project", slug)  # a message arrives before this, or finds no chat
                _refuse_busy(slug)
                project.dir.rename(entry / HELD)
        except BaseException:
            _put_back(project, entry)
            raise
        _sync(entry, entry.parent, project.dir.parent)
    _forget(project)
    return _read(entry)


def restore(slug: str) -> Project:
    """Restore the project as it was. NotFound if it is not in the trash, Conflict if another
    project has its name now."""
    entry = _newest(slug)
    target = settings.PROJECTS_DIR / slug
    if os.path.lexists(target) or store.away(slug) is not None:
        text = f"Another project now has the name {slug}: rename its directory, then restore this"
        raise Conflict(text, code="exists")
    with files.writing(FOLDER), transaction.atomic():
        database.alone("arming", slug)
        (entry / HELD).rename(target)
        _rearm(slug, entry)
    with suppress(OSError):  # other files were put there: they stay
        (entry / ARMED).unlink(missing_ok=True)
        entry.rmdir()
    _sync(target.parent, _folder())
    arming.sync(slug, now=datetime.now(UTC))
    back = store.get(slug)
    index.rescan(back)  # counts are taken from the index
    return back


def listing() -> list[Deleted]:
    """The projects in the trash, the last deleted first."""
    return [_read(entry) for entry in _entries()]


def _refuse_busy(slug: str) -> None:
    """Conflict while turns run or wait; held messages do not count and come back with the chat."""
    states = [*Turn.objects.filter(project=slug, state__in=ACTIVE).values_list("state", flat=True)]
    starting = Run.objects.filter(project=slug, status__in=runs.ACTIVE).count() if not states else 0
    if not states and not starting:
        return
    running = states.count("running")
    what = f"{running} turns run" if running > 1 else "A turn runs" if running else ""
    waiting = len(states) - running + starting
    more = f"{waiting} wait{'' if waiting > 1 else 's'} to run" if waiting else ""
    said = " and ".join(filter(None, (what, more)))
    raise Conflict(
        f"{said} in this project; stop what runs and take back what waits, then delete it.",
        code="busy",
    )


def _arming_rows(slug: str) -> list[dict[str, Any]]:
    rows = TriggerState.objects.filter(project=slug).order_by("name").values(*KEPT)
    return [row | {"armed_at": row["armed_at"] and timestamp(row["armed_at"])} for row in rows]


def _rearm(slug: str, entry: Path) -> None:
    """Restore the grids and chats of its triggers; arming then applies what their file says now.
    Times that passed in the meantime are not caught up: the next one is after now."""
    try:
        kept = orjson.loads(opening.contents(entry / ARMED, limit=LIMIT, within=entry))
        rows = [
            TriggerState(
                project=slug,
                **{key: row[key] for key in KEPT if key != "armed_at"},
                armed_at=parse_datetime(row["armed_at"]) if row["armed_at"] else None,
            )
            for row in kept
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return  # they are armed again from the file
    TriggerState.objects.filter(project=slug).delete()
    TriggerState.objects.bulk_create(rows)


def _put_back(project: Project, entry: Path) -> None:
    """Undo a failed deletion: move the directory back and remove the folder."""
    with suppress(FileNotFoundError):
        (entry / HELD).rename(project.dir)
    (entry / ARMED).unlink(missing_ok=True)
    entry.rmdir()


def _forget(project: Project) -> None:
    """Remove the project from the index, and its triggers from the armed ones."""
    store.MIRROR.refresh(project.slug)
    index.rescan(project)
    arming.sync(project.slug, now=datetime.now(UTC))


def _folder() -> Path:
    found: Path = settings.PROJECTS_DIR / FOLDER
    return found


def _entries() -> list[Path]:
    """The folders of deleted projects, the newest first."""
    try:
        found = [path for path in _folder().iterdir() if _is_entry(path)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(found, key=lambda path: path.name, reverse=True)


def _is_entry(path: Path) -> bool:
    match = ENTRY.fullmatch(path.name)
    if not match or not schema.is_slug(match[2]):
        return False
    with suppress(ValueError):
        datetime.strptime(match[1], STAMP).replace(tzinfo=UTC)
        return (path / HELD).is_dir()
    return False


def _newest(slug: str) -> Path:
    for entry in _entries():
        if _slug_of(entry) == slug:
            return entry
    raise NotFound(f"Project not found in the trash: {printable(slug)}")


def _slug_of(entry: Path) -> str:
    return entry.name.partition("-")[2]


def _read(entry: Path) -> Deleted:
    stamp, _, slug = entry.name.partition("-")
    deleted = datetime.strptime(stamp, STAMP).replace(tzinfo=UTC)
    return Deleted(slug, _name(entry) or slug, deleted, entry)


def _name(entry: Path) -> str:
    """The name in its file; "" if it has none or cannot be read."""
    with suppress(OSError, ValueError, yamlio.YamlError):
        data = opening.contents(entry / HELD / FILE, limit=LIMIT, within=entry / HELD)
        found = yamlio.parse(data).merged_value()
        name = found.get("name") if isinstance(found, dict) else None
        return name.strip() if isinstance(name, str) else ""
    return ""


def _sync(*folders: Path) -> None:
    for folder in folders:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
