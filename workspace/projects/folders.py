"""Which directories a project may work in: what `path` of project.yaml says, held to the disk.

A turn may read and write all of the directory, so nothing may be one that holds what the sandbox
hides. Links are followed first, at every look: what a path leads to may have changed. See
docs/design/trust.md#a-directory-of-yours.
"""

from __future__ import annotations

import os
import pwd
import stat as stat_bits
import sys
import sysconfig
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from django.conf import settings

from config.errors import Problem
from workspace.projects import schema

Identity = tuple[int, int]  # device, inode
KEY = "path"
SYSTEM = ("/proc/", "/sys/", "/dev/", "/run/")  # with all that is in them
SHARED = ("/tmp", "/var/tmp")  # noqa: S108 - of every program; a directory in them is as good as any
BOTH = "a project has a repo of its own or works at a path, not both: take one of the two away"
GONE = "is not there: bring it back, or name another directory"
NO_FOLDER = "is no directory: name the directory that it is in"
ROOT = "the root of the disk is no place for a project: name one directory of it"
OURS = "belongs to this service: name a directory outside its data and projects directories"
HOLDS_OURS = "holds the data of this service: name a directory in it that does not"
CODE = "is what this service runs from: name another directory, such as a second checkout of it"
HOLDS_CODE = "holds what this service runs from: name a directory in it that does not"
HOLDS_CONFIG = "holds the config file of this service: name a directory in it that does not"
A_HOME = "is a home directory, with keys and settings in it: name a directory in it"
HOLDS_HOME = "holds home directories: name a directory in one of them"
OF_SYSTEM = "belongs to the system: name a directory of yours"
OF_ALL = "is shared by all programs: name a directory in it"
SHUT = "cannot be read by this service: allow its user to, or name another directory"


class Gone(schema.Unfit):
    """Nothing is there now; it may come back."""


@dataclass(frozen=True, slots=True)
class WorkingDirectory:
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


def of(data: Mapping[str, Any], wall: Wall | None = None) -> WorkingDirectory | None:
    """The place that a project.yaml names by `path`; None when it names none."""
    if not named(data):
        return None
    written = data[KEY]
    try:
        text = schema.folder(written)
    except schema.Unfit as error:
        return WorkingDirectory(Path(str(written)[:200]), str(error), apart=True)
    shown = _expanded(text)
    if data.get("repo"):
        return WorkingDirectory(shown, BOTH, apart=True)
    try:
        return WorkingDirectory(check(text, wall), apart=True)
    except schema.Unfit as error:
        return WorkingDirectory(shown, str(error), gone=isinstance(error, Gone), apart=True)


def own(folder: Path) -> WorkingDirectory:
    """The place of a project without `path`: its own directory, or the checkout in it. A projects
    directory of the user's may hold what the service runs from."""
    here = _identity(folder)
    code = here is not None and here in _around(_code())
    return WorkingDirectory(folder, CODE if code else "")


@cache
def _around(folders: tuple[Path, ...]) -> frozenset[Identity]:
    """As it was when it was first asked for: every look at a project asks."""
    return frozenset(one for path in folders for one in _levels(path))


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


def check(text: str, wall: Wall | None = None) -> Path:
    """The real directory that a written path leads to. Unfit with the reason, Gone where nothing
    is. `wall`: where many are looked at together."""
    try:
        real = _expanded(text).resolve()
        if refused := (wall or Wall.now()).refusal(real):
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


@dataclass(frozen=True, slots=True)
class Wall:
    """What no project may work in or around, as it is on the disk now. Directories are told by what
    they are: names have other spellings where case does not count, and a mount gives one two. What
    many lie in is looked at once."""

    home: Identity | None
    ours: frozenset[Identity]  # the data and the projects directory
    around_ours: frozenset[Identity]  # they, and all they lie in
    around_home: frozenset[Identity]
    around_config: frozenset[Identity]  # what svc.config.yaml lies in: it names commands
    code: frozenset[Identity]  # what the service runs from: it is run outside of any sandbox
    around_code: frozenset[Identity]
    _outer: dict[str, frozenset[Identity]] = field(default_factory=dict, compare=False)

    @classmethod
    def now(cls) -> Wall:
        own = [Path(path).resolve() for path in (settings.DATA_DIR, settings.PROJECTS_DIR)]
        home = Path.home().resolve()
        return cls(
            _identity(home),
            ours=frozenset(found for path in own if (found := _identity(path))),
            around_ours=frozenset(one for path in own for one in _levels(path)),
            around_home=frozenset(_levels(home)),
            around_config=frozenset(_levels(settings.SVC.config_file.resolve().parent)),
            code=frozenset(found for path in _code() if (found := _identity(path))),
            around_code=frozenset(one for path in _code() for one in _levels(path)),
        )

    def refusal(self, real: Path) -> str:
        """Why no project may work there, whatever is there; "" when it may."""
        if real == Path("/"):
            return ROOT
        here = _identity(real)
        if here in self.ours or not self.ours.isdisjoint(self._around(str(real.parent))):
            return OURS
        if here in self.code or not self.code.isdisjoint(self._around(str(real.parent))):
            return CODE
        if here and here in (self.home, _home_of_owner(real)):
            return A_HOME
        if here in self.around_ours:
            return HOLDS_OURS
        if here in self.around_home:
            return HOLDS_HOME
        if here in self.around_code:
            return HOLDS_CODE
        if here in self.around_config:
            return HOLDS_CONFIG
        if f"{real}/".startswith(SYSTEM):
            return OF_SYSTEM
        return OF_ALL if str(real) in SHARED else ""

    def _around(self, folder: str) -> frozenset[Identity]:
        if folder not in self._outer:
            self._outer[folder] = frozenset(_levels(folder))
        return self._outer[folder]


def _code() -> tuple[Path, ...]:
    return _code_of(Path(settings.BASE_DIR), sys.prefix)


@cache
def _code_of(base: Path, prefix: str) -> tuple[Path, ...]:
    """The checkout that the service runs from, its virtual environment, and Python's own library
    and packages where they lie elsewhere. The prefix of a Python of the system holds far more than
    that Python. As written, too: a link on the way is as good as what it leads to."""
    own = [base] if prefix == sys.base_prefix else [base, Path(prefix)]
    own += [Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")]
    found = dict.fromkeys([*own, *(path.resolve() for path in own)])
    return tuple(path for path in found if not any(map(path.is_relative_to, found.keys() - {path})))


def _expanded(text: str) -> Path:
    return Path.home() / text[1:].lstrip("/") if text.startswith("~") else Path(text)


def _identity(path: str | Path) -> Identity | None:
    with suppress(OSError):
        found = os.stat(path)  # noqa: PTH116 - of hundreds at once
        return found.st_dev, found.st_ino
    return None


def _levels(real: str | Path) -> list[Identity]:
    """Of the directory and of all it lies in."""
    level, found = str(real), [_identity(real)]
    while level != "/":
        level = os.path.dirname(level)  # noqa: PTH120 - as above
        found.append(_identity(level))
    return [one for one in found if one]


def _home_of_owner(real: Path) -> Identity | None:
    """A home belongs to its user."""
    with suppress(OSError, KeyError):
        return _identity(pwd.getpwuid(real.stat().st_uid).pw_dir)
    return None
