"""Where the branches of a repository are checked out, and what holds them there."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from config.git import command
from config.storage import opening
from review.git.refs import HEADS
from review.git.repository import Repository

LIMIT = 1 << 16  # bytes of a mark of git's
MERGES = {"MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert"}


@dataclass(frozen=True, slots=True)
class Worktree:
    """`ref`: full name of the branch that is checked out, None when HEAD is detached. One that is
    not `there` may come back, from a disk that is not mounted, with the files it had."""

    path: Path
    git_dir: Path
    ref: str | None
    there: bool = True

    @property
    def named(self) -> str:
        """Where it is, and what to do where it is not."""
        if self.there:
            return str(self.path)
        return f"{self.path}, which is not there now (git worktree prune forgets what is gone)"


def listed(repository: Repository) -> list[Worktree]:
    """Every work tree that git knows of, the repository's own and linked ones."""
    told = os.fsdecode(command.run(repository.path, "worktree", "list", "--porcelain", "-z"))
    found = []
    for block in told.split("\0\0"):
        facts = dict(line.partition(" ")[::2] for line in block.split("\0") if line)
        if "worktree" not in facts or "bare" in facts:
            continue
        path = Path(facts["worktree"])
        if path == repository.common_dir:  # git knows no better of a submodule
            path = repository.path
        here = _git_dir(path)
        git_dir = here or _kept(repository.common_dir, path)
        if git_dir is not None:
            found.append(Worktree(path, git_dir, facts.get("branch"), there=here is not None))
    return found


def held(trees: Collection[Worktree], refs: Collection[str]) -> str | None:
    """Why one of these branches cannot be moved now, in words; None where nothing is under way."""
    for tree in trees:
        for act, ref in _acts(tree):
            if ref in refs:
                name = ref.removeprefix(HEADS)
                return f"A {act} of {name} is in progress in {tree.path}; finish or abort it first."
    return None


def _acts(tree: Worktree) -> Iterator[tuple[str, str]]:
    """What is under way in a work tree, and the branches it holds."""
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
    """The git directory of a work tree; None when that is gone."""
    dot_git = path / ".git"
    if dot_git.is_dir():
        return dot_git
    told = _text(dot_git).strip()
    return path / told.removeprefix("gitdir: ") if told.startswith("gitdir: ") else None


def _kept(common_dir: Path, path: Path) -> Path | None:
    """The git directory that a linked work tree has in the repository."""
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
