"""Changes of files: one operation on the file as it is now, refused while it is invalid."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from config.errors import Conflict, NotFound, SvcError
from config.storage import files, yamlio
from config.storage.paths import UnsafePath, leads_out
from review import caches
from review.files import backups, layout
from review.files.layout import PROJECT
from review.files.reading import MIRROR, load

VERSION = 1
NUMBER = re.compile(r"[0-9]{1,9}")

ECHO_S = 1.0  # the watcher sees a change within this time
MOST_EXPECTED = 64  # of one file; more are pending only if nothing watches

_expected: caches.Memory[Path, tuple[tuple[float, str], ...]] = caches.Memory(4096, shared=True)
_lock = threading.Lock()


def change(parts: Sequence[str], edit: files.Edit, *, backup: bool = False) -> None:
    """Apply `edit` to the file as it is now, through the kernel's writer.

    `edit` gets None for an absent file and returns None to remove it; it may be called several
    times, and may raise YamlError for contents it cannot handle. `backup` keeps the previous text.
    Raises Conflict (invalid_file, newer_file, changed) if the file, or a project.yaml above it,
    must not be written; SvcError "Cannot write ..." if the disk refuses. Then nothing has changed.
    """
    target, name = layout.path(*parts), "/".join(parts[1:])
    if name != PROJECT:
        _check_project(parts[0])
    apply = partial(_apply, tuple(parts), edit, backup)
    try:
        if not os.path.isdir(target.parent):  # noqa: PTH112 - no error is one of ours
            if apply(None) is None:
                return  # nothing to write: no folder is made
            if leads_out(layout.project(parts[0]), target.parent):
                raise UnsafePath(f"{name} leaves its folder")
            with files.writing(name):
                target.parent.mkdir(parents=True, exist_ok=True)
        files.change(target, apply, mode=0o666, within=layout.project(parts[0]))
    except UnsafePath as error:
        text = f"{name} is behind a link that leads out of the project; nothing was changed."
        raise Conflict(text, code="invalid_file") from error
    except files.CannotWrite as error:
        reason = getattr(error.__cause__, "strerror", None) or str(error)
        raise SvcError(f"Cannot write {name}: {reason}") from error
    except Conflict as error:
        code = "changed" if error.code == Conflict.code else error.code
        raise Conflict(error.text, code=code) from error


def check_whole(name: str, error: str | None, version: int = VERSION) -> None:
    """Raise Conflict unless all of a file is understood: with an `error` from reading it, or a
    newer `version`, it is neither written nor taken over."""
    if error and error.startswith("cannot be "):
        raise Conflict(f"{name} {error}; nothing was changed.", code="invalid_file")
    if error:
        raise _invalid(name, error.partition(": ")[0])
    if version > VERSION:
        text = f"{name} was written by a newer version; nothing was changed."
        raise Conflict(text, code="newer_file")


def expect(file: Path, data: bytes | None) -> None:
    """Announce that this process is about to write these bytes, or to remove the file."""
    etag = "" if data is None else files.etag_of(data)
    with _lock:
        waiting = _expected.get(file) or ()
        _expected.put(file, (*waiting, (time.monotonic(), etag))[-MOST_EXPECTED:])


def is_own_write(file: Path, etag: str) -> bool:
    """Whether the file's current content ("" for no file) was written by this process.

    True once: neither this write nor earlier ones are expected again. If the content is someone
    else's, writes of more than a second ago are dropped too, as they have been replaced since.
    """
    now = time.monotonic()
    with _lock:
        waiting = _expected.get(file) or ()
        known = [place for place, (_at, one) in enumerate(waiting) if one == etag]
        left = (
            waiting[known[-1] + 1 :]
            if known
            else (tuple(one for one in waiting if now - one[0] < ECHO_S))
        )
        _expected.put(file, left)
    return bool(known)


def _apply(
    parts: tuple[str, ...], edit: files.Edit, backup: bool, data: bytes | None
) -> bytes | None:
    """Apply the edit, with the checks and the backup that every file gets."""
    name = "/".join(parts[1:])
    try:
        if data is not None:
            _check_version(load("/".join(parts), data)[0], name)
        after = edit(data)
    except yamlio.YamlError as error:
        raise _refusal(name, error) from error
    if after == data:
        return data
    if backup and data is not None:
        backups.keep(parts, data)
    expect(layout.path(*parts), after)
    return after


def _check_project(slug: str) -> None:
    """Raise Conflict if project.yaml cannot be read: nothing below it is written then."""
    found = MIRROR.get(f"{slug}/{PROJECT}")
    if found is None:
        raise NotFound(f"No such project: {slug}")
    check_whole(PROJECT, found.error)


def _check_version(texts: dict[str, Any], name: str) -> None:
    version = texts.get("version")
    if name != PROJECT and isinstance(version, str) and NUMBER.fullmatch(version):
        check_whole(name, None, int(version))


def _refusal(name: str, error: yamlio.YamlError) -> Conflict:
    if isinstance(error, yamlio.NotSpliceable):
        text = f"{name}: {error}. Change it by hand; nothing was changed."
        return Conflict(text, code="invalid_file")
    return _invalid(name, f"line {error.line}, column {error.column}")


def _invalid(name: str, where: str) -> Conflict:
    text = f"{name} is not valid YAML ({where}). Fix the file by hand; nothing was changed."
    return Conflict(text, code="invalid_file")
