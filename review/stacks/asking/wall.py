"""What of all reviews a turn may reach: that of the repositories it works in, and of no other.

A repository counts as the turn's where the turn's directory lies in one of its worktrees, or where
it lies in the turn's directory, if it is that directory's own: a turn may write `.git` as any other
file, and say there where more objects are.
See docs/design/trust.md#what-a-turn-reaches-of-the-other-parts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from config.errors import Conflict, NotFound, printable
from config.git import owning
from config.git.command import GitError
from config.mcp import turn_tools
from review import files, projects
from review.projects import Project, RepoEntry
from review.stacks import repo as repos
from review.stacks.values import Item, Repo
from review.stacks.worktree import reviewed
from review.threads import commit_review
from review.threads.schema import Thread
from review.threads.target import Target

NONE = "No repository that this chat works in is under review; open it on the review page first."


@dataclass(frozen=True, slots=True)
class ThreadOnCommit:
    """A thread and what it is shown on: a commit, or what is not committed."""

    repo: Repo
    title: str
    target: Target
    thread: Thread


def entries(directory: Path, project: str | None = None) -> list[tuple[Project, RepoEntry]]:
    """The repositories under review that a turn in this directory may reach, of one project where
    one is named. NotFound when there is none."""
    common = _common_dir(directory)
    found = [
        (one, entry)
        for one in projects.all()
        for entry in one.repos
        if not entry.errors and _is_theirs(entry.path, directory, common)
    ]
    if not found:
        raise NotFound(NONE)
    named = [(one, entry) for one, entry in found if project in (None, one.slug)]
    if not named:
        slugs = ", ".join(dict.fromkeys(one.slug for one, _ in found))
        raise NotFound(
            f"The project {printable(project or '')} reviews no repository of this chat; "
            f"a turn reaches {slugs} alone."
        )
    return named


def loaded(directory: Path, project: str | None = None) -> list[Repo]:
    """The same as they are now."""
    return [repos.load(one, entry) for one, entry in entries(directory, project)]


def commit(directory: Path, sha: str, project: str | None = None) -> tuple[Repo, Item]:
    """One commit. NotFound, or Invalid for a sha that names several."""
    missed = NotFound("")
    for one in loaded(directory, project):
        try:
            return one, repos.find(one, sha)
        except NotFound as error:
            missed = error
    raise missed


def discussed(directory: Path, project: str | None = None) -> Iterator[ThreadOnCommit]:
    """Every thread that is shown, stack by stack, bottom to top, then what is not committed."""
    for one in loaded(directory, project):
        left = list(_uncommitted(one))  # commits take over what is theirs first
        for stack in one.stacks:
            for sha in stack.commits:
                yield from _threads(one, one.by_sha[sha])
        yield from left


def of_commit(directory: Path, sha: str, project: str | None = None) -> list[ThreadOnCommit]:
    """The threads of one commit, or of what is not committed."""
    if sha == files.WORKTREE:
        return [found for one in loaded(directory, project) for found in _uncommitted(one)]
    return list(_threads(*commit(directory, sha, project)))


def thread(directory: Path, tid: str, project: str | None = None) -> ThreadOnCommit:
    """One thread. NotFound; Conflict where hands gave its id to several."""
    found = [one for one in discussed(directory, project) if one.thread.id == tid]
    if not found:
        names = ", ".join(dict.fromkeys(str(one.path) for _, one in entries(directory, project)))
        raise NotFound(
            f"No thread {printable(tid)} in the review of {names}; a turn reaches the threads of "
            "the repository it works in and of no other. list_threads names them."
        )
    if len({one.repo.project.slug for one in found}) > 1 or len(found) > 1:
        slugs = ", ".join(dict.fromkeys(one.repo.project.slug for one in found))
        raise Conflict(
            f"Several threads have the id {tid} ({slugs}); say which `project` is meant."
        )
    return found[0]


def _threads(one: Repo, item: Item) -> Iterator[ThreadOnCommit]:
    target = repos.target(one, item)
    for thread in commit_review.of(target).review.conversations:
        yield ThreadOnCommit(one, item.title, target, thread)


def _uncommitted(one: Repo) -> Iterator[ThreadOnCommit]:
    target = reviewed.discussed(one)
    if target is None:
        return
    for thread in commit_review.of(target).review.conversations:
        yield ThreadOnCommit(one, reviewed.TITLE, target, thread)


def _is_theirs(path: Path, directory: Path, common: Path | None) -> bool:
    real = Path(os.path.realpath(path))
    if real.is_relative_to(directory):
        return _own(real, directory) is not None
    try:
        return common is not None and _shared(path) == common
    except GitError:
        return False


def _shared(path: Path) -> Path:
    return Path(os.path.realpath(projects.opened(path).common_dir))


def _common_dir(directory: Path) -> Path | None:
    """The git directory that the worktrees around this directory share."""
    for folder in (directory, *directory.parents):
        if os.path.lexists(folder / ".git"):
            return _own(folder, directory)
    return None


def _own(top: Path, directory: Path) -> Path | None:
    """What the worktrees of the repository share that is this directory's own. None for any other,
    and for one that takes objects from where the turn itself cannot read."""
    try:
        common = owning.of(top).common
        places = owning.borrowed(common)
    except GitError:
        return None
    shown, hidden = (directory, top, common), turn_tools.hidden() if places else ()
    read = (_lies(place, shown) or not _lies(place, hidden) for place in places)
    return common if all(read) else None


def _lies(path: Path, folders: Iterable[Path | str]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)
