"""What changed between two versions: raw -U0 myers diffs, renames, the digest of a file's change.

Always raw: no display filter, no whitespace option, no attribute counts here.
"""

from __future__ import annotations

import hashlib
import logging
import re
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from config.git import command
from config.git.command import GitError
from review import caches
from review.git import objects, output, staying
from review.git.commits import Changed, Commit
from review.git.diffs import hunks, hunkstream
from review.git.diffs.hunks import Edit
from review.git.ranges import unknown
from review.git.repository import Repository

__all__ = [
    "Edit", "change_digest", "commit_edits", "commit_patch", "edits", "hunk_digests", "interdiff",
    "renames", "streamed_edits",
]  # fmt: skip

log = logging.getLogger(__name__)

RAW = ("--no-ext-diff", "--no-textconv", "--no-color", "--diff-algorithm=myers")
TREES = ("diff-tree", "-r", "--raw", "-z", "--no-abbrev", "-l1000", *RAW)
HUNKS = (*TREES, "-p", "-U0", "-M")
STAYS = (*HUNKS, "--stdin", "--no-commit-id")
PAIR = re.compile(rb"1:\s+[0-9a-f]+ [!=] 1:")
FEW = 200  # for more paths than this, git compares all files

T = TypeVar("T")
DiffKey = tuple[Path, str, str | None]  # common dir, sha, parent
_edits: caches.Memory[tuple[Path, str, str], tuple[Edit, ...]]
_edits = caches.Memory(200_000, weigh=lambda found: 1 + len(found))
_commit_edits: caches.Memory[DiffKey, dict[str, tuple[Edit, ...]]]
_commit_edits = caches.Memory(
    200_000, weigh=lambda found: sum(1 + len(edits) for edits in found.values())
)
_digests: caches.Memory[DiffKey, dict[str, str]] = caches.Memory(50_000, weigh=len)
_renames: caches.Memory[tuple[Path, str, str], Mapping[str, str]] = caches.Memory(1024)


def edits(repository: Repository, old_oid: str | None, new_oid: str | None) -> tuple[Edit, ...]:
    """The -U0 hunks between two blobs. None stands for an absent file; a binary file has no hunks.

    GitError when an object is missing.
    """
    if old_oid == new_oid:
        return ()
    key = (repository.common_dir, old_oid or "", new_oid or "")
    known = _edits.get(key)
    if known is not None:
        return known
    if old_oid is None or new_oid is None:
        return _edits.put(key, _whole(repository, old_oid, new_oid))
    for oid in (old_oid, new_oid):
        if not output.SHA.fullmatch(oid):
            raise unknown(oid)
    patch = repository.run("diff", "-U0", *RAW, "--no-renames", old_oid, new_oid)
    return _edits.put(key, hunks.edits(patch))


def commit_edits(
    repository: Repository, commit: Commit, paths: Collection[str] | None = None
) -> dict[str, tuple[Edit, ...]]:
    """The -U0 hunks of each file of a commit, or only of `paths`, from one diff-tree.

    Files with a missing object are left out. GitError timeout or failed.
    """
    key = (repository.common_dir, commit.sha, commit.parent)
    known = _commit_edits.get(key)
    wanted = [file for file in commit.files if paths is None or file.path in paths]
    if known is None:
        known = _read(repository, commit, wanted, lambda _file, patch: hunks.edits(patch))
        if len(known) == len(commit.files):
            _commit_edits.put(key, known)
    return {file.path: known[file.path] for file in wanted if file.path in known}


@contextmanager
def streamed_edits(
    repository: Repository, commit: Commit, paths: Collection[str] | None = None
) -> Iterator[Iterator[tuple[str, tuple[Edit, ...]]]]:
    """Like `commit_edits`, file by file in the commit's order. Git starts at once.

    GitError timeout or failed while the result is read.
    """
    known = _commit_edits.get((repository.common_dir, commit.sha, commit.parent))
    wanted = [file for file in commit.files if paths is None or file.path in paths]
    if known is not None:
        yield ((file.path, known[file.path]) for file in wanted if file.path in known)
        return
    with _patch_pieces(repository, commit, wanted) as pieces:
        yield _edits_of(repository, commit, wanted, pieces)


