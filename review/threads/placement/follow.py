"""Which file of a commit a thread's path stands for, and which file it was written on.

The old side is the parent's tree. A thread has the new path of a renamed file on both sides. Paths
are looked up in git trees only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from config.git.command import GitError
from review.git import objects
from review.git.commits import Commit, shown_path
from review.git.diffs import diff
from review.git.log import history
from review.git.repository import Repository

MARK = "\\x"  # begins an escaped byte of a name that is not valid text
Side = Literal["LEFT", "RIGHT"]


@dataclass(frozen=True, slots=True)
class Spot:
    """One side of a file: the path of its threads, and its blob (None for a submodule)."""

    path: str
    oid: str | None


def spot(repository: Repository, commit: Commit, path: str, side: Side) -> Spot | None:
    """The file that threads on `path` are about; None if that side has no such file."""
    path = _in_trees(commit, path)
    tree, inside = commit.sha, path
    if side == "LEFT":
        if commit.parent is None:
            return None
        tree = commit.parent
        path = path if any(file.path == path for file in commit.files) else _new_path(commit, path)
        inside = _old_path(commit, path)
    entry = objects.entry(repository, tree, inside)
    if entry is None or entry.kind == "tree":
        return None
    return Spot(shown_path(path), entry.oid if entry.kind == "blob" else None)


def written_on(repository: Repository, sha: str | None, path: str, side: Side) -> str | None:
    """The blob that a thread of commit `sha` was written on; None if it cannot be found."""
    commit = _commit(repository, sha)
    found = spot(repository, commit, path, side) if commit else None
    return found.oid if found else None


def find_spot(
    repository: Repository, old: str | None, commit: Commit, path: str, side: Side
) -> Spot | None:
    """The file on `commit` of threads written on `path` of commit `old`; None without one."""
    for candidate in _candidates(repository, old, commit, path, side):
        if found := spot(repository, commit, candidate, side):
            return found
    return None


def _candidates(
    repository: Repository, old: str | None, commit: Commit, path: str, side: Side
) -> Iterator[str]:
    """The path itself; its new names from tree to tree, for the old side from parent to parent; its
    new name in the commit. On the old side, a file that `old` renamed is looked up by its old
    name."""
    before = path
    if side == "LEFT" and old != commit.sha and (source := _commit(repository, old)):
        before = _old_path(source, path)
        if before != path:
            yield _new_path(commit, before)
    yield path
    if source := _commit(repository, old):
        if side == "LEFT" and source.parent and commit.parent:
            for new in _in(_renames(repository, source.parent, commit.parent), before):
                yield _new_path(commit, new)
        yield from _in(_renames(repository, source.sha, commit.sha), path)
    yield _new_path(commit, path)


def _in(pairs: dict[str, str], path: str) -> Iterator[str]:
    if path in pairs:
        yield pairs[path]


def _renames(repository: Repository, old: str, new: str) -> dict[str, str]:
    try:
        return dict(diff.renames(repository, old, new))
    except GitError:
        return {}


def _commit(repository: Repository, sha: str | None) -> Commit | None:
    """The commit; None if it is gone."""
    try:
        return history.commit(repository, sha) if sha else None
    except GitError:
        return None


def _in_trees(commit: Commit, path: str) -> str:
    """The name in git of a file whose shown name has escaped bytes that are not UTF-8."""
    if MARK not in path:
        return path
    return next((file.path for file in commit.files if shown_path(file.path) == path), path)


def _old_path(commit: Commit, path: str) -> str:
    return next((f.old_path for f in commit.files if f.path == path and f.old_path), path)


def _new_path(commit: Commit, path: str) -> str:
    renames = (f for f in commit.files if f.old_path == path and f.status == "renamed")
    return next((file.path for file in renames), path)
