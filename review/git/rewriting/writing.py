"""Write blobs, trees and commits for changed files, without an index."""

from __future__ import annotations

from collections.abc import Mapping

from review.git import objects
from review.git.objects import Entry
from review.git.repository import Repository
from review.git.rewriting import raw


def blob(repository: Repository, data: bytes) -> str:
    """Store the bytes as they are, without filters."""
    told = repository.run("hash-object", "-t", "blob", "-w", "--stdin", stdin=data)
    return told.decode().strip()


def tree(repository: Repository, commit: str, blobs: Mapping[str, str]) -> str:
    """Write the commit's tree with other blobs at these paths, which must be files in it."""
    named = {path.encode("utf-8", "surrogateescape"): oid for path, oid in blobs.items()}
    return _tree(repository, objects.roots(repository, [commit])[commit], named)


def commit(repository: Repository, tree: str, parent: str, committer: bytes, message: str) -> str:
    """Write a commit on top of `parent`, with the committer as its author."""
    lines = [f"tree {tree}".encode(), f"parent {parent}".encode()]
    lines += [b"author " + committer, b"committer " + committer, b"", message.encode()]
    return raw.store(repository, b"\n".join(lines) + b"\n")


def _tree(repository: Repository, oid: str, blobs: Mapping[bytes, str]) -> str:
    entries = objects.tree(repository, oid)
    below: dict[bytes, dict[bytes, str]] = {}
    made = dict(entries)
    for path, blob in blobs.items():
        name, _, rest = path.partition(b"/")
        if rest:
            below.setdefault(name, {})[rest] = blob
        else:
            made[name] = Entry(entries[name].mode, blob, "blob")
    for name, inside in below.items():
        found = entries[name]
        made[name] = Entry(found.mode, _tree(repository, found.oid, inside), "tree")
    rows = [
        f"{entry.mode} {entry.kind} {entry.oid}\t".encode() + name + b"\0"
        for name, entry in made.items()
    ]
    return repository.run("mktree", "-z", "--missing", stdin=b"".join(rows)).decode().strip()
