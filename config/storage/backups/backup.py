"""One archive of everything a user would miss, written while everything runs.

It holds a copy of the database as of one moment, then the config file and the named folders, so its
files are never older than the rows that refer to them. It never holds the secret key, run state,
caches, logs (those of apps too), homes of turns, or the home of the projects directory: what is
restored elsewhere is another directory. A link to a folder of projects or to a project is followed,
as the service follows it, and restored as a folder; other links stay links. What was left out is
reported, not guessed. restoring.py restores it.
"""

from __future__ import annotations

import os
import secrets
import stat as modes
import tarfile
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO

import orjson

from config.storage import homes, opening
from config.storage.backups.copies import Database
from config.storage.drafts import PREFIX

FORMAT = 1
MANIFEST, END = "manifest.json", "end"
DATABASE, CONFIG = "database.sqlite3", "svc.config.yaml"
STAGE = ".svc-restore-"  # the prefix of the names of an unfinished restore's files
PROJECT = "project.yaml"  # a folder that holds it is a project
LINKED = "what this link leads to; the link itself is in the archive"
LOGS = "dashboard/logs"  # the output of apps, by its name in an archive
SPOOL = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Plan:
    """Where each part of an archive is on this machine."""

    folders: Mapping[str, Path]
    config: Path
    database: Database


@dataclass(slots=True)
class Report:
    files: int = 0
    size: int = 0
    notes: list[str] = field(default_factory=list)  # remarks on the rows
    left_out: list[str] = field(default_factory=list)


def write(plan: Plan, archive: Path, *, version: str) -> Report:
    """Write the archive; it gets its name only when it is complete."""
    report = Report()
    archive = archive.parent.resolve() / archive.name
    draft = archive.with_name(f"{PREFIX}{os.getpid()}-{secrets.token_hex(8)}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as stream:
            with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=6) as tar:
                _add_bytes(tar, MANIFEST, orjson.dumps({"format": FORMAT, "version": version}))
                _add_database(tar, plan, archive.parent, report)
                if plan.config.is_file():
                    _add_file(tar, CONFIG, plan.config, plan.config.resolve().parent, report)
                for name in plan.folders:
                    _add_folder(tar, plan, name, report, skip={archive, draft})
                _add_bytes(tar, END, b"")
            stream.flush()
            os.fsync(stream.fileno())
        report.size = draft.stat().st_size
        draft.replace(archive)
    finally:
        draft.unlink(missing_ok=True)
    return report


def _add_bytes(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = len(data), 0o600, int(time.time())
    tar.addfile(info, BytesIO(data))


def _add_database(tar: tarfile.TarFile, plan: Plan, folder: Path, report: Report) -> None:
    """Add a copy of the database. For a while it needs the room of all rows beside the archive."""
    with tempfile.TemporaryDirectory(dir=folder, prefix=PREFIX) as scratch:
        copy = Path(scratch) / DATABASE
        report.notes += plan.database.save(copy)
        if copy.is_file():
            copy.chmod(0o600)
            _add_file(tar, DATABASE, copy, Path(scratch), report)


def _add_folder(
    tar: tarfile.TarFile, plan: Plan, name: str, report: Report, *, skip: set[Path]
) -> None:
    if not plan.folders[name].is_dir():
        return
    for path, relative, root in _walk(plan, name, report):
        if path in skip or of_home(relative):
            continue
        try:
            _add(tar, relative, path, root, report)
        except FileNotFoundError:
            continue  # deleted since it was listed
        except OSError as error:
            report.left_out.append(f"{path}: {error.strerror}")


def of_home(name: str) -> bool:
    """Whether a member would identify the projects directory it came from."""
    return PurePosixPath(name).parts[1:2] == (homes.FOLDER,)


def _walk(plan: Plan, name: str, report: Report) -> Iterator[tuple[Path, str, Path]]:
    """Everything below except logs and unfinished files, folders first, each with the folder that
    no link may lead it out of. A link is followed only to a project and only outside of projects,
    so there are no loops."""
    tops = {folder.resolve() for folder in plan.folders.values()}
    top = plan.folders[name].resolve()
    waiting = [(top, name, top)]
    while waiting:
        path, relative, root = waiting.pop()
        if relative == LOGS or path.name.startswith((PREFIX, STAGE)):
            continue
        if root in tops and modes.S_ISLNK(_mode(path)):
            path = _project_behind(path, tops, report) or path
        if is_folder := modes.S_ISDIR(_mode(path)):
            root = path if _is_project(path) else root
        yield path, relative, root
        if is_folder:
            below = _entries(path, report)
            waiting += [(entry, f"{relative}/{entry.name}", root) for entry in below]


def _mode(path: Path) -> int:
    """Type and permissions; 0 if it is gone or its folder may not be searched."""
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def _is_project(folder: Path) -> bool:
    try:
        return (folder / PROJECT).is_file()
    except OSError:
        return False


def _entries(folder: Path, report: Report) -> list[Path]:
    """What is in a folder, the last name first. If it cannot be listed, the report says so."""
    try:
        return sorted(folder.iterdir(), reverse=True)
    except (FileNotFoundError, NotADirectoryError):  # gone since it was seen
        return []
    except OSError as error:
        report.left_out.append(f"{folder}: {error.strerror}")
        return []


def _project_behind(link: Path, tops: set[Path], report: Report) -> Path | None:
    """The project that a link leads to; None, reported, if it leads to something else. None also
    if the archive holds that anyway."""
    found = Path(os.path.realpath(link))
    if any(found.is_relative_to(top) for top in tops):
        return None
    holds_ours = any(top.is_relative_to(found) for top in tops)  # and with it, our secrets
    if not holds_ours and _is_project(found):
        return found
    report.left_out.append(f"{link}: {LINKED}")
    return None


def _add(tar: tarfile.TarFile, name: str, path: Path, root: Path, report: Report) -> None:
    found = path.lstat()
    info = tarfile.TarInfo(name)
    info.mode, info.mtime = modes.S_IMODE(found.st_mode), int(found.st_mtime)
    if modes.S_ISLNK(found.st_mode):
        info.type, info.linkname = tarfile.SYMTYPE, str(path.readlink())
        tar.addfile(info)
    elif modes.S_ISDIR(found.st_mode):
        info.type = tarfile.DIRTYPE
        tar.addfile(info)
    elif modes.S_ISREG(found.st_mode):
        _add_file(tar, name, path, root, report)
    else:
        report.left_out.append(f"{path}: a socket, pipe or device")


def _add_file(tar: tarfile.TarFile, name: str, path: Path, root: Path, report: Report) -> None:
    """Add one file, cut to its length when it was opened; it may change while it is read."""
    with (
        opening.reading(path, within=root) as stream,
        tempfile.SpooledTemporaryFile(SPOOL) as spool,
    ):
        found = os.fstat(stream.fileno())
        _copy(stream, spool, found.st_size)
        info = tarfile.TarInfo(name)
        info.size, info.mode, info.mtime = (
            spool.tell(),
            modes.S_IMODE(found.st_mode),
            int(found.st_mtime),
        )
        spool.seek(0)
        tar.addfile(info, spool)
    report.files += 1


def _copy(source: IO[bytes], target: IO[bytes], size: int) -> None:
    while size > 0 and (part := source.read(min(size, 1 << 20))):
        target.write(part)
        size -= len(part)