def hunk_digests(
    repository: Repository, commit: Commit, paths: Collection[str] | None = None
) -> dict[str, str]:
    """The digest that a viewed mark stores, for each file of a commit or only for `paths`, by path:
    64 hex digits.

    It is the sha256 over old mode, new mode, status and the hunk lines without their numbers; over
    both oids for a binary file or one whose object is missing.
    """
    key = (repository.common_dir, commit.sha, commit.parent)
    known = _digests.get(key) or {}
    wanted = [file for file in commit.files if paths is None or file.path in paths]
    asked = [file for file in wanted if file.path not in known]
    if asked:
        known = _digests.put(key, known | _read(repository, commit, asked, _digest))
    return {file.path: known.get(file.path) or _digest(file, None) for file in wanted}


def change_digest(repository: Repository, commit: Commit) -> str:
    """The digest that a verdict stores of the change it judged: 64 hex digits.

    Unlike a patch id, it covers whitespace, modes and binary contents. The same change has the same
    digest wherever its lines are.
    """
    told = hashlib.sha256()
    found = hunk_digests(repository, commit)
    for file in sorted(commit.files, key=lambda file: file.path):
        names = f"{file.old_path or ''}\0{file.path}\0{found[file.path]}\0"
        told.update(names.encode(errors="surrogateescape"))
    return told.hexdigest()


def renames(repository: Repository, old_commit: str, new_commit: str) -> Mapping[str, str]:
    """Old path -> new path between two commits, by -M; empty if a commit is gone."""
    if old_commit == new_commit:
        return {}
    key = (repository.common_dir, old_commit, new_commit)
    known = _renames.get(key)
    if known is None:
        known = _find_renames(repository, old_commit, new_commit)
        if known is None:  # objects may arrive later
            return {}
        _renames.put(key, known)
    return known


def interdiff(repository: Repository, old: str, new: str, paths: Collection[str] = ()) -> str:
    """How one commit became the other, as their range-diff: a line with `=` if they are equal.

    Limited to `paths` if any are given. Merges and roots, which range-diff leaves out, are shown
    by a diff of the two patches ("" for equal ones). GitError revision when a commit is gone.
    """
    for sha in (old, new):
        if not output.SHA.fullmatch(sha) or not objects.exists(repository, sha):
            raise unknown(sha)
    data = _range_diff(repository, old, new, paths)
    if data is None:
        data = _diff_of_patches(repository, old, new, paths)
    return objects.text(data)[0]


def commit_patch(repository: Repository, commit: Commit, paths: Collection[str] = ()) -> bytes:
    """The change of a commit against its first parent as git writes it, with renames; limited to
    `paths` if any are given. GitError timeout or failed."""
    trees = (commit.parent or repository.empty_tree, commit.sha)
    return repository.run("diff-tree", "-r", "-p", "-M", "-l1000", *RAW, *trees, "--", *paths)


def _range_diff(repository: Repository, old: str, new: str, paths: Collection[str]) -> bytes | None:
    """None where range-diff cannot compare: merges, roots, paths that only one of both changes."""
    told = repository.run("rev-list", "--parents", "--no-walk=unsorted", old, new)
    if any(line.count(b" ") != 1 for line in told.splitlines()):
        return None
    asked = ("--no-color", "--creation-factor=999", "--no-notes", *RAW, f"{old}^!", f"{new}^!")
    if not paths:
        return repository.run("range-diff", *asked)
    try:
        data = repository.run("range-diff", *asked, "--", *paths)
    except GitError:  # git before 2.38 takes no paths here
        return None
    return data if PAIR.match(data) else None


def _diff_of_patches(repository: Repository, old: str, new: str, paths: Collection[str]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="svc-interdiff-") as folder:
        for name, sha in (("old", old), ("new", new)):
            show = (
                "show",
                "--format=%B",
                "-p",
                "-M",
                "--diff-merges=first-parent",
                *RAW,
                sha,
                "--",
                *paths,
            )
            Path(folder, name).write_bytes(repository.run(*show))
        return command.run(
            Path(folder), "diff", "--no-index", "--no-prefix", *RAW, "old", "new",
            environ=repository.environ, accepted=(0, 1),
        )  # fmt: skip


def _find_renames(repository: Repository, old: str, new: str) -> Mapping[str, str] | None:
    if not (output.SHA.fullmatch(old) and output.SHA.fullmatch(new)):
        return None
    for similar in ("-M", "-M100%"):  # -M100% compares ids, so blobs may be missing
        try:
            data = repository.run(*TREES, similar, "--diff-filter=R", old, new, "--")
        except GitError as error:
            if error.kind == "timeout":  # a retry would fail too: nothing is renamed
                log.warning("renames are unknown", extra={"from": old, "to": new})
                return {}
            continue
        return {file.old_path: file.path for file in output.files(data) if file.old_path}
    return None


