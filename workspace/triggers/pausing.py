"""Pausing all triggers of a project, or of the instance, with a switch that is kept in a file.

A project has `triggersPaused` in its project.yaml, the instance has `paused` in `triggers.yaml`
beside the projects: since when, or `true` if it was written by hand. While either is set, nothing
fires by itself; times that pass are recorded as skipped and not caught up. "Run now" is not
affected. The same holds for a project that is over by its `status`, and for one whose `path` cannot
be used.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from django.conf import settings

from config.errors import Conflict
from config.logs import timestamp
from config.storage import files, yamlio
from workspace.projects import folders, store
from workspace.projects.project import Project

KEY = "triggersPaused"
FILE, FILE_KEY = "triggers.yaml", "paused"
LIMIT = 1 << 20
OFF = ("", "no", "off", "false")
OVER = ("done", "abandoned")  # the status of a project that is no longer worked on
PAUSED = "triggers are paused"
ENDED = {status: f"the project is {status}" for status in OVER}
NO_FOLDER = "the directory that the project works in cannot be used"
REASONS = (PAUSED, *ENDED.values(), NO_FOLDER)


@dataclass(frozen=True, slots=True)
class Pause:
    """What holds the triggers, and since when; None if that was not written."""

    by: Literal["project", "instance", "status", "folder", "file"]
    since: str | None
    status: str = ""  # of the project, if that holds them

    @property
    def reason(self) -> str:
        """The reason that a skipped firing records."""
        return NO_FOLDER if self.by == "folder" else ENDED.get(self.status, PAUSED)


def of(project: Project) -> Pause | None:
    """What holds the triggers of this project, or None; the instance comes before the project."""
    return of_instance() or of_data(project.data)


def for_display(project: Project) -> Pause | None:
    """What holds the triggers, as shown to clients: also a project.yaml that is not followed or
    cannot be read. Happenings are not skipped in that case; they wait until a person has repaired
    the file."""
    return of(project) or (Pause("file", None) if project.error else None)


def of_data(data: Mapping[str, Any]) -> Pause | None:
    """What a project.yaml says: by its switch, its status, or a `path` that cannot be used."""
    return of_file(data) or of_place(data)


def of_file(data: Mapping[str, Any]) -> Pause | None:
    """What holds the triggers until the file changes."""
    return _of_switch(data) or _over(data.get("status"))


def of_place(data: Mapping[str, Any]) -> Pause | None:
    """A directory that cannot be used holds its triggers until it can, whatever the file says."""
    place = folders.of(data)
    return Pause("folder", None) if place and place.problem else None


def _of_switch(data: Mapping[str, Any]) -> Pause | None:
    return _pause("project", data.get(KEY))


def _over(status: Any) -> Pause | None:
    word = str(status).strip().lower()
    return Pause("status", None, word) if word in OVER else None


def of_instance() -> Pause | None:
    """What holds the triggers of the instance; a file that cannot be read holds them as well."""
    path = switch()
    stat = files.stat_of(path)
    try:
        return _read(str(path), stat) if stat else None
    except OSError:  # not cached: it may become readable without a trace in its stat
        return Pause("instance", None)


def switch() -> Path:
    """The file with the switch of the instance."""
    found: Path = settings.PROJECTS_DIR / FILE
    return found


@functools.lru_cache(maxsize=8)
def _read(path: str, _stat: str) -> Pause | None:
    try:
        snapshot = files.read(Path(path), limit=LIMIT)
        return _pause("instance", _mapping(snapshot.data).get(FILE_KEY)) if snapshot else None
    except yamlio.YamlError:
        return Pause("instance", None)


def _mapping(data: bytes) -> Mapping[str, Any]:
    """The entries of the instance's file. Raises YamlError if it holds anything else."""
    value = yamlio.parse(data).value
    if not isinstance(value, Mapping | None):
        raise yamlio.YamlError("the file must hold a mapping", 1, 1)
    return value or {}


def _pause(by: Literal["project", "instance"], value: Any) -> Pause | None:
    if value is None or value is False or str(value).strip().lower() in OFF:
        return None
    try:
        found = datetime.fromisoformat(str(value))
        return Pause(by, timestamp(found if found.tzinfo else found.replace(tzinfo=UTC)))
    except (ValueError, OverflowError):
        return Pause(by, None)


def pause(project: Project, *, paused: bool) -> bool:
    """Set the switch of a project; whether that changed it. Raises Conflict for a broken file."""
    found = store.sound(project)
    if (_of_switch(found.data) is not None) == paused:
        return False
    store.edit_file(found, functools.partial(_with_switch, key=KEY, paused=paused))
    return True


def pause_instance(*, paused: bool) -> bool:
    """Set the switch of the instance. Raises Conflict if its file cannot be edited as it is."""

    def edit(data: bytes | None) -> bytes:
        try:
            _mapping(data or b"")
            return _with_switch(data or b"", key=FILE_KEY, paused=paused)
        except yamlio.YamlError as error:
            raise Conflict(f"{FILE} cannot be changed: {error}; change it by hand") from None

    if (of_instance() is not None) == paused:
        return False
    files.change(switch(), edit)
    return True


def _with_switch(data: bytes, *, key: str, paused: bool) -> bytes:
    if paused:
        return yamlio.set_entry(data, (key,), timestamp(datetime.now(UTC)))
    return yamlio.remove_entry(data, (key,))
