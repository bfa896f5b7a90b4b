"""Which reviews a turn may reach: only those of the repositories it works in.

A repository is the turn's if the turn's directory is inside one of its worktrees, or if it is
inside the turn's directory, provided that the repository and its directory name each other: a turn
may write `.git` like any other file and refer there to objects elsewhere. It may do so at any
moment, so everything that is read for a turn is read behind a wall. See
docs/design/trust.md#what-a-turn-reaches-of-the-other-parts.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Concatenate, NamedTuple, ParamSpec, TypeVar

from config.errors import Conflict, NotFound, printable
from config.git import owning, walled
from config.git.command import GitError
from config.git.owning import Owned
from config.git.walled import Wall
from config.mcp import turn_tools
from review import files, projects
from review.projects import Project, RepoEntry
from review.stacks import repo as repos
from review.stacks.values import Item, Repo
from review.stacks.worktree import reviewed
from review.threads import commit_review
from review.threads.schema import Thread
from review.threads.target import Target

P = ParamSpec("P")
T = TypeVar("T")
NONE = "No repository that this chat works in is under review; open it on the review page first."


_Place = tuple[Path, Owned]


@dataclass(frozen=True, slots=True)
class ThreadOnCommit:
    """A thread and where it is shown: on a commit, or on what is not committed."""

    repo: Repo
    title: str
    target: Target
    thread: Thread


class _Reach(NamedTuple):
    """What a turn in a directory reaches, and the folders that may be read for it."""

    entries: list[tuple[Project, RepoEntry]]
    roots: list[Path]
    writable: list[Path]


_reach: ContextVar[_Reach] = ContextVar("reach")


def within(noun: Callable[Concatenate[Path, P], T]) -> Callable[Concatenate[Path, P], T]:
    """Wrap a function that takes a turn's directory, so that it reads repositories only behind the
    wall of that turn."""

    @wraps(noun)
    def run(directory: Path, /, *args: P.args, **given: P.kwargs) -> T:
        found = _find_reach(directory)
        set_before = _reach.set(found)
        try:
            with walled.behind(_wall(directory, found)):
                return noun(directory, *args, **given)
        finally:
            _reach.reset(set_before)

    return run


def entries(directory: Path, project: str | None = None) -> list[tuple[Project, RepoEntry]]:
    """The repositories under review that a turn in this directory may reach, of one project if it
    is named. NotFound if there is none."""
    found = _reach.get().entries
    if not found:
        raise NotFound(NONE)
    named = [(one, entry) for one, entry in found if project in (None, one.slug)]
    if not named:
        slugs = ", ".join(dict.fromkeys(one.slug for one, _ in found))
        raise NotFound(
            f"The project {printable(project or '')} does not review a repository of this chat; "
            f"a turn reaches {slugs} alone."
        )
    return named


def load_repos(directory: Path, project: str | None = None) -> list[Repo]:
    """The current repos of `entries`."""
    return [repos.load(one, entry) for one, entry in entries(directory, project)]


def commit(directory: Path, sha: str, project: str | None = None) -> tuple[Repo, Item]:
    """One commit. NotFound, or Invalid for a sha that names several."""
    missed = NotFound("")
    for one in load_repos(directory, project):
        try:
            return one, repos.find(one, sha)
        except NotFound as error:
            missed = error
    raise missed


def iter_threads(directory: Path, project: str | None = None) -> Iterator[ThreadOnCommit]:
    """Every thread that is shown, stack by stack, bottom to top; the uncommitted ones last."""
    for one in load_repos(directory, project):
        left = list(_uncommitted_threads(one))  # first, so that commits take over their threads
        for stack in one.stacks:
            for sha in stack.commits:
                yield from _threads(one, one.by_sha[sha])
        yield from left


def of_commit(directory: Path, sha: str, project: str | None = None) -> list[ThreadOnCommit]:
    """The threads of one commit, or of what is not committed."""
    if sha == files.WORKTREE:
        return [
            found for one in load_repos(directory, project) for found in _uncommitted_threads(one)
        ]
    return list(_threads(*commit(directory, sha, project)))


def thread(directory: Path, tid: str, project: str | None = None) -> ThreadOnCommit:
    """One thread. NotFound; Conflict if several have this id, as after an edit by hand."""
    found = [one for one in iter_threads(directory, project) if one.thread.id == tid]
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


def _uncommitted_threads(one: Repo) -> Iterator[ThreadOnCommit]:
    target = reviewed.find_discussed(one)
    if target is None:
        return
    for thread in commit_review.of(target).review.conversations:
        yield ThreadOnCommit(one, reviewed.TITLE, target, thread)


def _find_reach(directory: Path) -> _Reach:
    """What the turn reaches, by resolving each path once; the wall guards against later changes."""
    home = _around(directory)
    found = _Reach([], [directory], [])
    if home:
        _show(found, *home)
    for one in projects.all():
        for entry in one.repos:
            own = None if entry.errors else _theirs(entry.path, directory, home)
            if own:
                found.entries.append((one, entry))
                _show(found, *own)
    return found


def _show(found: _Reach, top: Path, own: Owned) -> None:
    """Add the folders outside the turn's directory. Those inside come with it and are not named,
    since a link may replace them in the meantime."""
    directory = found.roots[0]
    found.roots.extend(path for path in (top, *own) if not path.is_relative_to(directory))
    if not own.common.is_relative_to(directory):
        found.writable.append(own.common)


def _wall(directory: Path, found: _Reach) -> Wall | None:
    if not found.entries:
        return None
    needed, writable = (list(dict.fromkeys(paths)) for paths in (found.roots, found.writable))
    prefix = turn_tools.behind(directory, needed, writable)
    try:
        return walled.around(prefix, [*map(str, needed)])
    except OSError as error:  # already replaced
        raise GitError("failed", f"{error.filename}: {error.strerror}") from None


def _theirs(path: Path, directory: Path, home: _Place | None) -> _Place | None:
    """The repository's top and its own folders, or None if it is not the turn's."""
    real = Path(os.path.realpath(path))
    if real.is_relative_to(directory):
        return _own(real, directory)
    if home is None:
        return None
    try:
        own = owning.of(real)
    except GitError:
        return None
    return (real, own) if own.common == home[1].common else None


def _around(directory: Path) -> _Place | None:
    """The repository in one of whose worktrees this directory is."""
    for folder in (directory, *directory.parents):
        if os.path.lexists(folder / ".git"):
            return _own(folder, directory)
    return None


def _own(top: Path, directory: Path) -> _Place | None:
    """The repository at `top`. None if it is not that directory's own, or if it borrows objects
    from a place that the turn itself cannot read."""
    try:
        own = owning.of(top)
        places = owning.all_alternates(own.common)
    except GitError:
        return None
    shown, hidden = (directory, top, own.common), turn_tools.hidden() if places else ()
    read = (_lies(place, shown) or not _lies(place, hidden) for place in places)
    return (top, own) if all(read) else None


def _lies(path: Path, folders: Iterable[Path | str]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)
