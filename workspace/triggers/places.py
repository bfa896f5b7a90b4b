"""Whether what happened belongs to a project: by its repository, or by a directory of it.

A repository is identified by where its objects are, so that all its work trees count as one. Reads
git's own small files and starts a process only for a submodule, because a request may be waiting.
"""

from __future__ import annotations

from pathlib import Path

from config.errors import SvcError
from config.git import owning
from config.git.command import GitError
from workspace.projects import store
from workspace.projects.project import Project


def repository(path: Path) -> Path | None:
    """What all work trees of the repository at or above a directory share. None outside of any
    repository, and if a directory's `.git` leads to a repository that does not name the
    directory."""
    try:
        real = path.resolve(strict=True)
        for folder in (real, *real.parents):
            bare = (folder / "HEAD").is_file() and (folder / "objects").is_dir()
            if bare or (folder / ".git").exists():
                return owning.of(folder).common
    except (OSError, RuntimeError, GitError):
        pass
    return None


def shares_repository(project: Project, path: Path) -> bool:
    """Whether the project works in the repository of `path`, or has it in its directory."""
    place = project.place
    if place.problem:
        return False
    own, other = repository(place.dir), repository(path)
    return other is not None and (own == other or holds(project, path))


def holds(project: Project, path: Path) -> bool:
    """Whether the directory is the project's or lies in it; it may no longer exist."""
    place = project.place
    if place.problem:
        return False
    try:
        return path.resolve().is_relative_to(place.dir.resolve())
    except (OSError, RuntimeError):
        return False


def project(slug: str) -> Project | None:
    """The project; None if there is none here with a readable file."""
    try:
        return store.writable(slug)
    except SvcError:
        return None
