"""Read refs from their files, without a process: loose refs override packed-refs, as in git.

Only for files in the plain form that git writes; anything else (reftables, extensions, links,
unusual names or contents) is left for git to read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from config.git import walled
from config.storage import opening
from review.git import catfile
from review.git.output import SHA
from review.git.repository import LARGEST, LONGEST, Repository

PACKED = 64 << 20  # bytes of packed-refs: half a million refs
OWN = ("refs/bisect", "refs/worktree", "refs/rewritten")  # a linked worktree has its own
NAME = re.compile(r"refs(?:/(?!\.)[^\x00-\x20\x7f~^:?*\[\\/]+(?<!\.)(?<!\.lock))+")
TAGGED = re.compile(rb"object ([0-9a-f]{40}(?:[0-9a-f]{24})?)\ntype ([a-z]+)\n")
NEVER = re.compile(r"\.\.|@\{")
DEPTH = 5  # longest chain of symbolic refs, or of tags of tags


class Ref(NamedTuple):
    """`sha` is the commit it leads to, "" for none; `symref` the final ref of a symbolic ref."""

    sha: str
    symref: str = ""


class Unusual(Exception):
    """The files are not in plain form: git has to read the refs."""


def read(repository: Repository, *, but: str) -> dict[str, Ref] | None:
    """Every ref by its full name; None if git has to be asked, as always behind a wall. Refs whose
    names begin with `but` keep their own object, of any type. GitError if a long-running git does
    not answer."""
    if walled.standing():
        return None
    try:
        found = dict(_refs(repository))
        names = sorted(found, key=os.fsencode)  # git's order
        refs = {name: ref for name in names if (ref := _resolve(name, found))}
        commits = _commits(
            repository, {ref.sha for name, ref in refs.items() if not name.startswith(but)}
        )
    except (Unusual, OSError):
        return None
    return {
        name: ref if name.startswith(but) else ref._replace(sha=commits.get(ref.sha, ""))
        for name, ref in refs.items()
    }


def _commits(repository: Repository, shas: Collection[str]) -> dict[str, str]:
    """The commit that each object leads to, through tags; a missing object stands for itself.
    Objects that lead to a blob or a tree are left out."""
    ends = {sha: sha for sha in shas}
    kinds = {sha: told[0] if told else "commit" for sha, told in catfile.infos(repository, shas)}
    for _ in range(DEPTH):
        tags = sorted({end for end in ends.values() if kinds[end] == "tag"})
        leads = {tag: _parse_tag(told) for tag, told in catfile.contents(repository, tags)}
        kinds |= dict(leads.values())
        ends = {sha: leads[end][0] if end in leads else end for sha, end in ends.items()}
    if "tag" in (kinds[end] for end in ends.values()):
        raise Unusual
    return {sha: end for sha, end in ends.items() if kinds[end] == "commit"}


def _parse_tag(told: catfile.Object | None) -> tuple[str, str]:
    """The id and the type of the object that a tag names."""
    found = TAGGED.match(told[1]) if told else None
    if found is None:
        raise Unusual
    return found[1].decode(), found[2].decode()


def _refs(repository: Repository) -> Iterator[tuple[str, Ref]]:
    """Yield packed refs, then loose ones, which override them. The loose ones are read first, since
    git packs a ref before it removes its file."""
    common, own = os.fspath(repository.common_dir), os.fspath(repository.git_dir)
    config = opening.contents(f"{common}/config", limit=LARGEST).lower()
    if b"extensions" in config or os.path.lexists(f"{common}/reftable"):
        raise Unusual
    linked = own != common
    loose = list(_loose(common, "refs", OWN if linked else ()))
    for name in OWN if linked else ():
        loose += _loose(own, name)
    yield from _read_packed(f"{common}/packed-refs")
    yield from loose


def _loose(base: str, name: str, without: Collection[str] = ()) -> Iterator[tuple[str, Ref]]:
    try:
        entries = list(os.scandir(f"{base}/{name}"))
    except FileNotFoundError:
        return
    for entry in entries:
        inner = f"{name}/{entry.name}"
        if entry.is_symlink():
            raise Unusual
        if entry.is_dir():
            if inner not in without:
                yield from _loose(base, inner)
        elif not entry.name.endswith(".lock"):
            yield _check_name(inner), _ref(entry.path)


def _ref(path: str) -> Ref:
    text = os.fsdecode(opening.contents(path, limit=LONGEST))
    line = text.removesuffix("\n")
    if line.startswith("ref: "):
        return Ref("", _check_name(line.removeprefix("ref: ")))
    if line == text or not SHA.fullmatch(line) or not line.strip("0"):
        raise Unusual
    return Ref(line)


def _read_packed(path: str) -> Iterator[tuple[str, Ref]]:
    try:
        data = opening.contents(path, limit=PACKED)
    except FileNotFoundError:
        return
    *lines, rest = os.fsdecode(data).split("\n")
    if rest:
        raise Unusual
    for line in lines:
        if line.startswith(("#", "^")):
            continue
        sha, _, name = line.partition(" ")
        if not SHA.fullmatch(sha):
            raise Unusual
        yield _check_name(name), Ref(sha)


def is_name(text: str) -> bool:
    """Whether this is a valid name of a ref."""
    return bool(NAME.fullmatch(text)) and not NEVER.search(text)


def _check_name(name: str) -> str:
    if not is_name(name):
        raise Unusual
    return name


def _resolve(name: str, found: Mapping[str, Ref]) -> Ref | None:
    """The ref with the object that its symbolic refs lead to; None if they lead nowhere."""
    target, symref = found[name], ""
    for _ in range(DEPTH):
        if target.sha:
            return Ref(target.sha, symref)
        symref = target.symref
        if symref not in found:
            return None
        target = found[symref]
    return None
