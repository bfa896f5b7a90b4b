"""Make the worktree of a chat, and recreate one that is gone.

While one is made for a new chat, a note in the data directory names it, so that a start can remove
what a killed creation left.
"""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from django.conf import settings

from config.errors import Conflict, SvcError, Unavailable
from config.git.command import GitError
from config.storage import files as storage
from config.storage import locks, opening
from workspace.chats import files
from workspace.chats.files import ChatRecord
from workspace.projects import store
from workspace.projects.project import Project
from workspace.worktrees import confined, place, repository
from workspace.worktrees.place import Tree
from workspace.worktrees.repository import HEADS, Repository

log = logging.getLogger(__name__)
BEFORE = "refs/svc/before"
NONE = "This chat has no worktree of its own: it works in the project's directory"
NO_BRANCH = "Branch {} is gone, and nothing is kept of it: start a new chat"
ELSEWHERE = "Branch {} is checked out at {}: check another one out there, then try again"
TAKEN = "The repository has a branch svc, below which git makes no svc/…: give it another name"
OVER_LOCK = ("--force", "--force")  # once if it is not clean or missing; twice if it is locked
MOST = 1000  # branches with the same name


def lock_of(common: Path) -> str:
    """The name of the lock for all changes of a repository's worktrees."""
    return f"repository:{common}"


@contextmanager
def new_tree(project: Project, chat: str, words: str, *, start: str = "HEAD") -> Iterator[Tree]:
    """Make a worktree for a new chat, whose record is to be written in the block: both or neither.

    On a branch from `start`, named after `words` and numbered if that name is taken. Conflict if
    the project has no repository for it."""
    with storage.lock(_creation_lock(chat)):
        try:
            tree = _make(project, chat, words, start)
            try:
                yield tree
            except BaseException:
                unmake(tree)
                raise
        finally:
            _note(chat).unlink(missing_ok=True)


def sweep() -> None:
    """Remove the worktrees and branches of chats whose creation was killed: done at each start."""
    folder = _note("").parent
    storage.sweep([folder])
    for note in sorted(folder.glob("*.json")):
        with locks.attempt(_creation_lock(note.stem)) as free:
            if not free:  # it is being made
                continue
            try:
                _take_back(note.stem, json.loads(opening.contents(note)))
                note.unlink(missing_ok=True)
            except (SvcError, GitError, OSError, ValueError, LookupError) as error:
                log.warning("what is left of a new worktree stays: %s", error)


def _take_back(chat: str, note: dict[str, Any]) -> None:
    """Remove what the note names unless the chat exists. The branch goes only if it is where it
    began and no other worktree has it. Raises if that cannot be done now."""
    tree = place.of_file(chat, note)
    if tree is None or files.exists(store.get(note["project"]).slug, chat):
        return
    found = repository.find(tree.repository)
    with storage.lock(lock_of(found.common)):
        if (found.common / "worktrees" / chat / "gitdir").is_file():
            remove(tree)
        elif tree.top.exists():
            shutil.rmtree(tree.top)
        ref = HEADS + tree.branch
        theirs = tree.branch in repository.worktrees(found.top)
        if not theirs and repository.tip(found.top, ref) == note["tip"]:
            repository.run(found.top, "update-ref", "-d", ref, note["tip"], writes=True)


def _note(chat: str) -> Path:
    return Path(settings.DATA_DIR) / "state/worktrees" / f"{chat}.json"


def _creation_lock(chat: str) -> str:
    return f"worktree {chat}"


def _make(project: Project, chat: str, words: str, start: str) -> Tree:
    found = repository.find(store.workable(project))
    base = repository.head_branch(found.top) or ""
    tip = repository.tip(found.top, start) or start
    note = {"project": project.slug, "tip": tip}
    with storage.lock(lock_of(found.common)):
        for branch in _names(words, chat):
            tree = Tree(chat, branch, found.top, found.below, base)
            if _try_add(found, tree, note):
                return tree
    raise Conflict(f"Branches {place.PREFIX}… of this name are used up: give the chat another name")


def _names(words: str, chat: str) -> Iterator[str]:
    name = repository.slug(words) or f"chat-{chat[:8]}"
    yield place.PREFIX + name
    yield from (f"{place.PREFIX}{name}-{n}" for n in range(2, MOST))


def _try_add(found: Repository, tree: Tree, note: dict[str, str]) -> bool:
    """Make it unless the branch exists already: then False, and nothing was done."""
    if repository.tip(found.top, HEADS + tree.branch):
        return False
    path = _note(tree.chat)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    storage.write(path, json.dumps({**note, "worktree": tree.wire()}).encode())
    try:
        _add(tree, "--no-track", "-b", tree.branch, "--", str(tree.top), note["tip"])
    except (GitError, Conflict) as error:
        unmake(tree)
        raise Conflict(_why_not(found, error.text), code="no_worktree") from None
    return True


