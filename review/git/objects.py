"""Blobs, trees and commits by object id; no path ever reaches git's command line."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Literal

from review import caches
from review.git import catfile
from review.git.commits import SUBMODULE
from review.git.repository import Repository

SNIFFED = 8000  # bytes
OTHER = re.compile("[^\x00-\x7f\ufffd]")  # neither ASCII nor the replacement character
Kind = Literal["blob", "tree", "commit"]
Tree = dict[bytes, "Entry"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a tree; kind "commit" is a submodule."""

    mode: str  # six octal digits
    oid: str
    kind: Kind


_trees: caches.Memory[tuple[Path, str], Tree] = caches.Memory(100_000, weigh=len)
_roots: caches.Memory[tuple[Path, str], str] = caches.Memory(4096)  # commit -> its tree


def blob(repository: Repository, oid: str) -> bytes | None:
    """A file's bytes; None when the object is missing or not a blob. GitError timeout."""
    return dict(blobs(repository, [oid]))[oid]


def blobs(repository: Repository, oids: Iterable[str]) -> Iterator[tuple[str, bytes | None]]:
    """Yield many files' bytes in the order asked, each as soon as git has sent it."""
    for oid, found in catfile.contents(repository, oids):
        yield oid, found[1] if found is not None and found[0] == "blob" else None


def is_binary(data: bytes) -> bool:
    """Whether git treats the data as binary, attributes aside: a NUL near the beginning."""
    return b"\0" in data[:SNIFFED]


def text(data: bytes) -> tuple[str, str]:
    """The contents as text, and their encoding: `utf-8`, `windows-1252` or `unknown`.

    Contents without any sign of UTF-8 are read as Windows-1252, which includes Latin-1. Contents
    that are neither are decoded with replacement characters.
    """
    try:
        return data.decode(), "utf-8"
    except UnicodeDecodeError:
        marked = data.decode(errors="replace")
    if not OTHER.search(marked):
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode("windows-1252"), "windows-1252"
    return marked, "unknown"


def exists(repository: Repository, sha: str) -> bool:
    return not missing(repository, [sha])


def kind(repository: Repository, oid: str) -> str | None:
    """blob, tree, commit or tag; None when the object is missing."""
    found = dict(catfile.infos(repository, [oid]))[oid]
    return found and found[0]


def missing(repository: Repository, oids: Iterable[str]) -> set[str]:
    """The ids of those objects that are not here."""
    return {oid for oid, found in catfile.infos(repository, oids) if found is None}


def entry(repository: Repository, commit_sha: str, path: str) -> Entry | None:
    """The entry at `path` in the commit's tree; None if there is none or a tree is missing."""
    return entries(repository, commit_sha, [path]).get(path)


def entries(repository: Repository, commit_sha: str, paths: Iterable[str]) -> dict[str, Entry]:
    """The entries at many paths, like `entry`. Trees of one depth are read together, to save round
    trips to git."""
    root = _root(repository, commit_sha)
    names = {path: path.encode("utf-8", "surrogateescape").split(b"/") for path in paths}
    folders = dict.fromkeys(names, root) if root else {}
    found: dict[str, Entry] = {}
    depth = 0
    while folders:
        known = _trees_of(repository, set(folders.values()))
        above, folders = folders, {}
        for path, oid in above.items():
            one = known.get(oid, {}).get(names[path][depth])
            if one is not None and depth + 1 == len(names[path]):
                found[path] = one
            elif one is not None and one.kind == "tree":
                folders[path] = one.oid
        depth += 1
    return found


def roots(repository: Repository, commit_shas: Iterable[str]) -> dict[str, str]:
    """The tree of each commit that is here."""
    return {
        sha: _id(found[1].partition(b"\n")[0].removeprefix(b"tree "))
        for sha, found in catfile.contents(repository, commit_shas)
        if found is not None and found[0] == "commit"
    }


def parents(repository: Repository, names: Iterable[str]) -> list[list[str]]:
    """The parents of each commit as it is stored, named by id or `<id>~<n>`; empty if it is not
    here."""
    return [_parents(*(found or ("", b""))) for _, found in catfile.contents(repository, names)]


def _parents(kind: str, data: bytes) -> list[str]:
    """The parents as git reads them: only the headers directly after the tree count."""
    lines = data.partition(b"\n\n")[0].split(b"\n")[1:] if kind == "commit" else []
    return [_id(line[7:]) for line in takewhile(lambda line: line.startswith(b"parent "), lines)]


def _id(text: bytes) -> str:
    """An id as a commit writes it; in a damaged commit it may be any text, which names no
    object."""
    return text.decode("ascii", "replace")


def _root(repository: Repository, commit_sha: str) -> str | None:
    key = (repository.common_dir, commit_sha)
    known = _roots.get(key)
    if known is None:
        found = roots(repository, [commit_sha])
        known = _roots.put(key, found[commit_sha]) if found else None
    return known


def tree(repository: Repository, oid: str) -> Tree:
    """The entries of a tree, by name; empty if it is missing or damaged."""
    return _trees_of(repository, [oid]).get(oid, {})


def _trees_of(repository: Repository, oids: Iterable[str]) -> dict[str, Tree]:
    """These trees by id, without those that are missing or damaged."""
    found: dict[str, Tree] = {repository.empty_tree: {}}  # git need not store it
    asked = []
    for oid in oids:
        known = _trees.get((repository.common_dir, oid))
        if known is not None:
            found[oid] = known
        elif oid not in found:
            asked.append(oid)
    for oid, told in catfile.contents(repository, asked):
        if told is not None and told[0] == "tree":
            with contextlib.suppress(ValueError):
                read = _parse_tree(told[1], 32 if repository.sha256 else 20)
                found[oid] = _trees.put((repository.common_dir, oid), read)
    return found


def _parse_tree(data: bytes, oid_size: int) -> Tree:
    """A tree object: `mode SP name NUL oid`, repeated. ValueError for anything else."""
    found: Tree = {}
    at = 0
    while at < len(data):
        space = data.index(b" ", at)
        end = data.index(b"\0", space)
        mode = data[at:space].decode().zfill(6)
        at = end + 1 + oid_size
        kind: Kind = {"040000": "tree", SUBMODULE: "commit"}.get(mode, "blob")  # type: ignore[assignment]
        found[data[space + 1 : end]] = Entry(mode, data[end + 1 : at].hex(), kind)
    return found
