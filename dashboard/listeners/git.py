"""The git repository around a directory, read from its files; git is never run.

The content of those files is not trusted: sizes are bounded, and pointers are followed only once.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from config.storage import files

MOST_LEVELS = 64
LINE, CONFIG = 8 * 1024, 256 * 1024  # bytes

_HEAD = re.compile(r"ref: refs/heads/(\S[^\r\n]*)")
_SECTION = re.compile(r'\s*\[\s*remote\s+"([^"]*)"\s*\]', re.IGNORECASE)
_URL = re.compile(r"\s*url\s*=\s*(.*\S)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Git:
    """`name` is the name of the repository's directory, also in a worktree; `branch` is None if
    detached.

    `worktree` is the name of a linked worktree, None in the main one.
    """

    root: Path
    name: str
    branch: str | None
    worktree: str | None
    remote: str | None


def levels(cwd: Path) -> Iterator[Path]:
    """The directory and its parents, nearest first, without the root of the file system."""
    for folder, _ in zip((cwd, *cwd.parents), range(MOST_LEVELS), strict=False):
        if folder != folder.parent:
            yield folder


def find(cwd: Path) -> Git | None:
    """The nearest repository at or above `cwd`; None if there is none."""
    for root in levels(cwd):
        folder = folder_of(root)
        if folder is not None and (head := line_of(folder / "HEAD")) is not None:
            return _read_git(root, folder, head)
    return None


def folder_of(root: Path) -> Path | None:
    """`.git` itself, or the folder that the `.git` file of a worktree or submodule names."""
    entry = root / ".git"
    try:
        if entry.is_dir():
            return entry
    except OSError:
        return None
    told = line_of(entry)
    if told is None or not told.startswith("gitdir:"):
        return None
    return root / told.removeprefix("gitdir:").strip()


def _read_git(root: Path, folder: Path, head: str) -> Git:
    common = folder / (line_of(folder / "commondir") or ".")
    linked = folder.parent.name == "worktrees"
    home = Path(os.path.normpath(common)) if linked else root
    name = (home.parent if home.name == ".git" else home).name.removesuffix(".git")
    branch = _HEAD.fullmatch(head)
    return Git(
        root=root,
        name=name or root.name,
        branch=branch[1] if branch and branch[1] != ".invalid" else None,
        worktree=folder.name if linked else None,
        remote=_remote(common / "config"),
    )


def _remote(config: Path) -> str | None:
    """The URL of `origin`, else of the first remote."""
    found: dict[str, str] = {}
    section: str | None = None
    for line in (_text(config, CONFIG) or "").splitlines():
        if line.lstrip().startswith("["):
            named = _SECTION.match(line)
            section = named[1] if named else None
        elif section is not None and (url := _URL.match(line)):
            found.setdefault(section, url[1].strip('"'))
    return found.get("origin") or next(iter(found.values()), None)


def line_of(path: Path) -> str | None:
    """The content of a file of one line; None if there is none or it is not such a file."""
    text = _text(path, LINE)
    return None if text is None else text.strip("\r\n")


def _text(path: Path, limit: int) -> str | None:
    """A small regular file as text; None for anything else, which is never waited for."""
    try:
        snapshot = files.read(path, limit=limit)
    except (OSError, ValueError):
        return None
    return None if snapshot is None else os.fsdecode(snapshot.data)
