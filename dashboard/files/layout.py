"""Where the dashboard's files are. Only a name that is a slug becomes part of a path."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from django.conf import settings

from dashboard.files import errors

Kind = Literal["apps", "bookmarks", "config", "ignore"]

SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
MOST = {"apps": 5000, "bookmarks": 500}
KEEPS, KEEP, MOST_KEPT = 20, timedelta(days=30), 200  # of each name among the removed files
SUFFIXES = (".yaml", ".yml")  # the first one wins
KEPT = re.compile(r"\.ya?ml\.conflict-[0-9TZ-]+\Z")  # named by the kernel's writer
STAMPED = re.compile(r"(?P<name>[^.]+)\.(?P<at>\d{8}T\d{6}Z)(?:-(?P<number>\d{1,3}))?\.yaml")
DROPPINGS = re.compile(r"[.#].*|.*(?:~|\.swp|\.tmp|\.bak)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class DashboardFile:
    """One file of the dashboard; `name` is a slug, or the kind again for a single file."""

    kind: Kind
    name: str

    @property
    def path(self) -> Path:
        """The existing file, else the path at which it would be created."""
        stem = f"{folder(self.kind)}/{self.name}"
        found = (stem + suffix for suffix in SUFFIXES)
        return Path(next(filter(os.path.lexists, found), f"{stem}.yaml"))

    @property
    def file(self) -> str:
        """The name of the file for people: its path below the dashboard's home."""
        name = self.path.name
        return name if self.single else f"{self.kind}/{name}"

    @property
    def single(self) -> bool:
        return self.kind in ("config", "ignore")


CONFIG, IGNORE = DashboardFile("config", "config"), DashboardFile("ignore", "ignore")


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of one kind, ordered by name, and those that cannot be used, with the reason.

    `unread` says why the folder itself cannot be read; the other fields are then empty.
    """

    places: tuple[DashboardFile, ...] = ()
    paths: tuple[str, ...] = ()  # of `places`, in the same order
    refused: tuple[tuple[str, str], ...] = ()  # path below home, reason
    kept: tuple[str, ...] = ()  # saves that could not be merged, beside their file
    unread: str = ""


def home() -> Path:
    return Path(settings.DATA_DIR) / "dashboard"


def folder(kind: Kind) -> Path:
    """The folder that holds the files of a kind."""
    return home() / kind if kind in MOST else home()


def state_dir() -> Path:
    """The folder of what must survive a restart but is not a file of the user: journal, notices,
    service states."""
    return _make_folder(Path(settings.DATA_DIR) / "state" / "dashboard")


def cache_dir() -> Path:
    """The folder of images that can be fetched or drawn again; it may be deleted at any time."""
    return _make_folder(Path(settings.DATA_DIR) / "cache" / "dashboard")


def place(kind: Kind, name: str) -> DashboardFile:
    """The file of an app or a group. `bad_slug` for any other form of name."""
    if kind in MOST and not SLUG.fullmatch(name):
        raise errors.bad_slug(name)
    return DashboardFile(kind, name)


def listing(kind: Kind) -> Listing:
    """Every file of the kind; temporary files of editors are ignored without a message."""
    try:
        names = _names(folder(kind))
    except OSError as error:
        return Listing(unread=f"the folder cannot be read: {error.strerror}")
    root, found = folder(kind), dict[str, str]()
    refused, kept = [], []
    for file in names:
        stem, _, suffix = file.rpartition(".")
        if DROPPINGS.fullmatch(file):
            continue
        if KEPT.search(file):
            kept.append(f"{kind}/{_as_text(file)}")
        if f".{suffix.lower()}" not in SUFFIXES or not stem:
            continue
        reason = _reason(stem, f".{suffix}", found)
        if reason:
            refused.append((f"{kind}/{_as_text(file)}", reason))
        else:
            found[stem] = f"{root}/{file}"
    stems = sorted(found)
    loaded = stems[: MOST[kind]]
    refused += [
        (f"{kind}/{os.path.basename(found[stem])}",  # noqa: PTH119 - text already
         f"there are more than {MOST[kind]} {kind}; this one is not loaded")
        for stem in stems[MOST[kind] :]
    ]  # fmt: skip
    places = tuple(DashboardFile(kind, stem) for stem in loaded)
    return Listing(places, tuple(map(found.__getitem__, loaded)), tuple(refused), tuple(kept))


def full(kind: Kind) -> bool:
    return len(listing(kind).places) >= MOST[kind]


def writable(path: Path) -> bool:
    """Whether the file, its symlinks followed, is in a folder that this service may write to."""
    target = os.path.realpath(path)
    roots = (Path.home(), Path(settings.DATA_DIR))
    return any(Path(target).is_relative_to(os.path.realpath(root)) for root in roots)


def text_of_link(link: Path, folder: Path) -> str:
    """What a link in this folder has to hold to lead where `link` leads."""
    target = link.readlink()
    return str(target if target.is_absolute() else os.path.relpath(link.parent / target, folder))


def stamped_paths(folder: Path, name: str) -> Iterator[Path]:
    """Names with a time stamp for a removed file: `shop.20261120T115700Z.yaml`, then -2."""
    stem = f"{name}.{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    yield folder / f"{stem}.yaml"
    for number in range(2, 1000):
        yield folder / f"{stem}-{number}.yaml"


def expired_paths(folder: Path, name: str) -> list[Path]:
    """The removed files of this name that may be deleted: all but the newest KEEPS, once they are
    older than KEEP, and all beyond the newest MOST_KEPT."""
    matches = filter(None, map(STAMPED.fullmatch, _names(folder)))
    mine = [one for one in matches if one["name"] == name]
    mine.sort(key=lambda one: (one["at"], int(one["number"] or 1)), reverse=True)
    old = f"{datetime.now(UTC) - KEEP:%Y%m%dT%H%M%SZ}"
    return [
        folder / one[0]
        for place, one in enumerate(mine)
        if place >= MOST_KEPT or (place >= KEEPS and one["at"] < old)
    ]


def _names(folder: Path) -> list[str]:
    """The sorted names in a folder, `a.yaml` before `a.yml`; none if it does not exist."""
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - names are all that is wanted
    except FileNotFoundError:
        return []


def _reason(stem: str, suffix: str, found: dict[str, str]) -> str:
    if not SLUG.fullmatch(stem):
        return errors.bad_slug(_as_text(stem)).text
    if suffix not in SUFFIXES:
        return f'the name must end in .yaml, not in "{suffix}"'
    if stem in found:
        return f"{stem}.yaml exists too and is the one that counts; remove one of the two"
    return ""


def _as_text(name: str) -> str:
    """A file name as text, whatever bytes it has."""
    return os.fsencode(name).decode(errors="replace")


def _make_folder(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder
