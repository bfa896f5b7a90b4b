"""The state of a chat's worktree: ahead, behind, uncommitted changes. Nothing is written."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, TypedDict

from config.errors import Conflict
from config.git.command import GitError
from workspace.engines.base import Linked
from workspace.worktrees import confined, place, repository, ties
from workspace.worktrees.place import Tree
from workspace.worktrees.repository import HEADS
from workspace.worktrees.ties import At

GITLINK = "160000 "
MOST = 200  # names per answer
UNDER_WAY = ("rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD")


class Standing(TypedDict):
    branch: str
    directory: str
    target: Annotated[str | None, "the branch that it would be brought over to"]
    ahead: Annotated[int | None, "commits that the target lacks; null where it cannot be said"]
    behind: Annotated[int | None, "commits of the target that it lacks"]
    changed: Annotated[list[str], "files that differ from its last commit, 200 at most"]
    problem: Annotated[str | None, "why nothing can be done with it now"]
    gone: Annotated[bool, "whether it can be made again"]


def of(tree: Tree) -> Standing:
    """The state now; if git cannot determine it, `problem` says why."""
    found: Standing = {
        "branch": tree.branch,
        "directory": str(tree.dir),
        "target": None,
        "ahead": None,
        "behind": None,
        "changed": [],
        "problem": None,
        "gone": False,
    }
    try:
        users = _users(tree)
        found["target"] = repository.head_branch(users)
        found["ahead"], found["behind"] = _apart(tree, users, found["target"])
        linked = place.get_linked(tree)
        found["changed"] = changed_files(linked)[:MOST]
        found["problem"] = problem(tree, linked) or None
    except Conflict as error:
        found["problem"], found["gone"] = error.text, True
    except GitError as error:
        found["problem"] = error.text
    return found


def target(tree: Tree) -> str | None:
    """The branch that the user's directory has checked out; None if HEAD is detached."""
    return repository.head_branch(_users(tree))


def _users(tree: Tree) -> Linked:
    if not os.path.lexists(tree.repository / ".git"):
        raise GitError("missing", f"The repository is not at {tree.repository} any more")
    return ties.get_linked(tree.repository)


def _apart(tree: Tree, users: Linked, wanted: str | None) -> tuple[int | None, int | None]:
    """How many commits of the branch the target lacks, and the reverse; None if one is missing."""
    if not wanted:
        return None, None
    both = f"{HEADS}{tree.branch}...{HEADS}{wanted}"
    asked = ("rev-list", "--left-right", "--count", both, "--")
    told = confined.read(users, *asked, accepted=(0, 128)).split()  # 128: a branch is missing
    return (int(told[0]), int(told[1])) if told else (None, None)


def changed_files(at: At, *, untracked: bool = True) -> list[str]:
    """Files of a work tree that differ from its last commit, without ignored ones."""
    others = "all" if untracked else "no"
    how = (f"--untracked-files={others}", "--ignore-submodules=dirty")  # no git runs in one
    told = repository.run(at, "status", "--porcelain", "-z", *how)
    parts = iter(repository.names(told))
    found = []
    for line in parts:
        found.append(line[3:].encode(errors="replace").decode())
        if "R" in line[:2] or "C" in line[:2]:
            found += [next(parts, "").encode(errors="replace").decode()]
    return found


def submodules(at: Path) -> list[str]:
    """Submodules that are checked out in a work tree, each with a history of its own."""
    told = repository.names(confined.read(at, "ls-files", "-z", "--stage"))
    paths = [line.partition("\t")[2] for line in told if line.startswith(GITLINK)]
    return [path for path in paths if os.path.lexists(at / path / ".git")]


def problem(tree: Tree, linked: Linked) -> str:
    """Why the worktree's commits are not simply those of its branch; "" if they are."""
    if any(os.path.lexists(Path(linked.own) / name) for name in UNDER_WAY):
        return "A rebase, merge or pick is under way in the worktree: finish or abort it there"
    head = repository.head_branch(linked)
    if head != tree.branch:
        on = f"branch {head}" if head else "no branch"
        return f"The worktree is on {on}: check {tree.branch} out there"
    return ""
