"""Commits of a partial clone, where objects are missing: shows what is here, fetches nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from config.git.command import GitError
from review.git import objects, output
from review.git.commits import Commit
from review.git.repository import Repository


def commits(
    repository: Repository, walk: Sequence[str], files: Sequence[str], span: Sequence[str]
) -> tuple[list[Commit], list[str]]:
    """The commits of a log, counted where all objects are here, and the shas of the others.

    A commit with a missing tree has no files. GitError if a commit object is missing.
    """
    listing = [*walk, *files, "-M100%"]
    try:
        listed = list(output.commits(repository.run(*listing, *span)))
    except GitError:
        bare = list(output.commits(repository.run(*walk, *span)))
        listed = _with_files(repository, listing, bare)
    blobs = {oid for commit in listed for file in commit.files for oid in file.blobs}
    missing = objects.missing(repository, blobs)
    whole = [commit.sha for commit in listed if _has_all(commit, missing)]
    counted = _count(repository, [*walk, *files], whole)
    found = [counted.get(commit.sha, commit) for commit in listed]
    return found, [commit.sha for commit in found if not commit.counted]


def _with_files(
    repository: Repository, listing: Sequence[str], bare: Sequence[Commit]
) -> list[Commit]:
    """The same commits with their files, where both trees are here."""
    ends = {sha for commit in bare for sha in (commit.sha, *commit.parents[:1])}
    roots = objects.roots(repository, ends)
    lacking = objects.missing(repository, roots.values())
    here = {sha for sha, tree in roots.items() if tree not in lacking}
    return [
        _one(repository, listing, commit)
        if {commit.sha, *commit.parents[:1]} <= here
        else replace(commit, counted=False)
        for commit in bare
    ]


def _one(repository: Repository, listing: Sequence[str], bare: Commit) -> Commit:
    try:
        return next(output.commits(repository.run(*listing, "--no-walk", bare.sha)))
    except GitError as error:
        if error.kind == "timeout":
            raise
        return replace(bare, counted=False)  # a subtree is missing


def _has_all(commit: Commit, missing: set[str]) -> bool:
    return bool(commit.files) and not any(
        file.old_oid in missing or file.new_oid in missing for file in commit.files
    )


def _count(repository: Repository, log: Sequence[str], shas: list[str]) -> dict[str, Commit]:
    if not shas:
        return {}
    data = repository.run(
        *log, "--numstat", "--no-walk=unsorted", "--stdin", stdin="\n".join([*shas, ""]).encode()
    )
    return {commit.sha: commit for commit in output.commits(data)}
