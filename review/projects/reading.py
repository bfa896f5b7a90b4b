"""The values of each project's project.yaml now. An invalid file has its last good values."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from config.errors import NotFound, printable
from config.storage.mirror import Mirrored
from review import files
from review.files.fields import YES_OR_NO, Fields
from review.projects import entries
from review.projects.entries import RepoEntry


@dataclass(frozen=True, slots=True)
class Project:
    """One project. With a `parse_error` ("line 3, column 1: ..."), its last good values.

    Two projects are equal if all that this part uses of the file is equal; `etag` is of its bytes.
    """

    slug: str
    dir: Path
    file: Path
    title: str
    description: str | None
    archived: bool
    example: str | None
    repos: tuple[RepoEntry, ...]
    agents_resolve: bool | None = None  # None = as the instance says
    # where its agents work besides `dir`: as the file says it, and with links resolved
    works_in: tuple[str, ...] = field(default=(), compare=False)
    parse_error: str | None = None
    warnings: tuple[str, ...] = ()
    etag: str = field(default="", compare=False)
    stat: str = field(default="", compare=False)


_parsed: dict[str, tuple[Mirrored, Project]] = {}
_state = [object()]  # replaced whenever a project is read with a difference
_places: list[tuple[object, frozenset[str]]] = []  # the directories for that state
LOOK_S = 1.0  # how recent the last reading of all projects must be to open a repository
_looked_at: list[float] = []  # when all were last read, by the monotonic clock


def get(slug: str) -> Project:
    """The project as its file is now. Raises NotFound if there is none."""
    found = _current(slug, files.read(slug, files.PROJECT)) if files.SLUG.fullmatch(slug) else None
    if found is None:
        raise NotFound(f"No such project: {printable(slug)}")
    return found


def all() -> list[Project]:  # noqa: A001 - projects.all() reads as it should
    """Every project, by slug."""
    read = files.read_many((slug, files.PROJECT) for slug in files.slugs())
    found = [project for (slug, _), said in read.items() if (project := _current(slug, said))]
    _looked_at[:] = [time.monotonic()]
    return found


def worked_in() -> frozenset[str]:
    """The directories outside of ours where agents work, as of at most a second ago. They are not
    accessed: a disk that does not answer would hold up the repositories of other projects."""
    if not _looked_at or time.monotonic() - _looked_at[0] >= LOOK_S:
        all()
    state = _state[0]  # taken before reading: a change in between is seen by the next call
    known = next(iter(_places), None)
    if known is None or known[0] is not state:
        told = (place for _, one in [*_parsed.values()] for place in one.works_in)
        known = (state, frozenset(told))
        _places[:] = [known]
    return known[1]


def repo(project: Project, name: str) -> RepoEntry:
    """The first repo of that name. Raises NotFound if there is none."""
    found = next((entry for entry in project.repos if entry.name == name), None)
    if found is None:
        raise NotFound(f"No such repo: {printable(name)}")
    return found


def _current(slug: str, found: Mirrored | None) -> Project | None:
    """The project of a file as it is now; the same object while the file is unchanged."""
    if found is None:
        if _parsed.pop(slug, None):
            _state[0] = object()
        return None
    known = _parsed.get(slug)
    if known is None or known[0] is not found:
        known = _parsed[slug] = (found, _project(slug, found))
        _state[0] = object()
    return known[1]


def _project(slug: str, found: Mirrored) -> Project:
    warnings: list[str] = []
    fields = Fields(found.data, "", warnings)
    return Project(
        slug=slug,
        dir=found.path.parent,
        file=found.path,
        title=fields.words("title") or _name(found.data) or slug,
        description=fields.text("description"),
        archived=bool(fields.truth("archived", YES_OR_NO)),
        example=fields.words("example"),
        agents_resolve=_agents_resolve(fields, warnings),
        works_in=_works_in(found.data),
        repos=entries.repos(found.data.get("repos"), found.path.parent),
        parse_error=found.error or None,
        warnings=tuple(warnings),
        etag=found.etag,
        stat=found.stat,
    )


def _agents_resolve(fields: Fields, warnings: list[str]) -> bool | None:
    said = Fields(fields.raw("review"), '"review"', warnings)
    return said.truth("agentsResolve", YES_OR_NO)


def _name(data: dict[str, Any]) -> str | None:
    """The project's name in the workspace, None if blank. The workspace judges whether it is
    valid."""
    name = data.get("name")
    return name if isinstance(name, str) and name.strip() else None


def _works_in(data: dict[str, Any]) -> tuple[str, ...]:
    """The project's directory in the workspace, as written and resolved; empty unless absolute."""
    path = data.get("path")
    if not (isinstance(path, str) and path.startswith(("/", "~/"))):
        return ()
    try:
        place = Path(path).expanduser()
        return os.fspath(place), os.path.realpath(place)
    except (ValueError, RuntimeError):  # not a valid path, or a user without a home
        return ()
