"""The user's files that git in the sandbox has to read: the global configuration and what it names.

No turn can write them, so they are trusted: identity, ignore rules, filters and their programs.
"""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from config.git import command
from config.git.command import GitError
from workspace.engines.acp import agents

KEYS = (
    r"^(include(if\..*)?\.path|core\.excludesfile"
    r"|filter\..*\.(clean|smudge|process)|merge\..*\.driver)$"
)
MOST = 100  # configuration files


class _Named(NamedTuple):
    """Paths that one configuration file names."""

    included: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


def needed_paths() -> list[str]:
    """Paths that the sandbox shows although their surroundings are hidden."""
    own = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "git"
    files = dict.fromkeys([str(Path.home() / ".gitconfig"), str(own / "config")])
    found = [str(own / "ignore"), *_programs("git")]
    for file in (later := list(files)):
        named = _config_of(file, *_version(file))
        found += [file, *named.others]
        new = [path for path in named.included if path not in files]
        files |= dict.fromkeys(new)
        later += new[: MOST - len(later)]
    return list(dict.fromkeys(path for one in found for path in (one, os.path.realpath(one))))


def _version(file: str) -> tuple[int, int]:
    try:
        found = Path(file).stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


@lru_cache(maxsize=MOST)
def _config_of(file: str, changed: int, size: int) -> _Named:
    """The paths in one file. Conditional includes always count, as they are the user's own."""
    if not changed:
        return _Named()
    included: list[str] = []
    others: list[str] = []
    asked = ("config", "--file", file, "-z", "--get-regexp", KEYS)
    with suppress(GitError, RuntimeError):  # the file is not readable, or the home does not exist
        for line in os.fsdecode(command.run(Path("/"), *asked, accepted=(0, 1))).split("\0")[:-1]:
            key, _, value = line.partition("\n")
            if key.startswith("include"):
                included.append(str(Path(file).parent / Path(value).expanduser()))
            elif key == "core.excludesfile":
                others.append(str("/" / Path(value).expanduser()))
            else:
                others += _programs(value)
    return _Named(tuple(included), tuple(others))


@lru_cache(maxsize=MOST)
def _programs(line: str) -> tuple[str, ...]:
    """The program of a command with its installation, and the files among its arguments."""
    try:
        words = [str(Path(word).expanduser()) for word in shlex.split(line)]
        return tuple(agents.needed_paths(agents.Agent("", tuple(words)))) if words else ()
    except (ValueError, OSError, RuntimeError):
        return ()
