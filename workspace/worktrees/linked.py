"""What a turn in a worktree of its own may write in the repository that the worktree belongs to.

The sandbox shows the repository read-only, except what a commit needs: objects, the branches
`svc/*` with their logs, and the worktree's own index and HEAD. Every git in the repository obeys
its configuration and hooks, so these cannot be changed, nor can the files that tie the worktree to
its repository. See docs/design/trust.md#a-worktree-of-a-chat.
"""

from __future__ import annotations

import os
from contextlib import suppress

from workspace.engines.base import EngineError, Linked

SHARED = ("objects", "refs/heads/svc", "logs/refs/heads/svc")
TIES = ("gitdir", "commondir", "config.worktree")
ODD = "the repository of this worktree has a link where none belongs: {}"


def writable(linked: Linked) -> list[str]:
    """The whole worktree and what a commit writes, created if missing. EngineError if one of them
    is a link, which would lead the turn elsewhere."""
    for name in ("logs", "logs/refs", "logs/refs/heads", "refs", "refs/heads", *SHARED[1:]):
        with suppress(OSError):  # if it cannot be created, a commit cannot write it either
            os.mkdir(os.path.join(linked.common, name))
    found = [os.path.join(linked.common, name) for name in SHARED]
    if os.path.isdir(os.path.join(linked.common, "reftable")):
        found.append(os.path.join(linked.common, "reftable"))
    found = [path for path in (*found, linked.own, linked.top) if os.path.isdir(path)]
    for path in found:
        if os.path.realpath(path) != path:
            raise EngineError("sandbox_unavailable", ODD.format(path))
    return found


def read_only(linked: Linked) -> list[str]:
    """Files inside `writable` that are never written. A missing one is created, because only what
    exists can be protected."""
    kept = [os.path.join(linked.own, name) for name in TIES]
    with suppress(OSError):
        os.close(os.open(kept[-1], os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
    return [os.path.join(linked.top, ".git"), *kept]
