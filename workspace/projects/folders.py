"""Which directories a project may work in: the `path` of project.yaml, checked against the disk.

A turn may read and write all of its directory, so it must not contain anything that the sandbox
hides. Links are followed first, at every check, as a path may lead elsewhere by then. See
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

from config import readers
from config.errors import Problem
from workspace.projects import schema

Identity = tuple[int, int]  # device, inode
KEY = "path"
SYSTEM = ("/proc/", "/sys/", "/dev/", "/run/")  # with everything in them
SHARED = ("/tmp", "/var/tmp")  # noqa: S108 - of every program; a directory in them is as good as any
BOTH = "a project has a repo of its own or works at a path, not both: take one of the two away"
GONE = "is not there: bring it back, or name another directory"
NO_FOLDER = "is not a directory: name the directory that it is in"
ROOT = "the root of the disk is not a place for a project: name one directory of it"
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
    """There is nothing at the path now; it may come back."""


@dataclass(frozen=True, slots=True)
class WorkingDirectory:
    """Where the agents of a project work; if there is a `problem` they must not, and `dir` is only
    for display.

    `apart`: it is a directory of the user's, in which the service itself never writes."""

    dir: Path
    problem: str = ""
    gone: bool = False
    apart: bool = False

    @property
    def refusal(self) -> str:
        """The sentence that refuses a turn, without the path; "" if agents may work."""
        return f"{KEY}: {self.problem}" if self.problem else ""


def of(data: Mapping[str, Any], wall: Wall | None = None) -> WorkingDirectory | None:
    """The working directory that a project.yaml names by `path`; None if it has no `path`."""
    if not has_path(data):
        return None
    written = data[KEY]
    try:
        text = schema.folder(written)
    except schema.Unfit as error:
        return WorkingDirectory(Path(str(written)[:200]), str(error), apart=True)
    shown = _expand(text)
    if data.get("repo"):
        return WorkingDirectory(shown, BOTH, apart=True)
    try:
        return WorkingDirectory(check(text, wall), apart=True)
    except schema.Unfit as error:
        return WorkingDirectory(shown, str(error), gone=isinstance(error, Gone), apart=True)


def own(folder: Path) -> WorkingDirectory:
    """The working directory of a project without `path`: its own `folder`, or the checkout in it.
    A problem if the service runs from inside it, as the projects directory may be anywhere."""
    here = _identity(folder)
    code = here is not None and here in _around(_code())
    return WorkingDirectory(folder, CODE if code else "")


@cache
def _around(folders: tuple[Path, ...]) -> frozenset[Identity]:
    """Identities of the folders and all their parents. Cached, as every look at a project asks."""
    return frozenset(one for path in folders for one in _levels(path))


def has_path(data: Mapping[str, Any]) -> bool:
    """Whether a project.yaml has a `path`, usable or not: agents then never work elsewhere."""
    return data.get(KEY) not in (None, "")


def problems(values: Mapping[str, Any]) -> list[Problem]:
    """Why no project may work at the `path` of these values; [] if its reader refuses it anyway."""
    with suppress(schema.Unfit):
        schema.folder(values.get(KEY))
        place = of(values)
        if place is not None and place.problem:
            return [Problem(KEY, place.problem, schema.KEYS[KEY].example)]
    return []


def check(text: str, wall: Wall | None = None) -> Path:
    """The real directory that a written path leads to. Unfit with the reason, Gone if nothing is
    there. Pass `wall` to check many paths against one look at the disk."""
    try:
        real = _expand(text).resolve()
        if refused := (wall or Wall.now()).refusal(real):
            raise schema.Unfit(refused)
        if not stat_bits.S_ISDIR(real.stat().st_mode):
            raise schema.Unfit(NO_FOLDER)
        with os.scandir(real):  # a directory: this cannot block
            os.stat(f"{real}/.")  # noqa: PTH116 - a Path drops the dot, which asks for entry
    except (FileNotFoundError, NotADirectoryError):
        raise Gone(GONE) from None
    except PermissionError:
        raise schema.Unfit(SHUT) from None
    except RuntimeError:  # a loop of links
        raise schema.Unfit("leads in a circle of links: name the directory itself") from None
    except OSError as error:
        raise schema.Unfit(f"cannot be used: {error.strerror}") from None
    return real


@dataclass(frozen=True, slots=True)
class Wall:
    """The directories that no project may work in or around, as they are on the disk now. They are
    compared by device and inode: a directory has several names on a case-insensitive disk and
    under a bind mount. The parents of each directory are looked up once."""

    homes: frozenset[Identity]
    ours: frozenset[Identity]  # the data directory and the projects directory
    around_ours: frozenset[Identity]  # both and all their parents
    around_homes: frozenset[Identity]
    around_config: frozenset[Identity]  # parents of svc.config.yaml, which names commands
    code: frozenset[Identity]  # what the service runs from, outside of any sandbox
    around_code: frozenset[Identity]
    _outer: dict[str, frozenset[Identity]] = field(default_factory=dict, compare=False)

    @classmethod
    def now(cls) -> Wall:
        own = [Path(path).resolve() for path in (settings.DATA_DIR, settings.PROJECTS_DIR)]
        homes = [path.resolve() for path in readers.homes()]
        return cls(
            homes=frozenset(found for path in homes if (found := _identity(path))),
            ours=frozenset(found for path in own if (found := _identity(path))),
            around_ours=frozenset(one for path in own for one in _levels(path)),
            around_homes=frozenset(one for path in homes for one in _levels(path)),
            around_config=frozenset(_levels(settings.SVC.config_file.resolve().parent)),
            code=frozenset(found for path in _code() if (found := _identity(path))),
            around_code=frozenset(one for path in _code() for one in _levels(path)),
        )

    def refusal(self, real: Path) -> str:
        """Why no project may work at this path, whether it exists or not; "" if it may."""
        if real == Path("/"):
            return ROOT
        here = _identity(real)
        if here in self.ours or not self.ours.isdisjoint(self._around(str(real.parent))):
            return OURS
        if here in self.code or not self.code.isdisjoint(self._around(str(real.parent))):
            return CODE
        if here and here in {*self.homes, _home_of_owner(real)}:
            return A_HOME
        if here in self.around_ours:
            return HOLDS_OURS
        if here in self.around_homes:
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
    and packages if they are elsewhere. Not the prefix of a system Python, which holds far more.
    Unresolved paths too: to replace a link on the way is as good as to replace its target."""
    own = [base] if prefix == sys.base_prefix else [base, Path(prefix)]
    own += [Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib")]
    found = dict.fromkeys([*own, *(path.resolve() for path in own)])
    return tuple(path for path in found if not any(map(path.is_relative_to, found.keys() - {path})))


def _expand(text: str) -> Path:
    return Path.home() / text[1:].lstrip("/") if text.startswith("~") else Path(text)


def _identity(path: str | Path) -> Identity | None:
    with suppress(OSError):
        found = os.stat(path)  # noqa: PTH116 - of hundreds at once
        return found.st_dev, found.st_ino
    return None


def _levels(real: str | Path) -> list[Identity]:
    """Identities of the directory and all its parents."""
    level, found = str(real), [_identity(real)]
    while level != "/":
        level = os.path.dirname(level)  # noqa: PTH120 - as above
        found.append(_identity(level))
    return [one for one in found if one]


def _home_of_owner(real: Path) -> Identity | None:
    """The home directory of the user who owns the directory, or None."""
    with suppress(OSError, KeyError):
        return _identity(pwd.getpwuid(real.stat().st_uid).pw_dir)
    return None
