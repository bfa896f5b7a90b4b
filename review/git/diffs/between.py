"""How the trees of two commits differ, hunk by hunk, and which hunks are equal to others.

A hunk is identified by the digest of its lines, so that a hunk that a new base brought into a file
is recognised in the diff of two versions of a commit.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Mapping
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

from review import caches
from review.git.commits import Changed, Commit
from review.git.diffs import diff, hunks
from review.git.diffs.hunks import Edit
from review.git.repository import Repository

MOST = 400  # paths on one command line; for more, git compares all files

Hunk = tuple[Edit, bytes]
Differences = Mapping[Changed, tuple[Hunk, ...]]
_found: caches.Memory[tuple[Path, str, str, frozenset[str] | None], Differences]
_found = caches.Memory(100_000, weigh=lambda found: sum(1 + len(hunks) for hunks in found.values()))


def between(
    repository: Repository, old: str | None, new: str | None, paths: Collection[str] | None = None
) -> Differences:
    """The files that differ, with their -U0 hunks; None stands for the empty tree.

    With `paths`, only those files, and renames among them. GitError if a commit is gone.
    """
    left, right = (one or repository.empty_tree for one in (old, new))
    few = frozenset(paths) if paths is not None and len(paths) <= MOST else None
    if left == right or (paths is not None and not paths):
        return {}
    key = (repository.common_dir, left, right, few)
    found = _found.get(key)
    if found is None:
        data = repository.run(*diff.TREES, "-p", "-U0", "-M", left, right, "--", *sorted(few or ()))
        found = dict(_with_counts(file, patch) for file, patch in hunks.sections(data))
        _found.put(key, found)
    if paths is None or few is not None:
        return found
    wanted = frozenset(paths)
    return {file: told for file, told in found.items() if not wanted.isdisjoint(names([file]))}


def forget() -> None:
    """Clear the cache of comparisons."""
    _found.clear()


def as_commit(new: Commit, old: str | None, found: Differences) -> Commit:
    """The newer commit as if the older one were its parent."""
    return replace(new, parents=(old,) if old else (), files=tuple(found), counted=True)


def names(files: Collection[Changed]) -> set[str]:
    """The paths of these files before and after the change."""
    return {path for file in files for path in (file.path, file.old_path) if path}


def equal(mine: tuple[Hunk, ...], others: tuple[Hunk, ...]) -> list[int]:
    """Indices of the hunks in `mine` that equal one in `others`; each matches once, in order."""
    places: dict[bytes, list[int]] = {}
    for k, (_, digest) in enumerate(others):
        places.setdefault(digest, []).append(k)
    found, at = [], 0
    for n, (_, digest) in enumerate(mine):
        there = places.get(digest, [])
        first = bisect_left(there, at)
        if first < len(there):
            found.append(n)
            at = there[first] + 1
    return found


def _with_counts(file: Changed, patch: bytes) -> tuple[Changed, tuple[Hunk, ...]]:
    """The file with its hunks, and with line counts unless it is binary or a submodule."""
    told = _hunks(patch)
    if file.is_submodule or hunks.is_binary(patch):
        return file, told
    added, gone = sum(edit[3] for edit, _ in told), sum(edit[1] for edit, _ in told)
    return file._replace(additions=added, deletions=gone), told


def _hunks(patch: bytes) -> tuple[Hunk, ...]:
    heads = list(hunks.HUNK.finditer(patch))
    ends = [*(head.start() for head in heads[1:]), len(patch)][: len(heads)]
    return tuple(
        (edit, blake2b(_lines(patch, head.end(), end), digest_size=8).digest())
        for edit, head, end in zip(hunks.edits(patch), heads, ends, strict=True)
    )


def _lines(patch: bytes, start: int, end: int) -> bytes:
    """The lines of a hunk without its `@@` header line."""
    return patch[patch.find(b"\n", start) : end].rstrip(b"\n")
