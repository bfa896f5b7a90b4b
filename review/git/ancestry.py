"""Ancestry of commits, and the commits that names resolve to; one git process per question."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from itertools import takewhile
from pathlib import Path

from config.git.command import GitError
from review import caches
from review.git import objects
from review.git.repository import Repository

HEX = re.compile(r"[0-9a-fA-F]{4,64}")

_reachable: caches.Memory[tuple[Path, str, frozenset[str], tuple[str, ...]], frozenset[str]]
_reachable = caches.Memory(256)
_resolved: caches.Memory[tuple[Path, str], str] = caches.Memory(20_000)
_bases: caches.Memory[tuple[Path, str, frozenset[str]], str] = caches.Memory(256)


def reachable(repository: Repository, shas: Collection[str], tips: Sequence[str]) -> frozenset[str]:
    """Return those of `shas` that are reachable from one of `tips`. All commits must exist."""
    if not shas or not tips:
        return frozenset()
    key = (repository.common_dir, repository.shallow, frozenset(shas), tuple(tips))
    known = _reachable.get(key)
    if known is not None:
        return known
    lines = [*shas, *(f"^{tip}" for tip in tips)]
    told = repository.run("rev-list", "--stdin", stdin=_lines(lines))
    return _reachable.put(key, frozenset(shas) - set(told.decode().split()))


def resolve(repository: Repository, names: Iterable[str]) -> dict[str, str]:
    """The commit of each full or short sha; a name of no commit, or of several, is left out."""
    wanted = [name for name in dict.fromkeys(names) if HEX.fullmatch(name)]
    found = {name: sha for name in wanted if (sha := _resolved.get((repository.common_dir, name)))}
    asked = [name for name in wanted if name not in found]
    if not asked:
        return found
    told = repository.run(
        "cat-file", "--batch-check=%(objectname) %(objecttype)",
        stdin=_lines(f"{name}^{{commit}}" for name in asked),
    )  # fmt: skip
    for name, line in zip(asked, told.decode().splitlines(), strict=False):
        sha, _, kind = line.partition(" ")
        if kind == "commit":
            found[name] = _resolved.put((repository.common_dir, name), sha)
    return found


def straight(repository: Repository, sha: str, most: int) -> list[tuple[str, str]]:
    """The commit and its ancestors, newest first, at most `most`, each with its only parent. The
    list ends before the first commit that has no parent or several."""
    asked = [sha, *(f"{sha}~{n}" for n in range(1, most))]
    line = list(takewhile(lambda found: len(found) == 1, objects.parents(repository, asked)))
    parents = [parent for (parent,) in line]
    return list(zip([sha, *parents], parents, strict=False))


def forget() -> None:
    """Clear the cache of `resolve`: a commit that was found once may have been pruned since."""
    _resolved.clear()


def merge_base(repository: Repository, shas: Collection[str]) -> str | None:
    """The best common ancestor of all these commits; None if one is missing or they have none."""
    key = (repository.common_dir, repository.shallow, frozenset(shas))
    known = _bases.get(key)
    if known is None:
        try:
            told = repository.run("merge-base", "--octopus", *sorted(set(shas)), accepted=(0, 1))
        except GitError as error:
            if error.kind == "timeout":
                raise
            return None  # not cached: a fetch may bring the commit back
        known = _bases.put(key, told.decode().strip())
    return known or None


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
