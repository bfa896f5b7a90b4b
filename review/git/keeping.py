"""Refs that hold what was reviewed against git's own cleaning: `refs/svc/reviewed/<sha>`.

The one thing that review writes into a repository. See docs/design/review.md#versions.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable

from config.git import command
from config.git.command import GitError
from review import caches
from review.git import output
from review.git.refs import OURS
from review.git.repository import Repository

log = logging.getLogger(__name__)

KEPT = f"{OURS}/reviewed"
_held: caches.Memory[tuple[object, str], bool] = caches.Memory(20_000)


def hold(repository: Repository, shas: Iterable[str]) -> None:
    """Keep these commits, those that are here and not held already.

    A repository that cannot be written to stays as it is: what was said is in its file anyway.
    """
    wanted = [sha for sha in dict.fromkeys(shas) if output.SHA.fullmatch(sha)]
    news = [sha for sha in wanted if not _is_held(repository, sha)]
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
    for sha in here:
        _held.put((repository.common_dir, sha), True)


def _is_held(repository: Repository, sha: str) -> bool:
    key = (repository.common_dir, sha)
    loose = repository.common_dir / KEPT / sha
    return bool(_held.get(key)) or (os.path.lexists(loose) and _held.put(key, True))


def _write(repository: Repository, shas: list[str]) -> None:
    folders = [repository.common_dir / name for name in ("refs", OURS, KEPT)]
    linked = next((path for path in folders if path.is_symlink()), None)
    if linked is not None:
        raise GitError("failed", f"{linked} is a link")
    lines = "".join(f"update {KEPT}/{sha} {sha}\n" for sha in shas)
    command.run(
        repository.path, "-c", "core.logAllRefUpdates=false", "update-ref", "--stdin",
        stdin=lines.encode(),
    )  # fmt: skip
