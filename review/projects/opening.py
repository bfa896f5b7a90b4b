"""Opens the repository at a path that a project lists, if its `.git` can be trusted.

Agents may write `.git` where they work, so there a repository has to name its directory; anywhere
else a person put it, and it opens as git resolves it. See
docs/design/trust.md#a-repository-names-its-directory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django.conf import settings

from config.git import owning, walled
from config.git.command import GitError
from review.git.repository import Repository, open_repository
from review.projects import reading


def open_at(path: Path) -> Repository:
    """The repository at `path`; within a wall, it must lie inside that wall. Raises GitError
    missing, not_git or unreadable."""
    found, wall = open_repository(path), walled.standing()
    if wall and not (wall.holds(found.git_dir) and wall.holds(found.common_dir)):
        raise GitError("not_git", f"Not a git repository: {path}: {owning.STRANGE}")
    if not _is_worked_in(path):
        return found
    try:
        common = owning.of(path).common
    except GitError as error:
        raise GitError("not_git", f"Not a git repository: {path}: {error.text}") from None
    if common != Path(os.path.realpath(found.common_dir)):
        raise GitError("not_git", f"Not a git repository: {path}: {owning.STRANGE}")
    return found


def _is_worked_in(path: Path) -> bool:
    """Whether agents work there: in a directory of a project, or in a worktree of a chat."""
    ours = map(_real, (settings.PROJECTS_DIR, f"{settings.DATA_DIR}/worktrees"))
    above = {*_upwards(os.fspath(path)), *_upwards(os.path.realpath(path))}
    return not (above.isdisjoint(ours) and above.isdisjoint(reading.worked_in()))


def _upwards(place: str) -> Iterator[str]:
    """The place and all directories above it, as text: it is called for every repository."""
    yield place
    while (above := os.path.dirname(place)) != place:  # noqa: PTH120
        yield (place := above)


@cache
def _real(place: str | Path) -> str:
    return os.path.realpath(place)
