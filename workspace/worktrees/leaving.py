"""What happens to a worktree when its chat is archived or deleted, and when the chat comes back.

A clean worktree is removed, and its branch too if all its commits are on another branch. One that
is not clean stays, and the result says why. Nothing here refuses the archiving. See
docs/design/workspace.md#leaving-and-coming-back.
"""

from __future__ import annotations

import logging
from typing import Annotated, TypedDict

from config.errors import SvcError
from config.git import shadow
from config.git.command import GitError
from config.storage import files as storage
from workspace.chats.files import ChatRecord
from workspace.chats.turns import states
from workspace.models import Turn
from workspace.projects.project import Project
from workspace.worktrees import confined, making, place, repository, standing
from workspace.worktrees.place import Tree
from workspace.worktrees.repository import HEADS

log = logging.getLogger(__name__)
RUNS = "a turn runs in it"


class WorktreeLeft(TypedDict):
    """`kept`: why the worktree still exists, null if it was removed."""

    branch: str
    branchDeleted: bool
    kept: Annotated[str | None, "why it is still there"]


def leave(record: ChatRecord) -> WorktreeLeft | None:
    """Remove the worktree of a chat that was archived or deleted; None if it has none."""
    tree = place.of(record)
    if tree is None:
        return None
    left: WorktreeLeft = {"branch": tree.branch, "branchDeleted": False, "kept": None}
    try:
        if not tree.top.exists():
            return left
        common = repository.find(tree.repository).common
        with storage.lock(shadow.lock_of(tree.top)), storage.lock(making.lock_of(common)):
            left["kept"] = _why_kept(tree) or None
            if left["kept"] is None:
                left["branchDeleted"] = _remove(tree)
    except GitError as error:
        left["kept"] = error.text
    except SvcError as error:
        left["kept"] = error.text
    if left["kept"]:
        log.info("a worktree stays: %s", left["kept"], extra={"chat": record.id})
    return left


def _why_kept(tree: Tree) -> str:
    if Turn.objects.filter(chat=tree.chat, state__in=states.BUSY).exists():
        return RUNS
    if found := standing.problem(tree, place.get_linked(tree)):
        return found
    if inside := standing.submodules(tree.top):
        return f"a submodule is checked out in it: {inside[0]}"
    names = standing.changed_files(tree.top)
    if not names:
        return ""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return f"not committed: {', '.join(names[:3])}{more}"


def _remove(tree: Tree) -> bool:
    """Remove it. Return whether the branch was deleted too; its tip stays under a ref of ours."""
    at, sha = tree.repository, repository.tip(tree.repository, HEADS + tree.branch)
    merged = sha is not None and _elsewhere(tree, sha)
    if sha is not None and merged:
        making.keep(tree, sha)
    making.remove(tree)
    if sha is None or not merged:
        return False
    repository.run(at, "update-ref", "-d", HEADS + tree.branch, sha, writes=True)
    return True


def _elsewhere(tree: Tree, sha: str) -> bool:
    """Whether a branch that does not belong to a chat contains this commit."""
    asked = ("for-each-ref", f"--contains={sha}", "--format=%(refname)", HEADS)
    told = confined.read(tree.repository, *asked).decode(errors="replace").splitlines()
    return any(not ref.startswith(HEADS + place.PREFIX) for ref in told)


def come_back(project: Project, record: ChatRecord) -> str | None:
    """Recreate the worktree of a chat that came back. Return why that fails; None if the worktree
    exists or the chat has none."""
    if place.of(record) is None:
        return None
    try:
        making.again(project, record)
    except SvcError as error:
        log.warning("a worktree is not back: %s", error, extra={"chat": record.id})
        return error.text
    return None
