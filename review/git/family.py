"""What git still knows of the past: which commits existed together, and which are in use."""

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

MOST = 10_000  # commits that are walked; older ones are ignored
REMEMBERED = 300  # entries of one reflog that are read, the newest
TAIL = REMEMBERED * 512  # bytes at the end of a reflog that hold them

Parents = dict[str, tuple[str, ...]]
_parents: caches.Memory[tuple[object, ...], Parents]
_parents = caches.Memory(50_000, weigh=lambda found: 1 + len(found))


def parents(repository: Repository, tips: Iterable[str], below: Iterable[str | None]) -> Parents:
    """The parents of each commit reachable from `tips` and not from `below`, newest first.

    One git call, cached. Tips that are gone are left out. GitError when git fails.
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
    """The commits that HEAD and the branches under review pointed to, from their reflogs."""
    names = dict.fromkeys((refs.head_ref, *(refs.full_name(head) for head in heads)))
    logs = [repository.common_dir / "logs" / name for name in names if name]
    found = (
        sha for log in (repository.git_dir / "logs" / "HEAD", *logs) for sha in _logged_shas(log)
    )
    return list(dict.fromkeys(found))


def used_tips(repository: Repository, refs: Refs) -> list[str]:
    """The tips that keep commits in use: local branches, the HEAD of each worktree, and the commit
    that a rebase in progress began with and may return to."""
    found = {sha for name, sha in refs.shas.items() if name.startswith(HEADS)}
    found |= {sha for folder in _worktrees(repository) for sha in _detached_heads(folder)}
    return sorted(found | ({refs.head} if refs.head else set()))


class Move(NamedTuple):
    """One entry of a reflog; `why` as git or a tool wrote it, "" where none did."""

    before: str
    after: str
    why: str


def head_moves(repository: Repository) -> list[Move]:
    """How HEAD moved, oldest first; empty if there is no reflog, or it is not a file."""
    return _moves(repository.git_dir / "logs" / "HEAD")


def _logged_shas(log: Path) -> list[str]:
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


def _detached_heads(git_dir: Path) -> Iterator[str]:
    """The commit of a worktree's detached HEAD, and the commit its rebase began with."""
    for name in ("HEAD", "rebase-merge/orig-head", "rebase-apply/orig-head"):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            text = walled.contents(git_dir / name, limit=LONGEST).decode().strip()
            if _is_commit(text):
                yield text


def _is_commit(text: str) -> bool:
    return bool(SHA.fullmatch(text)) and text.strip("0") != ""
