"""Refs that keep reviewed commits from git's garbage collection: `refs/svc/reviewed/<sha>`.

Unasked, review writes nothing else into a repository. See docs/design/review.md#versions.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
from collections.abc import Iterable
from pathlib import Path

from config.git import command
from config.git.command import GitError
from config.storage import files
from review import caches
from review.git import output
from review.git.refs import OURS
from review.git.repository import Repository

log = logging.getLogger(__name__)

KEPT = f"{OURS}/reviewed"
DEAD_S = 600.0  # no git of ours runs so long: an older lock is from a killed one
# Commits in the packed-refs of this stat; a ref with its own file is looked up each time.
_packed: caches.Memory[tuple[Path, str], str] = caches.Memory(20_000)


def hold(repository: Repository, shas: Iterable[str]) -> None:
    """Create a ref for each of these commits that exists here and has none yet.

    A repository that cannot be written to stays as it is: the review is in its own file anyway.
    """
    wanted = [sha for sha in dict.fromkeys(shas) if output.SHA.fullmatch(sha)]
    news = _not_held(repository, wanted)
    if not news:
        return
    try:
        told = repository.run(
            "cat-file", "--batch-check=%(objectname) %(objecttype)",
            stdin="".join(f"{sha}\n" for sha in news).encode(),
        )  # fmt: skip
        lines = [line.split(" ") for line in told.decode().splitlines()]
        here = [sha for sha, kind in lines if kind == "commit"]
        _write(repository, here)
    except (GitError, OSError) as error:
        log.info(
            "reviewed commits are not held", extra={"path": repository.path, "why": str(error)}
        )
        return
    packed = _stat(repository)
    for sha in _without_file(repository, here):
        _packed.put((repository.common_dir, sha), packed)


def _not_held(repository: Repository, shas: list[str]) -> list[str]:
    """The commits without a ref on disk: a new clone at the same path has none of them."""
    packed = _stat(repository)
    return [
        sha
        for sha in _without_file(repository, shas)
        if _packed.get((repository.common_dir, sha)) != packed
    ]


def _without_file(repository: Repository, shas: Iterable[str]) -> list[str]:
    folder = f"{repository.common_dir}/{KEPT}"
    return [sha for sha in shas if not os.path.lexists(f"{folder}/{sha}")]


def _stat(repository: Repository) -> str:
    return files.stat_of(repository.common_dir / "packed-refs") or ""


def _unlock(folder: Path, shas: Iterable[str]) -> None:
    """Remove locks that a killed git left: a single one fails the whole transaction."""
    for sha in shas:
        with contextlib.suppress(OSError):
            lock = folder / f"{sha}.lock"
            if time.time() - lock.lstat().st_mtime > DEAD_S:
                lock.unlink()


def _write(repository: Repository, shas: list[str]) -> None:
    folders = [repository.common_dir / name for name in ("refs", OURS, KEPT)]
    linked = next((path for path in folders if path.is_symlink()), None)
    if linked is not None:
        raise GitError("failed", f"{linked} is a link")
    _unlock(folders[-1], shas)
    lines = "".join(f"update {KEPT}/{sha} {sha}\n" for sha in shas)
    command.run(
        repository.path, "-c", "core.logAllRefUpdates=false", "update-ref", "--stdin",
        stdin=lines.encode(),
    )  # fmt: skip
