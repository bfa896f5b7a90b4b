"""The commit that a repository is at, read from two or three small files; git is never run.

Only for noticing a change: the text is compared, never shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from config.storage import files
from dashboard.listeners import git

PACKED = 4 << 20  # bytes of packed-refs that are read


def heads(roots: Iterable[Path]) -> dict[Path, str | None]:
    """For each directory that holds a `.git`: branch and commit. Call it in a thread."""
    return {root: head(root) for root in roots}


def head(root: Path) -> str | None:
    """Branch and commit; None if there is no repository."""
    folder = git.folder_of(root)
    told = None if folder is None else git.line_of(folder / "HEAD")
    if folder is None or told is None:
        return None
    common = folder / (git.line_of(folder / "commondir") or ".")
    ref = told.removeprefix("ref: ")
    return f"{told} {_commit(common, ref) if ref != told else ''}"


def _commit(common: Path, ref: str) -> str:
    """The commit of the reference. With reftable: the version of the table."""
    if ref == "refs/heads/.invalid":
        return files.stat_of(common / "reftable" / "tables.list") or ""
    if ".." in Path(ref).parts or Path(ref).is_absolute():
        return ""
    return git.line_of(common / ref) or _read_packed(common / "packed-refs", ref)


def _read_packed(path: Path, ref: str) -> str:
    try:
        found = files.read(path, limit=PACKED)
    except OSError:
        return ""
    ending = b" " + ref.encode(errors="surrogateescape")
    lines = found.data.splitlines() if found else []
    return next((line[:40].decode("latin-1") for line in lines if line.endswith(ending)), "")
