"""One archive of everything a user would miss, and its way back into an empty data directory.

In it: the named folders, the config file, a consistent copy of the database. Never in it: the
secret key, run state, caches, logs, homes of turns. What was left out is reported, not guessed.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sqlite3
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

from config.kernel.errors import Conflict, Invalid
from config.kernel.storage.drafts import PREFIX
from config.kernel.storage.paths import UnsafePath, segment

FORMAT = 1
MANIFEST, END = "manifest.json", "end"
DATABASE, CONFIG = "database.sqlite3", "svc.config.yaml"
SPOOL = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Plan:
    """Where each part of an archive lives on this machine."""

    folders: Mapping[str, Path]
    config: Path
    database: Path | None  # None: not SQLite, to be dumped by its own tool


@dataclass(slots=True)
class Report:
    files: int = 0
    size: int = 0
    left_out: list[str] = field(default_factory=list)


def write(plan: Plan, archive: Path, *, version: str) -> Report:
    """Write the archive; it appears under its name only when it is whole."""
    report = Report()
    draft = archive.with_name(f"{PREFIX}{os.getpid()}-{secrets.token_hex(8)}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as stream:
            with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=6) as tar:
                _add_bytes(tar, MANIFEST, orjson.dumps({"format": FORMAT, "version": version}))
                _add_database(tar, plan, report)
                if plan.config.is_file():
                    _add_file(tar, CONFIG, plan.config, report)
                for name, folder in plan.folders.items():
                    _add_folder(tar, name, folder, report, skip={archive, draft})
                _add_bytes(tar, END, b"")
            stream.flush()
            os.fsync(stream.fileno())
        report.size = draft.stat().st_size
        draft.replace(archive)
    finally:
        draft.unlink(missing_ok=True)
    return report


def restore(plan: Plan, archive: Path) -> Report:
    """Unpack into places that hold nothing yet: Conflict. Invalid for what is no backup."""
    taken = [str(path) for path in _places(plan) if _holds_something(path)]
    if taken:
        raise Conflict(f"{taken[0]} already holds data; restore into an empty SVC_DATA_DIR")
    report = Report()
    links: list[tuple[str, Path]] = []
    try:
        with tarfile.open(archive, "r:*") as tar:
            _check(tar, plan)
        with tarfile.open(archive, "r:*") as tar:
            for member in tar:
                _restore_member(tar, member, plan, links, report)
    except (tarfile.TarError, EOFError, UnsafePath) as error:
        raise Invalid(f"{archive} is no usable backup: {error}") from None
    for target, path in links:  # last, so that nothing is ever written through one
        path.symlink_to(target)
    return report


def _places(plan: Plan) -> list[Path]:
    return [*plan.folders.values(), *([plan.database] if plan.database else [])]


def _holds_something(path: Path) -> bool:
    if path.is_dir():
        return any(path.iterdir())
    if path.suffix == ".sqlite3" and path.is_file():
        return path.stat().st_size > 0
    return os.path.lexists(path)


# -- writing ---------------------------------------------------------------------------------------


def _add_bytes(tar: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode, info.mtime = len(data), 0o600, int(time.time())
    tar.addfile(info, BytesIO(data))


def _add_database(tar: tarfile.TarFile, plan: Plan, report: Report) -> None:
    """SQLite's own online backup: consistent while others write."""
    if plan.database is None:
        report.left_out.append("the database: it is not SQLite, use its own dump tool")
        return
    if not plan.database.is_file():
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        with (
            contextlib.closing(sqlite3.connect(plan.database, timeout=20)) as source,
            contextlib.closing(sqlite3.connect(copy)) as target,
        ):
            source.backup(target)
            target.execute("PRAGMA journal_mode=DELETE")
        copy.chmod(0o600)
        _add_file(tar, DATABASE, copy, report)


def _add_folder(
    tar: tarfile.TarFile, name: str, folder: Path, report: Report, *, skip: set[Path]
) -> None:
    if not folder.is_dir():
        return
    for path, relative in _walk(folder, name):
        if path in skip or path.name.startswith(PREFIX):
            continue
        try:
            _add(tar, relative, path, report)
        except FileNotFoundError:
            continue  # went away meanwhile
        except OSError as error:
            report.left_out.append(f"{path}: {error.strerror}")


def _walk(folder: Path, name: str) -> Iterator[tuple[Path, str]]:
    """Everything below, folders first, symlinks not followed."""
    waiting = [(folder, name)]
    while waiting:
        path, relative = waiting.pop()
        yield path, relative
        if path.is_symlink() or not path.is_dir():
            continue
        with contextlib.suppress(OSError):
            waiting += [
                (below, f"{relative}/{below.name}")
                for below in sorted(path.iterdir(), reverse=True)
            ]


def _add(tar: tarfile.TarFile, name: str, path: Path, report: Report) -> None:
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
        _add_file(tar, name, path, report)
    else:
        report.left_out.append(f"{path}: a socket, pipe or device")


def _add_file(tar: tarfile.TarFile, name: str, path: Path, report: Report) -> None:
    """One file as long as it was when reading ended; it may grow or shrink meanwhile."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(fd, "rb") as stream, tempfile.SpooledTemporaryFile(SPOOL) as spool:
        found = os.fstat(fd)
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


# -- restoring -------------------------------------------------------------------------------------


def _check(tar: tarfile.TarFile, plan: Plan) -> None:
    """Read it to its end before anything is written: ours, whole, and all names safe."""
    first = last = tar.next()
    stream = tar.extractfile(first) if first and first.name == MANIFEST and first.isreg() else None
    try:
        found = orjson.loads(stream.read(1 << 16)) if stream else None
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise tarfile.ReadError(f"it does not begin with a {MANIFEST} of format {FORMAT}")
    for member in tar:
        _destination(member.name, plan)
        last = member
    if last is None or last.name != END:
        raise tarfile.ReadError("its end is missing")


def _restore_member(
    tar: tarfile.TarFile,
    member: tarfile.TarInfo,
    plan: Plan,
    links: list[tuple[str, Path]],
    report: Report,
) -> None:
    path = _destination(member.name, plan)
    if path is None:
        if member.name not in {MANIFEST, END}:
            report.left_out.append(f"{member.name}: has no place here")
        return
    if path == plan.config and os.path.lexists(path):
        report.left_out.append(f"{member.name}: {path} is there already")
        return
    if member.isdir():
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.chmod(member.mode & 0o777 | 0o700)
    elif member.issym():
        links.append((member.linkname, path))
    elif member.isreg() and (stream := tar.extractfile(member)):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.unlink(missing_ok=True)  # an empty database file, at most
        fd = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, member.mode & 0o777
        )
        with os.fdopen(fd, "wb") as target:
            shutil.copyfileobj(stream, target)
        os.utime(path, (member.mtime, member.mtime))
        report.files += 1
    else:
        report.left_out.append(f"{member.name}: neither file, folder nor symlink")


def _destination(name: str, plan: Plan) -> Path | None:
    """Where a member goes. UnsafePath for a name that could lead anywhere else."""
    parts = [segment(part) for part in PurePosixPath(name).parts]
    if parts == [DATABASE]:
        return plan.database
    if parts == [CONFIG]:
        return plan.config
    root = plan.folders.get(parts[0]) if parts else None
    return root.joinpath(*parts[1:]) if root else None