def _whole(repository: Repository, old_oid: str | None, new_oid: str | None) -> tuple[Edit, ...]:
    """The one hunk of an added or a deleted file."""
    oid = old_oid or new_oid or ""
    data = objects.blob(repository, oid)
    if data is None:
        raise unknown(oid)
    count = data.count(b"\n") + (not data.endswith(b"\n"))
    if not data or objects.is_binary(data):
        return ()
    return ((0, 0, 1, count),) if old_oid is None else ((1, count, 0, 0),)


def _read(
    repository: Repository,
    commit: Commit,
    files: Collection[Changed],
    read: Callable[[Changed, bytes], T],
) -> dict[str, T]:
    """The result of `read` for each file's hunks, by path.

    In a partial clone, only for files whose objects are all here.
    """
    limited = len(files) < len(commit.files) and len(files) <= FEW
    try:
        found = _diff_tree(repository, commit, files, read, limited=limited)
    except GitError as error:
        if error.kind == "timeout":
            raise
        missing = objects.missing(repository, (oid for file in files for oid in file.blobs))
        here = [file for file in files if missing.isdisjoint(file.blobs)]
        if len(here) == len(files):
            raise
        return _diff_tree(repository, commit, here, read, limited=True)
    if limited and len(found) < len(files):  # renames may pair differently
        return _diff_tree(repository, commit, files, read, limited=False)
    return found


@contextmanager
def _patch_pieces(
    repository: Repository, commit: Commit, files: Collection[Changed]
) -> Iterator[Iterator[bytes]]:
    """Git's output for the hunks of these files, or of all. A small commit is read through a
    long-running git: to start one takes several times as long as its answer."""
    limited = len(files) < len(commit.files) and len(files) <= FEW
    if commit.parent and not limited and len(commit.files) <= FEW:
        with staying.answer(repository, STAYS, f"{commit.sha} {commit.parent}\n") as pieces:
            yield pieces
        return
    process = repository.spawn(*_patches(repository, commit, files, limited=limited))
    try:
        yield command.pieces(process)
    finally:
        command.end(process)


def _edits_of(
    repository: Repository,
    commit: Commit,
    files: Collection[Changed],
    pieces: Iterator[bytes],
) -> Iterator[tuple[str, tuple[Edit, ...]]]:
    """The hunks of these files as git prints them; those it leaves out come from commit_edits."""
    wanted = {(file.path, file.old_path) for file in files}
    found: dict[str, tuple[Edit, ...]] = {}
    try:
        for file, edits in hunkstream.edits(pieces):
            if (file.path, file.old_path) in wanted:
                found[file.path] = edits
                yield file.path, edits
    except staying.Died:
        log.debug("git died of a diff", extra={"commit": commit.sha})
    except GitError as error:
        if error.kind == "timeout":
            raise
    if len(found) == len(commit.files):
        _commit_edits.put((repository.common_dir, commit.sha, commit.parent), found)
    elif missing := [file.path for file in files if file.path not in found]:
        yield from commit_edits(repository, commit, missing).items()


def _diff_tree(
    repository: Repository,
    commit: Commit,
    files: Collection[Changed],
    read: Callable[[Changed, bytes], T],
    *,
    limited: bool,
) -> dict[str, T]:
    if not files:
        return {}
    data = repository.run(*_patches(repository, commit, files, limited=limited))
    wanted = {(file.path, file.old_path) for file in files}
    return {
        file.path: read(file, patch)
        for file, patch in hunks.sections(data)
        if (file.path, file.old_path) in wanted
    }


def _patches(
    repository: Repository, commit: Commit, files: Iterable[Changed], *, limited: bool
) -> list[str]:
    """The command that prints the hunks of these files, or of all."""
    paths = [path for file in files for path in (file.path, file.old_path) if path]
    trees = (commit.parent or repository.empty_tree, commit.sha)
    return [*HUNKS, *trees, "--", *(paths if limited else ())]


def _digest(file: Changed, patch: bytes | None) -> str:
    told = hashlib.sha256(f"{file.old_mode} {file.new_mode} {file.status}\n".encode())
    if patch is None or hunks.is_binary(patch):
        told.update(f"{file.old_oid} {file.new_oid}".encode())
    else:
        told.update(hunks.without_numbers(patch))
    return told.hexdigest()
