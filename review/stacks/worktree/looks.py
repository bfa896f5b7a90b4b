"""What is not committed: the work tree of a repository against its HEAD, diffed like a commit.

Read through a repository of ours with its own objects, so that a look writes nothing into the
user's repository and runs nothing of it. See docs/design/review.md#the-work-tree.
"""

from __future__ import annotations

import os
import shutil
import stat as modes
import time
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from config.errors import Conflict, Invalid, NotFound, Unavailable
from config.git import entries, shadow, snapshot
from config.git.command import GitError
from config.git.entries import Entry
from config.git.index import Index
from config.git.shadow import Shadow
from config.storage import files as storage
from review import caches, files, projects
from review.git import refs, underway
from review.git.commits import SUBMODULE, Changed, Commit, shown_path
from review.git.log import history
from review.git.output import SHA
from review.git.repository import Repository
from review.stacks.contents import files as texts
from review.stacks.contents import images

COUNTED_S = 2.0  # seconds; open pages ask often
MOST = 200  # files with texts in one answer
FRESH_S = 86_400  # objects of looks are deleted after a day


class Changes(TypedDict):
    """`head` is null before the first commit, `branch` while HEAD is detached. `left`: what is not
    compared, a folder with its slash. `look` names what was seen, for a commit of just that.
    `blocked`: why nothing can be committed now."""

    sha: str
    look: str
    blocked: str | None
    head: str | None
    branch: str | None
    additions: int
    deletions: int
    truncated: bool
    left: list[str]
    files: list[texts.Record]


class Seen(texts.Record):
    """One file of a look."""

    look: str


class Count(TypedDict):
    """How much is not committed in one repo."""

    repo: str
    head: str | None
    branch: str | None
    files: int
    additions: int
    deletions: int


class Counts(TypedDict):
    repos: list[Count]


_counted: caches.Memory[tuple[str, str], tuple[float, Count | None]] = caches.Memory(512)
_alone: caches.Memory[Path, tuple[str, Mapping[str, Entry]]] = caches.Memory(64)


@dataclass(frozen=True, slots=True)
class Look:
    """The work tree at one moment, as a commit of ours alone; `files` are those that differ."""

    repository: Repository
    commit: Commit
    files: tuple[Changed, ...]
    pointers: refs.Refs
    left: list[str]
    view: Shadow
    blocked: str | None

    @property
    def branch(self) -> str | None:
        name = self.pointers.head_ref
        return name.removeprefix(refs.HEADS) if name else None


def changes(project: str, repo: str, *, contents: Any = "all") -> Changes:
    """Every file that differs from HEAD; as many as asked for with texts, at most 200."""
    asked = texts.parse_wanted(contents)
    found = look(project, repo)
    most = asked if isinstance(asked, int) else len(found.files) if asked == "all" else 0
    most = min(most, MOST)
    return {
        "sha": files.WORKTREE,
        "look": found.commit.sha,
        "blocked": found.blocked or _detours(found.view),
        "head": found.pointers.head,
        "branch": found.branch,
        "additions": sum(file.additions or 0 for file in found.files),
        "deletions": sum(file.deletions or 0 for file in found.files),
        "truncated": len(found.files) > most,
        "left": [shown_path(name) for name in found.left],
        "files": list(_records(found, most)),
    }


def counts(project: str) -> Counts:
    """How much is not committed in each repo; one that cannot be looked at is left out."""
    names = [entry.name for entry in projects.get(project).repos if not entry.errors]
    found = [count(project, name) for name in names]
    return {"repos": [one for one in found if one]}


def count(project: str, repo: str) -> Count | None:
    """How much is not committed in one repo, at most 2 s old; None if no look is possible."""
    known = _counted.get((project, repo))
    if known is None or time.monotonic() - known[0] > COUNTED_S:
        known = _counted.put((project, repo), (time.monotonic(), _count(project, repo)))
    return known[1]


def forget(project: str, repo: str) -> None:
    """Drop the cached count, after the service itself changed something."""
    _counted.put((project, repo), (float("-inf"), None))


