"""What git still knows of a repository's past: which commits stood together, and what is in use."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from config.git import walled
from review import caches
from review.git.output import SHA
from review.git.refs import HEADS, Refs
from review.git.repository import LONGEST, Repository

MOST = 10_000  # commits that are walked; what is older than these is not known
REMEMBERED = 300  # entries of one reflog that are read, the newest
TAIL = REMEMBERED * 512  # bytes of a reflog that hold them

Parents = dict[str, tuple[str, ...]]
_parents: caches.Memory[tuple[object, ...], Parents]
_parents = caches.Memory(50_000, weigh=lambda found: 1 + len(found))


def parents(repository: Repository, tips: Iterable[str], below: Iterable[str | None]) -> Parents:
    """The parents of each commit that leads to one of `tips` and to none `below`, newest first.

    One git call, remembered. Tips that are gone are left out. GitError when git fails.
    """
    wanted = sorted(set(tips))
    lines = [*wanted, *(f"^{sha}" for sha in sorted({sha for sha in below if sha}))]
    key = (repository.common_dir, repository.shallow, tuple(lines))
    found = _parents.get(key)
    if found is None:
        told = repository.run(
            "rev-list", "--parents", f"-n{MOST}", "--ignore-missing", "--stdin",
            stdin="".join(f"{line}\n" for line in lines).encode(),
        )  # fmt: skip
        rows = (line.split(" ") for line in told.decode().splitlines())
        found = _parents.put(key, {sha: tuple(above) for sha, *above in rows})
    return found


def past_tips(repository: Repository, refs: Refs, heads: Iterable[str]) -> list[str]:
    """Where HEAD and the branches under review have pointed, as their reflogs remember it."""
    names = dict.fromkeys((refs.head_ref, *(refs.full_name(head) for head in heads)))
    logs = [repository.common_dir / "logs" / name for name in names if name]
    found = (sha for log in (repository.git_dir / "logs" / "HEAD", *logs) for sha in _logged(log))
    return list(dict.fromkeys(found))


def used_tips(repository: Repository, refs: Refs) -> list[str]:
    """What keeps a commit in use: local branches, the HEAD of each worktree, and what a rebase
    that is under way began with and will come back to."""
    found = {sha for name, sha in refs.shas.items() if name.startswith(HEADS)}
    found |= {sha for folder in _worktrees(repository) for sha in _detached(folder)}
    return sorted(found | ({refs.head} if refs.head else set()))


class Move(NamedTuple):
    """One entry of a reflog; `why` as git or a tool wrote it, "" where none did."""

    before: str
    after: str
    why: str


def head_moves(repository: Repository) -> list[Move]:
    """How HEAD moved, oldest first; nothing where no reflog is kept, or not as a file."""
    return _moves(repository.git_dir / "logs" / "HEAD")


def _logged(log: Path) -> list[str]:
    """The commits before and after each move, newest first."""
    moves = ((move.after, move.before) for move in reversed(_moves(log)))
    return [sha for new_old in moves for sha in new_old if _is_commit(sha)]


def _moves(log: Path) -> list[Move]:
    try:
        with walled.reading(log) as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - TAIL))
            lines = file.read().decode(errors="replace").splitlines()[-REMEMBERED:]
    except OSError:
        return []
    told = (line.partition("\t") for line in lines)
    split = ((who.split(" ", 2), why) for who, _, why in told)
    return [Move(names[0], names[1], why) for names, why in split if len(names) == 3]


def _worktrees(repository: Repository) -> Sequence[Path]:
    """The git directory of each worktree, the main one's too."""
    linked: list[Path] = []
    with contextlib.suppress(OSError):
        linked = sorted((repository.common_dir / "worktrees").iterdir())
    return (repository.common_dir, *linked)


def _detached(git_dir: Path) -> Iterator[str]:
    """What a worktree points at without a branch, and what its rebase began with."""
    for name in ("HEAD", "rebase-merge/orig-head", "rebase-apply/orig-head"):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            text = walled.contents(git_dir / name, limit=LONGEST).decode().strip()
            if _is_commit(text):
                yield text


def _is_commit(text: str) -> bool:
    return bool(SHA.fullmatch(text)) and text.strip("0") != ""
