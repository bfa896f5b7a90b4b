"""Which directories a project may work in: what `path` of project.yaml says, held to the disk.

A turn may read and write all of the directory, so nothing may be one that holds what the sandbox
hides. Links are followed first, at every look: what a path leads to may have changed. See
docs/design/trust.md#a-directory-of-yours.
"""

from __future__ import annotations

import os
import pwd
import stat as stat_bits
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from config.errors import Problem
from workspace.projects import schema

KEY = "path"
SYSTEM = ("/proc", "/sys", "/dev", "/run")  # with all that is in them
SHARED = ("/tmp", "/var/tmp")  # noqa: S108 - of every program; a directory in them is as good as any
BOTH = "a project has a repo of its own or works at a path, not both: take one of the two away"
GONE = "is not there: bring it back, or name another directory"
NO_FOLDER = "is no directory: name the directory that it is in"
ROOT = "the root of the disk is no place for a project: name one directory of it"
OURS = "belongs to this service: name a directory outside its data and projects directories"
HOLDS_OURS = "holds the data of this service: name a directory in it that does not"
A_HOME = "is a home directory, with keys and settings in it: name a directory in it"
HOLDS_HOME = "holds home directories: name a directory in one of them"
OF_SYSTEM = "belongs to the system: name a directory of yours"
OF_ALL = "is shared by all programs: name a directory in it"
SHUT = "cannot be read by this service: allow its user to, or name another directory"


class Gone(schema.Unfit):
    """Nothing is there now; it may come back."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where the agents of a project work; with a `problem` none may, and `dir` is for display.

    `apart`: it is a directory of the user's, in which nothing of ours is ever written."""

    dir: Path
    problem: str = ""
    gone: bool = False
    apart: bool = False

    @property
    def refusal(self) -> str:
        """The sentence that refuses a turn, without the path; "" when it may work."""
        return f"{KEY}: {self.problem}" if self.problem else ""


def of(data: Mapping[str, Any]) -> Place | None:
    """The place that a project.yaml names by `path`; None when it names none."""
    if not named(data):
        return None
    written = data[KEY]
    try:
        text = schema.folder(written)
    except schema.Unfit as error:
        return Place(Path(str(written)[:200]), str(error), apart=True)
    shown = _expanded(text)
    if data.get("repo"):
        return Place(shown, BOTH, apart=True)
    try:
        return Place(check(text), apart=True)
    except schema.Unfit as error:
        return Place(shown, str(error), gone=isinstance(error, Gone), apart=True)


def named(data: Mapping[str, Any]) -> bool:
    """Whether a project.yaml says `path`, usable or not: then it never works anywhere else."""
    return data.get(KEY) not in (None, "")


def problems(values: Mapping[str, Any]) -> list[Problem]:
    """Why no project may work at the `path` of these values; what its reader refuses is its own."""
    with suppress(schema.Unfit):
        schema.folder(values.get(KEY))
        place = of(values)
        if place is not None and place.problem:
            return [Problem(KEY, place.problem, schema.KEYS[KEY].example)]
    return []


def check(text: str) -> Path:
    """The real directory that a written path leads to. Unfit with the reason, Gone where nothing
    is."""
    try:
        real = _expanded(text).resolve()
        if refused := _forbidden(real):
            raise schema.Unfit(refused)
        if not stat_bits.S_ISDIR(real.stat().st_mode):
            raise schema.Unfit(NO_FOLDER)
        with os.scandir(real):  # of a directory, so nothing waits
            os.stat(f"{real}/.")  # noqa: PTH116 - a Path drops the dot, which asks for entry
    except (FileNotFoundError, NotADirectoryError):
        raise Gone(GONE) from None
    except PermissionError:
        raise schema.Unfit(SHUT) from None
    except RuntimeError:  # links that lead in a circle
        raise schema.Unfit("leads in a circle of links: name the directory itself") from None
    except OSError as error:
        raise schema.Unfit(f"cannot be used: {error.strerror}") from None
    return real


def _expanded(text: str) -> Path:
    return Path.home() / text[1:].lstrip("/") if text.startswith("~") else Path(text)


def _forbidden(real: Path) -> str:
    """Why no project may work there, whatever is there; "" when it may."""
    if real == Path("/"):
        return ROOT
    own = (settings.DATA_DIR, settings.PROJECTS_DIR)
    if any(_holds(folder, real) for folder in own):
        return OURS
    if any(real == home for home in _homes(real)):
        return A_HOME
    if any(_holds(real, folder) for folder in own):
        return HOLDS_OURS
    if _holds(real, Path.home()):
        return HOLDS_HOME
    if any(real.is_relative_to(folder) for folder in SYSTEM):
        return OF_SYSTEM
    return OF_ALL if str(real) in SHARED else ""


def _holds(outer: Path, inner: Path) -> bool:
    """Whether `inner` is `outer` or lies in it, by what they are: names have other spellings where
    case does not count, and a mount gives one directory two."""
    with suppress(OSError):
        there = outer.stat()
        return any(os.path.samestat(there, found) for found in _levels(inner.resolve()))
    return False


def _levels(path: Path) -> Iterable[os.stat_result]:
    for level in (path, *path.parents):
        with suppress(OSError):
            yield level.stat()


def _homes(real: Path) -> list[Path]:
    """Homes that this directory could be: ours, and that of the user it belongs to."""
    found = [Path.home().resolve()]
    with suppress(OSError, KeyError):
        found.append(Path(pwd.getpwuid(real.stat().st_uid).pw_dir).resolve())
    return found