def _count(project: str, repo: str) -> Count | None:
    try:
        found = look(project, repo)
    except (GitError, NotFound, Unavailable):
        return None
    return {
        "repo": repo,
        "head": found.pointers.head,
        "branch": found.branch,
        "files": len(found.files),
        "additions": sum(file.additions or 0 for file in found.files),
        "deletions": sum(file.deletions or 0 for file in found.files),
    }


def file(project: str, repo: str, path: str | None) -> Seen:
    """One file that differs, whole. NotFound if it is as in HEAD."""
    if path is None:
        raise Invalid('"path" is required')
    found = look(project, repo)
    changed = find_file(found.files, path)
    if changed is None:
        raise NotFound('"path" is not a file that differs from HEAD')
    (record,) = texts.Files(found.repository, found.commit).whole([changed])
    return {**record, "look": found.commit.sha}


def image(project: str, repo: str, path: str | None, side: str | None) -> tuple[bytes, str]:
    """An image that differs, as in HEAD (LEFT) or in the work tree (RIGHT): its bytes and type."""
    found = look(project, repo)
    return images.of(found.repository, found.commit, path, side)


def find_file(files: Iterable[Changed], path: str) -> Changed | None:
    """The file of this path, as git or as an answer writes the path; else None."""
    return by_name(files).get(path)


def by_name(files: Iterable[Changed]) -> dict[str, Changed]:
    """Each file by its path, both as git and as an answer writes the path."""
    by_path = {file.path: file for file in files}
    return {shown_path(name): file for name, file in by_path.items()} | by_path


def refuse_left(found: Look, path: str) -> None:
    """Conflict if the path is one that is not compared."""
    if path in found.left or path in map(shown_path, found.left):
        text = f"{shown_path(path)} is not compared: it is no regular file, too large or unreadable"
        raise Conflict(text, code="not_compared")


def refuse_changed(
    repository: Repository,
    now: Commit,
    asked: Any,
    files: Iterable[Changed],
    gone: Collection[str] = (),
) -> None:
    """Conflict if HEAD or one of these files has changed since the look `asked`, or if one of
    `gone`, which no longer differ from HEAD, differed then. `now` is the latest look, in the
    repository of the looks. Invalid if `asked` is no look."""
    if asked is None or asked == now.sha:
        return
    if not (isinstance(asked, str) and SHA.fullmatch(asked)):
        raise Invalid('"look" must be the "look" of an answer about WORKTREE')
    try:
        before = history.commit(repository, asked)
    except GitError:
        raise Conflict("This look is too old; look again", code="changed") from None
    if (before.parents, before.subject) != (now.parents, now.subject):
        raise Conflict("HEAD has moved since you looked; look again", code="moved")
    were = {file.path: file for file in before.files}
    others = [file for file in files if were.get(file.path) != file]
    differed = by_name(before.files) if gone else {}
    others += [differed[name] for name in gone if name in differed]
    if others:
        name = shown_path(others[0].path)
        raise Conflict(f"{name} has changed since you looked; look again", code="changed")


def _detours(view: Shadow) -> str | None:
    """The reason if what is written here would land elsewhere, else None."""
    try:
        view.refuse_detours()
    except GitError as error:
        return not_writable(error)
    return None


def not_writable(error: GitError) -> str:
    return f"Nothing can be written here: {error.text}"


def _records(found: Look, most: int) -> Iterator[texts.Record]:
    shown = texts.Files(found.repository, found.commit)
    if most:
        yield from shown.whole(found.files[:most])
    for changed in found.files[most:]:
        yield shown.bare(changed)


def look(project: str, repo: str) -> Look:
    """Look at the work tree of a repo. NotFound for the project, the repo or its work tree, and
    with the reason if it cannot be read; GitError if git cannot answer."""
    return look_at(place(project, repo))


def place(project: str, repo: str) -> Path:
    """The path of the repo. NotFound also if its entry has errors."""
    entry = projects.repo(projects.get(project), repo)
    if entry.errors:
        raise _unread(entry.errors[0])
    return entry.path


def read(path: Path) -> tuple[Repository, refs.Refs]:
    """The repository at `path` and its refs. NotFound says why it cannot be read."""
    try:
        found = projects.open_at(path)
        return found, refs.read(found)
    except GitError as error:
        raise _unread(error.text) from None


