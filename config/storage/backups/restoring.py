"""Restores an archive (backup.py) into an empty data directory: all of it or nothing.

Everything is unpacked beside its final place and moved there at the end, inside the transaction
that loads the rows. The leftovers of a killed restore do not hinder the next one.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import orjson

from config.errors import Conflict, Invalid
from config.storage import homes, release
from config.storage.backups.backup import (
    CONFIG,
    DATABASE,
    END,
    FORMAT,
    MANIFEST,
    STAGE,
    Plan,
    Report,
    of_home,
)
from config.storage.paths import UnsafePath, segment

BROKEN = (tarfile.TarError, EOFError, UnsafePath, zlib.error)


def restore(plan: Plan, archive: Path) -> Report:
    """Unpack into places that hold nothing yet. Conflict if they do, Invalid if it is no backup."""
    _refuse_data(plan)
    report = Report()
    stage = Stage.beside(plan)
    try:
        with _opened(archive) as tar:
            _check(tar, stage)
        stage.clear()
        with _opened(archive) as tar:
            for member in tar:
                _unpack(tar, member, stage, report)
        stage.settle(plan, report)
    finally:
        stage.remove()
    return report


def config_of(archive: Path) -> bytes | None:
    """The configuration file in an archive; None if there is none in it."""
    with _opened(archive) as tar:
        found = next((member for member in tar if member.name == CONFIG and member.isreg()), None)
        stream = tar.extractfile(found) if found else None
        return stream.read() if stream else None


@contextlib.contextmanager
def _opened(archive: Path) -> Iterator[tarfile.TarFile]:
    """The archive from its beginning; Invalid if what is read of it is no backup."""
    try:
        with tarfile.open(archive, "r:*") as tar:
            yield tar
    except BROKEN as error:
        raise Invalid(f"{archive} is not a usable backup: {error}") from None


def _refuse_data(plan: Plan) -> None:
    for folder in plan.folders.values():
        if os.path.lexists(folder) and not (folder.is_dir() and all(map(_no_data, _in(folder)))):
            raise Conflict(f"{folder} already holds data; {_other_place(plan, folder)}")
    plan.database.refuse_data()


def _other_place(plan: Plan, folder: Path) -> str:
    data = plan.database.folder
    if folder.is_relative_to(data):
        return "restore into an empty SVC_DATA_DIR"
    return (
        "set SVC_PROJECTS_DIR to an empty directory, for this command and for the service, or put "
        f"a {CONFIG} with another projectsDir into {data} first"
    )


def _in(folder: Path) -> list[Path]:
    return sorted(folder.iterdir())


def _is_stage(path: Path) -> bool:
    return path.name.startswith(STAGE)


def _no_data(path: Path) -> bool:
    """Whether it may be there: a leftover of a killed restore, the projects directory's home."""
    return _is_stage(path) or path.name == homes.FOLDER


@dataclass(slots=True)
class Stage:
    """Where the parts of an archive wait, each on the file system of its final place."""

    folders: Mapping[str, Path]
    config: Path
    copy: Path
    links: list[tuple[str, Path]] = field(default_factory=list)
    moved: list[Path] = field(default_factory=list)

    @classmethod
    def beside(cls, plan: Plan) -> Stage:
        name = f"{STAGE}{secrets.token_hex(8)}"
        return cls(
            {key: folder / name for key, folder in plan.folders.items()},
            plan.config.with_name(f"{name}-config"),
            plan.database.folder / f"{name}-database",
        )

    def clear(self) -> None:
        """Remove what a killed restore left, and make the folders of this one."""
        parents = {path.parent for path in (*self.folders.values(), self.config, self.copy)}
        for left in (path for parent in parents if parent.is_dir() for path in _in(parent)):
            if _is_stage(left):
                _remove(left)
        for folder in self.folders.values():
            folder.mkdir(mode=0o700, parents=True)

    def settle(self, plan: Plan, report: Report) -> None:
        """Move everything to its place, or nothing. Symlinks are made last, so that nothing is ever
        written through one."""
        for target, path in self.links:
            path.symlink_to(target)
        os.sync()
        brought = plan.database.load(self.copy) if self.copy.is_file() else contextlib.nullcontext()
        try:
            with brought:
                self._move(plan, report)
        except BaseException:
            for path in self.moved:
                _remove(path)
            raise

    def _move(self, plan: Plan, report: Report) -> None:
        if os.path.lexists(self.config):
            if os.path.lexists(plan.config):
                report.left_out.append(f"{CONFIG}: {plan.config} is there already")
            else:
                self._rename(self.config, plan.config)
        for key, stage in self.folders.items():
            for path in _in(stage):
                self._rename(path, plan.folders[key] / path.name)
            plan.folders[key].chmod(stage.stat().st_mode & 0o777)

    def _rename(self, path: Path, place: Path) -> None:
        path.rename(place)
        self.moved.append(place)

    def remove(self) -> None:
        """Remove what was not moved."""
        for path in (*self.folders.values(), self.config, self.copy):
            _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    elif os.path.lexists(path):
        path.unlink()


def _check(tar: tarfile.TarFile, stage: Stage) -> None:
    """Read it to its end before anything is written: our format, complete, all names safe."""
    first = last = tar.next()
    stream = tar.extractfile(first) if first and first.name == MANIFEST and first.isreg() else None
    try:
        found = orjson.loads(stream.read(1 << 16)) if stream else None
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise tarfile.ReadError(f"it does not begin with a {MANIFEST} of format {FORMAT}")
    if release.newer(version := str(found.get("version"))):
        why = f"it was made by svc {version}, restore it with that version or newer"
        raise tarfile.ReadError(why)
    for member in tar:
        _destination(member.name, stage)
        last = member
    if last is None or last.name != END:
        raise tarfile.ReadError("its end is missing")


def _unpack(tar: tarfile.TarFile, member: tarfile.TarInfo, stage: Stage, report: Report) -> None:
    path = _destination(member.name, stage)
    if path is None:
        if member.name not in {MANIFEST, END}:
            report.left_out.append(f"{member.name}: has no place here")
    elif member.isdir():
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.chmod(member.mode & 0o777 | 0o700)
    elif member.issym():
        stage.links.append((member.linkname, path))
    elif member.isreg():
        _unpack_file(tar, member, path)
        report.files += 1
    else:
        report.left_out.append(f"{member.name}: neither file, folder nor symlink")


def _unpack_file(tar: tarfile.TarFile, member: tarfile.TarInfo, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    stream = tar.extractfile(member)
    assert stream is not None  # there always is one for a regular file
    with os.fdopen(os.open(path, flags, member.mode & 0o777), "wb") as target:
        shutil.copyfileobj(stream, target)
    os.utime(path, (member.mtime, member.mtime))


def _destination(name: str, stage: Stage) -> Path | None:
    """Where a member goes; None for no place. UnsafePath if its name could lead elsewhere."""
    parts = [segment(part) for part in PurePosixPath(name).parts]
    if parts == [DATABASE]:
        return stage.copy
    if parts == [CONFIG]:
        return stage.config
    root = stage.folders.get(parts[0]) if parts and not of_home(name) else None
    return root.joinpath(*parts[1:]) if root else None
