"""Branches, tags and HEAD, read again when a stat shows that they moved: from plain files if
possible, else by one for-each-ref."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from config.git import command, walled
from config.git.command import GitError
from review import caches
from review.git import reffiles, underway
from review.git.reffiles import Ref
from review.git.repository import LARGEST, LONGEST, Repository, refuse_odd
from review.git.underway import MARKS, REBASES, Underway

HEADS, REMOTES, TAGS = underway.HEADS, "refs/remotes/", "refs/tags/"
OURS = "refs/svc"  # the service's own refs: not branches, and their moves do not count
STATED = ("HEAD", "packed-refs", "logs/HEAD", "shallow", "config", *MARKS)
RACY_NS = 50_000_000  # a file changed this recently may change again under the same stat
# Where git looks for a short name, first to last (gitrevisions).
RULES = (
    "{}",
    "refs/{}",
    "refs/tags/{}",
    "refs/heads/{}",
    "refs/remotes/{}",
    "refs/remotes/{}/HEAD",
)
SIMPLE = "%(refname)%00%(symref)%00%(objectname)"
PEELED = SIMPLE + "%00%(objecttype)%00%(*objectname)%00%(*objecttype)"


@dataclass(frozen=True)
class Refs:
    """Every ref that leads to a commit.

    `head` is None while HEAD's branch has no commit, `head_ref` is None when HEAD is detached.
    `symbolic`: full name of a symbolic ref -> the ref it stands for (refs/remotes/origin/HEAD).
    `underway`: the rebase or bisect that detached HEAD for a while. `ours`: the service's own refs,
    only as fresh as the last move of any other ref. `key` changes with everything except `ours`,
    and with the configuration, which names upstreams.
    """

    head: str | None
    head_ref: str | None
    shas: Mapping[str, str]
    key: str
    symbolic: Mapping[str, str] = field(default_factory=dict)
    underway: Underway | None = None
    ours: Mapping[str, str] = field(default_factory=dict)

    @property
    def settled(self) -> Refs:
        """These refs with HEAD where it was before the rebase or bisect in progress detached it."""
        was = self.underway
        return replace(self, head=was.sha, head_ref=was.ref) if was else self

    def branches_at(self, sha: str) -> list[str]:
        """Short names of the local branches at this commit, sorted."""
        return self._by_sha.get(sha, [])

    def branch(self, name: str) -> str | None:
        """The commit of a branch: the local one of this name, else a remote's."""
        name = name.removeprefix(HEADS)
        return self.shas.get(HEADS + name) or self._remote.get(name)

    def full_name(self, name: str) -> str | None:
        """The ref a short name stands for, by git's own rules; None when there is none."""
        return next((full for rule in RULES if (full := rule.format(name)) in self.shas), None)

    @cached_property
    def _by_sha(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name in sorted(self.shas):
            if name.startswith(HEADS):
                found.setdefault(self.shas[name], []).append(name.removeprefix(HEADS))
        return found

    @cached_property
    def _remote(self) -> dict[str, str]:
        """Commits of remote branches by branch name; among several remotes the first one wins."""
        found: dict[str, str] = {}
        for name in sorted(self.shas):
            if name.startswith(REMOTES) and name not in self.symbolic:
                _remote, _, branch = name.removeprefix(REMOTES).partition("/")
                found.setdefault(branch, self.shas[name])
        return found


_read: caches.Memory[tuple[Path, Path], tuple[str, Refs]] = caches.Memory(512)
_upstreams: caches.Memory[tuple[Path, str, str], str] = caches.Memory(512)


def read(repository: Repository) -> Refs:
    """The current refs; nothing is read while the stamp is unchanged. GitError as from `run`."""
    now = stamp(repository)
    place = (repository.common_dir, repository.git_dir)
    known = _read.get(place)
    if known is not None and known[0] == now:
        return known[1]
    refuse_odd(file for file, _ in _files(repository))
    found = _ask(repository)
    _read.put(place, (now, found))
    return found


def upstream(repository: Repository, refs: Refs) -> str:
    """The full name of the upstream of HEAD's branch, "" for none. One process, cached."""
    if refs.head_ref is None:
        return ""
    key = (repository.common_dir, refs.head_ref, refs.key)
    known = _upstreams.get(key)
    if known is None:
        told = command.run(repository.path, "for-each-ref", "--format=%(upstream)", refs.head_ref)
        known = _upstreams.put(key, os.fsdecode(told).strip())
    return known


def stamp(repository: Repository) -> str:
    """A value that changes whenever a ref may have moved; made by stat calls only.

    While a file is so new that its next change could go unnoticed, no two stamps are equal.
    """
    told = hashlib.sha256()
    newest = 0
    for path, found in _files(repository):
        newest = max(newest, found.st_mtime_ns)
        told.update(
            b"%s\0%d:%d:%d\n" % (os.fsencode(path), found.st_mtime_ns, found.st_size, found.st_ino)
        )
    if abs(time.time_ns() - newest) < RACY_NS:
        told.update(b"%d" % time.perf_counter_ns())
    return told.hexdigest()


def watched_folders(repository: Repository) -> list[Path]:
    """The folders in which files change when refs move, with all subfolders of `refs`."""
    found: list[str] = []
    for base in map(str, _bases(repository)):
        names = (base, *(f"{base}/{name}" for name in ("logs", "reftable", *REBASES)))
        found += [*filter(os.path.isdir, names), *_folders(f"{base}/refs", but=f"{base}/{OURS}")]
    return list(map(Path, found))


def _folders(top: str, but: str) -> Iterator[str]:
    """The folder and all folders below it, except `but`."""
    try:
        entries = list(os.scandir(top))
    except OSError:
        return
    yield top
    for entry in entries:
        if entry.is_dir(follow_symlinks=False) and entry.path != but:
            yield from _folders(entry.path, but)


def _bases(repository: Repository) -> list[Path]:
    return list(dict.fromkeys((repository.git_dir, repository.common_dir)))


def _files(repository: Repository) -> Iterator[tuple[str, os.stat_result]]:
    for base in map(str, _bases(repository)):
        for name in STATED:
            with contextlib.suppress(OSError):
                yield f"{base}/{name}", os.stat(f"{base}/{name}")  # noqa: PTH116 - hot path
        yield from _below(f"{base}/refs", but=f"{base}/{OURS}")
        yield from _below(f"{base}/reftable")


def _below(folder: str, but: str = "") -> Iterator[tuple[str, os.stat_result]]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            if entry.path != but:
                yield from _below(entry.path)
        elif not entry.name.endswith(".lock"):
            with contextlib.suppress(OSError):
                yield entry.path, entry.stat()


def _ask(repository: Repository) -> Refs:
    found = reffiles.read(repository, but=f"{OURS}/")
    if found is None:
        found = _by_git(repository)
    ours = {name: ref.sha for name, ref in found.items() if name.startswith(f"{OURS}/")}
    told = {name: ref for name, ref in found.items() if name not in ours}
    shas = {name: ref.sha for name, ref in told.items() if ref.sha}
    symbolic = {name: ref.symref for name, ref in told.items() if ref.symref}
    head, head_ref = _head(repository, shas)
    work = underway.read(repository.git_dir, shas) if head_ref is None else None
    told_all = (head, head_ref, shas, symbolic, work, _configuration(repository))
    key = hashlib.sha256(repr(told_all).encode()).hexdigest()
    return Refs(head, head_ref, shas, key, symbolic, work, ours)


def _by_git(repository: Repository) -> dict[str, Ref]:
    """One for-each-ref; if a ref leads to a missing object, a second one without peeling."""
    try:
        told = command.run(repository.path, "for-each-ref", f"--format={PEELED}%00")
    except GitError as error:
        if error.kind != "failed":
            raise
        told = command.run(repository.path, "for-each-ref", f"--format={SIMPLE}%00commit%00%00%00")
    found: dict[str, Ref] = {}
    for line in os.fsdecode(told).split("\0\n")[:-1]:
        name, symref, sha, kind, peeled, peeled_kind = line.split("\0")[:6]
        if not name.startswith(f"{OURS}/"):
            sha = _commit(repository, sha, kind, peeled, peeled_kind)
        found[name] = Ref(sha, symref)
    return found


def _configuration(repository: Repository) -> bytes:
    with contextlib.suppress(OSError):
        return walled.contents(repository.common_dir / "config", limit=LARGEST)
    return b""


def _commit(repository: Repository, sha: str, kind: str, peeled: str, peeled_kind: str) -> str:
    """The commit a ref leads to, "" if it leads to a blob or a tree."""
    if kind == "commit":
        return sha
    if peeled_kind == "commit":
        return peeled
    if peeled_kind != "tag":
        return ""
    try:  # a tag of a tag
        told = repository.run("rev-parse", "--verify", "-q", f"{sha}^{{commit}}")
    except GitError:
        return ""
    return told.decode().strip()


def _head(repository: Repository, shas: Mapping[str, str]) -> tuple[str | None, str | None]:
    """HEAD's commit and branch, from its file if that is a plain one, else from git."""
    path = repository.git_dir / "HEAD"
    try:
        data = b"" if path.is_symlink() else walled.contents(path, limit=LONGEST)
        text = os.fsdecode(data).strip()
    except OSError:
        text = ""
    name = text.removeprefix("ref: ").strip()
    if name != text and reffiles.is_name(name):  # with reftables it is not
        return shas.get(name), name
    if len(text) in (40, 64):
        return text, None
    try:
        name = os.fsdecode(command.run(repository.path, "symbolic-ref", "-q", "HEAD")).strip()
    except GitError:
        told = command.run(repository.path, "rev-parse", "--verify", "HEAD^{commit}")
        return told.decode().strip(), None
    return shas.get(name), name