def _why_not(found: Repository, reason: str) -> str:
    with suppress(GitError):  # if it is not a repository any more, no branch is in the way
        if repository.tip(found.top, HEADS + place.PREFIX.rstrip("/")):
            return TAKEN
    return f"No worktree could be made: {reason}"


def _add(tree: Tree, *args: str) -> None:
    """Add a locked worktree: the lock protects it from a `git worktree prune` that cannot see it,
    run by a turn in the project's directory or in a container."""
    place.home().mkdir(mode=0o700, parents=True, exist_ok=True)
    tree.top.mkdir(exist_ok=True)
    asked = ("worktree", "add", "-q", "--lock", *args)
    try:
        repository.run(tree.repository, *asked, writes=True, folder=tree.top)
    except BaseException:
        with suppress(OSError):
            tree.top.rmdir()
        raise


def unmake(tree: Tree) -> None:
    """Remove a worktree in which nothing was done yet, and its branch."""
    with suppress(GitError):
        remove(tree)
    with suppress(GitError):
        asked = ("update-ref", "-d", HEADS + tree.branch)
        repository.run(tree.repository, *asked, writes=True)


def remove(tree: Tree) -> None:
    """Delete its files, then its entry in the repository. Raises GitError."""
    try:  # not by git, whose sandbox could not show them without following links
        shutil.rmtree(tree.top)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise GitError("failed", f"The worktree cannot be removed: {error}") from None
    asked = ("worktree", "remove", *OVER_LOCK, str(tree.top))
    repository.run(tree.repository, *asked, writes=True)


def of_chat(project: Project, session_id: str) -> Tree:
    """The worktree that the record names. Conflict if it names none."""
    tree = place.of(files.read(project, session_id))
    if tree is None:
        raise Conflict(NONE, code="no_worktree")
    return tree


def again(project: Project, record: ChatRecord) -> Tree:
    """Recreate the worktree from its branch; if that is gone too, from its last kept tip. Does
    nothing if the worktree exists."""
    tree = place.of(record)
    if tree is None:
        raise Conflict(NONE, code="no_worktree")
    try:
        common = repository.find(tree.repository).common
        with storage.lock(lock_of(common)):
            _again(tree)
    except GitError as error:
        raise Unavailable(f"The worktree cannot be made again: {error.text}") from None
    return tree


def _again(tree: Tree) -> None:
    with suppress(Conflict):
        place.get_linked(tree)
        return
    at = repository.worktrees(tree.repository).get(tree.branch)
    if at is not None and at != tree.top and at.exists():
        raise Conflict(ELSEWHERE.format(tree.branch, at), code="no_worktree")
    if tree.top.is_dir() and any(tree.top.iterdir()):
        aside = next(path for n in count(1) if not (path := Path(f"{tree.top}.{n}")).exists())
        tree.top.rename(aside)  # put there by someone, or not a worktree of the repository
        log.warning("put aside for a worktree: %s", aside, extra={"chat": tree.chat})
    tip = repository.tip(tree.repository, HEADS + tree.branch)
    if tip is not None:
        _add(tree, *OVER_LOCK, "--", str(tree.top), tree.branch)
        return
    kept = last(tree)
    if kept is None:
        raise Conflict(NO_BRANCH.format(tree.branch), code="no_worktree")
    _add(tree, *OVER_LOCK, "--no-track", "-b", tree.branch, "--", str(tree.top), kept)


def kept_tips(tree: Tree) -> dict[int, str]:
    """The kept old tips of the branch, by number."""
    asked = ("for-each-ref", "--format=%(refname) %(objectname)", f"{BEFORE}/{tree.chat}/")
    told = confined.read(tree.repository, *asked).decode().splitlines()
    found = (line.split(" ") for line in told)
    return {int(n): sha for ref, sha in found if (n := ref.rpartition("/")[2]).isdigit()}


def last(tree: Tree) -> str | None:
    found = kept_tips(tree)
    return found[max(found)] if found else None


def keep(tree: Tree, sha: str) -> str:
    """Keep an old tip under a ref of its own. Return the ref."""
    found = kept_tips(tree)
    if found and found[max(found)] == sha:
        return f"{BEFORE}/{tree.chat}/{max(found)}"
    ref = f"{BEFORE}/{tree.chat}/{max(found, default=0) + 1}"
    asked = ("-c", "core.logAllRefUpdates=false", "update-ref", ref, sha, "")
    repository.run(tree.repository, *asked, writes=True)
    return ref
