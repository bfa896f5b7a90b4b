"""Where the branches of a repository are checked out, and which operations hold them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from config.git import command
from config.storage import opening
from review.git.refs import HEADS
from review.git.repository import Repository

LIMIT = 1 << 16  # bytes of one of git's state files
MERGES = {"MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert"}


@dataclass(frozen=True, slots=True)
class Worktree:
    """`ref`: full name of the branch that is checked out, None when HEAD is detached. A work tree
    that is not `there`, as on an unmounted disk, may come back with its files."""

    path: Path
    git_dir: Path
    ref: str | None
    there: bool = True

    @property
    def named(self) -> str:
        """Its path for a message; if it is missing, with what to do about it."""
        if self.there:
            return str(self.path)
        return f"{self.path}, which is not there now (git worktree prune forgets what is gone)"


def list_all(repository: Repository) -> list[Worktree]:
    """Every work tree that git knows of: the repository's own and the linked ones."""
    told = os.fsdecode(command.run(repository.path, "worktree", "list", "--porcelain", "-z"))
    found = []
    for block in told.split("\0\0"):
        facts = dict(line.partition(" ")[::2] for line in block.split("\0") if line)
        if "worktree" not in facts or "bare" in facts:
            continue
        path = Path(facts["worktree"])
        if path == repository.common_dir:  # all that git says for a submodule
            path = repository.path
        here = _git_dir(path)
        git_dir = here or _git_dir_of(repository.common_dir, path)
        if git_dir is not None:
            found.append(Worktree(path, git_dir, facts.get("branch"), there=here is not None))
    return found


def why_held(trees: Collection[Worktree], refs: Collection[str]) -> str | None:
    """A sentence why one of these branches cannot be moved now; None if nothing is in progress."""
    for tree in trees:
        for act, ref in _acts(tree):
            if ref in refs:
                name = ref.removeprefix(HEADS)
                return f"A {act} of {name} is in progress in {tree.path}; finish or abort it first."
    return None


def _acts(tree: Worktree) -> Iterator[tuple[str, str]]:
    """The operations in progress in a work tree, with the branches they hold."""
    for folder in ("rebase-merge", "rebase-apply"):
        yield "rebase", _text(tree.git_dir / folder / "head-name").strip()
        for line in _text(tree.git_dir / folder / "update-refs").split("\n"):
            yield "rebase", line
    yield "bisect", HEADS + _text(tree.git_dir / "BISECT_START").strip()
    if tree.ref:
        for mark, act in MERGES.items():
            if (tree.git_dir / mark).exists():
                yield act, tree.ref
        if (tree.git_dir / "rebase-apply").is_dir():
            yield "series of patches", tree.ref


def _git_dir(path: Path) -> Path | None:
    """The git directory of a work tree; None if the work tree is gone."""
    dot_git = path / ".git"
    if dot_git.is_dir():
        return dot_git
    told = _text(dot_git).strip()
    return path / told.removeprefix("gitdir: ") if told.startswith("gitdir: ") else None


def _git_dir_of(common_dir: Path, path: Path) -> Path | None:
    """The git directory of a linked work tree inside the repository; None if there is none."""
    for mark in (common_dir / "worktrees").glob("*/gitdir"):
        told = os.path.normpath(mark.parent / _text(mark).strip())
        if told == os.path.normpath(path / ".git"):
            return mark.parent
    return None


def _text(path: Path) -> str:
    try:
        return os.fsdecode(opening.contents(path, limit=LIMIT))
    except OSError:
        return ""
