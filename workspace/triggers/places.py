"""Whether what happened belongs to a project: by its repository, or by a directory of it.

Repositories are told by where their objects are, so that each work tree of one is the same. Reads
git's own small files and starts no process: it is asked while a request waits.
"""

from __future__ import annotations

import os
from pathlib import Path

from config.errors import SvcError
from config.storage import opening
from workspace.projects import store
from workspace.projects.project import Project

LONGEST = 8192  # bytes of a file of one line


def repository(path: Path) -> Path | None:
    """What all work trees of the repository at or above a directory share; None outside of any."""
    try:
        real = path.resolve(strict=True)
        for folder in (real, *real.parents):
            if (folder / ".git").exists():
                return _common(_git_dir(folder / ".git"))
            if (folder / "HEAD").is_file() and (folder / "objects").is_dir():
                return _common(folder)
    except (OSError, RuntimeError):
        pass
    return None


def _git_dir(entry: Path) -> Path:
    if entry.is_dir():
        return entry
    text = _line(entry).removeprefix("gitdir:").strip()
    return (entry.parent / text).resolve(strict=True)


def _common(git_dir: Path) -> Path:
    try:
        return (git_dir / _line(git_dir / "commondir")).resolve(strict=True)
    except FileNotFoundError:
        return git_dir


def _line(path: Path) -> str:
    return os.fsdecode(opening.contents(path, limit=LONGEST)).strip()


def shares_repository(project: Project, path: Path) -> bool:
    """Whether the project works in the repository of `path`, or has it in its directory."""
    place = project.place
    if place.problem:
        return False
    own, other = repository(place.dir), repository(path)
    return other is not None and (own == other or holds(project, path))


def holds(project: Project, path: Path) -> bool:
    """Whether the directory is the project's, or in it; it may be gone by now."""
    place = project.place
    if place.problem:
        return False
    try:
        return path.resolve().is_relative_to(place.dir.resolve())
    except (OSError, RuntimeError):
        return False


def project(slug: str) -> Project | None:
    """The project, where it can be acted in."""
    try:
        return store.writable(slug)
    except SvcError:
        return None
