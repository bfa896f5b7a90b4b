"""The unix sockets of this machine that a sandbox would show, and how they are covered.

A read-only mount does not prevent a connection, and a separate network isolates only sockets that
are not bound to a path. What is left: docs/design/trust.md#unix-sockets.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Sequence

LISTED = "/proc/net/unix"
MOST = 50  # the most mounts: each takes half a millisecond, and more with their number
LIMIT = 400  # this many take a second
SYSTEM = ("/usr", "/etc", "/bin", "/sbin", "/lib")  # never hidden as a whole
PLACED = ("/dev", "/proc")  # the sandbox has its own


def covers(hidden: Sequence[str], needed: Sequence[str], own: Sequence[str]) -> list[str]:
    """The arguments that cover the sockets which are in nothing `hidden` and nothing of the turn's
    `own`.

    `needed` is visible although it is hidden; a socket that is itself needed stays. Raises
    EngineError if the sockets cannot be listed or are too many to cover.
    """
    own = [os.path.realpath(folder) for folder in own]
    found = [
        path
        for path in bound_paths()
        if path not in needed
        and not within(path, own)
        and (within(path, needed) or not within(path, [*hidden, *PLACED]))
        and _stands(path)
    ]
    crowded = _crowded_folders(found, [*needed, *own]) if len(found) > MOST else []
    words = [word for folder in crowded for word in ("--tmpfs", folder)]
    for path in found:
        if os.path.dirname(path) not in crowded:
            words += ["--ro-bind", "/dev/null", path]
    return words


def bound_paths() -> list[str]:
    """The paths of the sockets bound in this network, without duplicates and links."""
    try:
        with open(LISTED, "rb") as file:
            lines = file.read().split(b"\n")[1:]
    except OSError as error:
        raise _refusal(f"cannot be listed: {error}") from None
    rows = (line.split(None, 7) for line in lines)
    named = {os.fsdecode(row[7]) for row in rows if len(row) == 8 and row[7].startswith(b"/")}
    split = {os.path.split(path) for path in named}
    real = {folder: os.path.realpath(folder) for folder, _ in split}
    return sorted({os.path.join(real[folder], name) for folder, name in split})


def _stands(path: str) -> bool:
    """Whether a socket is there that this user, and so a command of a turn, can reach."""
    try:
        return stat.S_ISSOCK(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _crowded_folders(paths: Sequence[str], kept: Sequence[str]) -> list[str]:
    """The folders to cover as a whole, so that only few sockets must be covered one by one."""
    folders, left = [], len(paths)
    for folder, count in Counter(map(os.path.dirname, paths)).most_common():
        if (
            left > MOST
            and count > 1  # otherwise nothing is gained, and the files beside it are hidden
            and not within(folder, SYSTEM)
            and not any(within(k, [folder]) for k in kept)
        ):
            folders.append(folder)
            left -= count - 1
    if left > LIMIT:
        text = f"are {left} that a command could reach, more than the {LIMIT} that can be covered"
        rest = Counter(folder for folder in map(os.path.dirname, paths) if folder not in folders)
        ways = "end what listens there, or let the project have `network: host`, which covers none"
        raise _refusal(f"{text}; many of them in {rest.most_common(1)[0][0]}: {ways}")
    return folders


def _refusal(text: str) -> Exception:
    from workspace.engines.base import EngineError

    return EngineError("sandbox_unavailable", f"The unix sockets of this machine {text}.")


def within(path: str, folders: Sequence[str]) -> bool:
    """Whether the path is one of the folders, or lies in one."""
    return any(path == folder or path.startswith(f"{folder.rstrip('/')}/") for folder in folders)
