"""The user's repository while files of its work tree are committed or discarded.

Prepared changes are handed over in one step; see docs/design/review.md#committing-and-discarding.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from config.errors import Conflict, Invalid, SvcError, Unavailable
from config.git import command, handover, shadow
from config.git.command import GitError
from config.git.shadow import Shadow
from config.git.snapshot import split
from config.storage import files as storage
from review.git.commits import Changed, shown_path
from review.stacks.worktree import looks
from review.stacks.worktree.looks import Look

TRIES = 5  # attempts, while others write the index
DRIVERS = r"^filter\..*\.(clean|smudge|process)$"


@contextmanager
def held(project: str, repo: str) -> Iterator[Shadow]:
    """The repository of a work tree, locked against other checkpoints and undos of ours.

    NotFound without a work tree, or if it cannot be read; Conflict if what is written would land
    elsewhere.
    """
    path = looks.place(project, repo)
    looks.read(path)
    try:
        mine = looks.open_shadow(path)
    except GitError as error:
        raise Conflict(looks.not_writable(error), code="not_writable") from None
    with storage.lock(shadow.lock_of(mine.root)):
        yield mine


def choose_files(found: Look, paths: Any) -> list[Changed]:
    """The files of these paths; None means all. Invalid names a path that does not differ."""
    if paths is None:
        paths = [file.path for file in found.files]
        if not paths:
            raise Conflict("Nothing differs from HEAD", code="nothing")
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise Invalid('"files" must be a list of paths')
    if not paths:
        raise Invalid('"files" is empty: choose at least one file')
    files = {}
    for path in paths:
        file = looks.find_file(found.files, path)
        if file is None:
            looks.refuse_left(found, path)
            raise Invalid(f'"files" names {_short(path)}, which does not differ from HEAD')
        files[file.path] = file
    return list(files.values())


def touched_paths(files: Iterable[Changed]) -> list[str]:
    """Every path that changes with these files, including the old name of a renamed one."""
    return list(dict.fromkeys(path for file in files for path in _both(file)))


def _both(file: Changed) -> Iterator[str]:
    if file.status == "renamed" and file.old_path:
        yield file.old_path
    yield file.path


def ignored_paths(view: Shadow, paths: Iterable[str], index: Container[str]) -> set[str]:
    """The paths that are not in the index and that git ignores: files there are left alone."""
    out = [path for path in paths if path not in index]
    return view.filter_ignored(out) if out else set()


def refuse_filtered(mine: Shadow, paths: Iterable[str]) -> None:
    """Conflict for a file that git would pass through a program, such as Git LFS: we run none."""
    asked = ("config", "-z", "--name-only", "--get-regexp", DRIVERS)
    told = split(command.run(mine.root, *asked, accepted=(0, 1)))
    drivers = {key.removeprefix("filter.").rpartition(".")[0] for key in told}
    if not drivers:
        return
    lines = b"".join(os.fsencode(path) + b"\0" for path in paths)
    said = split(mine.theirs("check-attr", "-z", "--stdin", "filter", stdin=lines))
    for path, _, name in zip(said[::3], said[1::3], said[2::3], strict=True):
        if name in drivers:
            raise Conflict(
                f"{shown_path(path)} goes through the filter {name}, which is not run here; "
                "use git itself for this file",
                code="filtered",
            )


def refuse_torn(torn: Iterable[str]) -> None:
    """Conflict if a path has several versions in the index."""
    if path := next(iter(torn), None):
        raise Conflict(
            f"{shown_path(path)} is in conflict; resolve it and git add it first", code="unmerged"
        )


def handed_over(mine: Shadow, prepare: Callable[[], Mapping[str, Any]]) -> None:
    """Prepare and hand over, again if the index was written meanwhile. Conflict, or Unavailable if
    the disk refuses."""
    for left in reversed(range(TRIES)):
        job = {"root": str(mine.root), "sha256": mine.sha256, **prepare()}
        try:
            return handover.run(job)
        except handover.HandoverRefused as refused:
            if refused.why != "index" or not left:
                raise _conflict(refused, mine) from None
    return None


def astray(path: str) -> Conflict:
    return Conflict(f"git itself writes no such path: {shown_path(path)}", code="astray")


def _conflict(refused: handover.HandoverRefused, mine: Shadow) -> SvcError:
    match refused.why:
        case "locked":
            return Conflict(
                f"Another git is at work here: {mine.git_dir}/index.lock exists. Try again, or "
                "remove it if that git has crashed",
                code="locked",
            )
        case "index":
            return Conflict("The index keeps changing; try again", code="changed")
        case "moved":
            text = f"{shown_path(refused.text)} has changed meanwhile; look again"
            return Conflict(text, code="changed")
        case "astray":
            return astray(refused.text)
        case "ref":
            return Conflict(f"HEAD was not moved: {refused.text}", code="moved")
        case _:
            return Unavailable(f"Nothing was changed: {refused.text}")


def _short(path: str) -> str:
    return shown_path(path)[:200]