def _unread(why: str) -> NotFound:
    return NotFound(f"What is not committed cannot be shown: {why}", code="unreadable")


def look_at(path: Path) -> Look:
    """Look at the work tree of the repository at `path`, like `look`."""
    theirs, pointers = read(path)
    with storage.lock(f"view:{os.path.realpath(path)}"):  # held also while it is made or renewed
        view = _renew(_view(path), path)
        taken, left_alone = snapshot.take(view), _left_alone(view)
        tree = _with(view, taken.tree, left_alone) if left_alone else taken.tree
        parents = [pointers.head] if pointers.head else []
        # the message names the branch, so that the same files on another branch are a different
        # look
        sha = snapshot.commit(view, tree, f"{files.WORKTREE} {pointers.head_ref or ''}", *parents)
    mine = Repository(
        view.root, view.dir, view.dir, view.sha256, shallow="", partial=theirs.partial, ours=True
    )
    made = history.commit(mine, sha)
    left = sorted({*taken.left, *_odd_paths(view, made.files)})
    differing = tuple(_differing(made, left, left_alone))
    blocked = underway.holding(theirs.git_dir)
    said = blocked and f"{blocked} is under way in this repository; finish or abort it first"
    return Look(mine, made, differing, pointers, left, view, said)


def _view(path: Path) -> Shadow:
    try:
        return open_shadow(path, view=True)
    except GitError as error:
        raise _unread(error.text) from None


def open_shadow(path: Path, *, view: bool = False) -> Shadow:
    """Our repository beside the one at `path`. NotFound without a work tree; GitError says why it
    cannot be read or, without `view`, written."""
    found = shadow.open_at(path, view=view)
    if found is None:
        raise NotFound("This repository has no work tree")
    return found


def _renew(view: Shadow, path: Path) -> Shadow:
    """The view; after a day a new one, without the objects of older looks."""
    if time.time() - (view.dir / "root").stat().st_mtime < FRESH_S:
        return view
    shutil.rmtree(view.dir, ignore_errors=True)
    return _view(path)


def _left_alone(view: Shadow) -> Mapping[str, Entry]:
    """The index entries that git does not compare with the work tree: marked as unchanged, or not
    part of a sparse checkout. Cached while the index file stays the same."""
    index = storage.stat_of(view.git_dir / "index") or ""
    known = _alone.get(view.root)
    if known is None or known[0] != index:
        known = _alone.put(view.root, (index, _marked_entries(view)))
    return known[1]


def _marked_entries(view: Shadow) -> Mapping[str, Entry]:
    told = view.theirs("ls-files", "-s", "-v", "-z")
    if (b"\0" + told).count(b"\0H ") == told.count(b"\0"):  # the usual case, fast for a long index
        return {}
    found = {}
    for line in snapshot.split(told):
        head, _, path = line.partition("\t")
        tag, mode, oid, _ = head.split(" ")
        if tag == "S" or tag.islower():
            found[path] = Entry(mode, oid)
    return found


def _with(view: Shadow, tree: str, wanted: Mapping[str, Entry]) -> str:
    """The tree with these entries set."""
    made = Index(view, "look", objects=view.dir / "objects")
    made.read(tree)
    made.set(wanted)
    return made.tree()


def _odd_paths(view: Shadow, files: Iterable[Changed]) -> Iterator[str]:
    """The paths of deleted files that now hold what git lists nowhere, such as a FIFO."""
    for file in files:
        mode = entries.mode_at(str(view.root), file.path) if file.status == "deleted" else 0
        if mode and not (modes.S_ISDIR(mode) or entries.is_stored(mode)):
            yield file.path


def _differing(commit: Commit, left: list[str], left_alone: Container[str]) -> Iterator[Changed]:
    """The changed files, without those that git does not compare and those that are only missing
    from our tree: submodules, and what is left out."""
    folders = tuple(name for name in left if name.endswith("/"))
    for file in commit.files:
        missing = file.path in left or file.path.startswith(folders)
        if file.status == "deleted" and (missing or file.old_mode == SUBMODULE):
            continue
        if file.path not in left_alone:
            yield file
