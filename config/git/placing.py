"""Replaces one path of a working tree in one step, if it holds what is expected.

What was replaced is compared with what was expected and put back if it differs, so no save by an
editor in between is lost. A crash leaves the old or the new entry and at most a draft, which the
next try removes. The rules are those of config/storage/files.py, for files with modes and for
links.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from config.git import entries
from config.git.entries import LINK, PROGRAM, EntryContent, Odd
from config.storage import displaced, drafts, syscalls
from config.storage.displaced import DisplacedFile
from config.storage.drafts import PREFIX, Draft, Folder, draft_name


class PathChanged(Exception):
    """The path holds something else than expected; it was left unchanged."""


def place(
    root: str,
    path: str,
    was: EntryContent | None,
    wanted: tuple[str, bytes] | None,
    *,
    sha256: bool,
) -> None:
    """Make the path hold (mode, bytes), or nothing for None. Raises PathChanged unless it holds
    `was`, Astray, OSError."""
    try:
        with entries.folder_of(root, path, make=wanted is not None) as (fd, name):
            folder = Folder(Path(root, path).parent, fd)
            _Placing(folder, name, was, sha256).run(wanted)
            folder.sync()
    except entries.Astray:
        raise
    except (FileNotFoundError, NotADirectoryError, FileExistsError, Odd):
        raise PathChanged(path) from None


def tidy(root: str, path: str) -> None:
    """Remove the folders above a deleted path, as far as they are empty."""
    with contextlib.suppress(OSError, Odd):
        while path := path.rpartition("/")[0]:
            with entries.folder_of(root, path) as (fd, name):
                os.rmdir(name, dir_fd=fd)


def sweep(root: str, paths: Iterable[str]) -> None:
    """Remove drafts beside these paths that a killed try left behind."""
    for above in {path.rpartition("/")[0] for path in paths}:
        beside = f"{above}/x".lstrip("/")  # only its folder is used
        with contextlib.suppress(OSError, Odd), entries.folder_of(root, beside) as (fd, _):
            drafts.sweep([Path(root, above)])
            _sweep_links(fd)


def _sweep_links(folder: int) -> None:
    """Links are drafts too: remove one if its target matches the hash in its name."""
    for name in os.listdir(folder):
        if not name.startswith(PREFIX):
            continue
        with contextlib.suppress(OSError):
            told = _sum(os.fsencode(os.readlink(name, dir_fd=folder)))
            if told in name:
                os.unlink(name, dir_fd=folder)


def _sum(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[: drafts.SHORT]


class _Placing:
    """One replacement in one open folder."""

    def __init__(self, folder: Folder, name: str, was: EntryContent | None, sha256: bool) -> None:
        self.folder, self.name, self.was, self.sha256 = folder, name, was, sha256

    def run(self, wanted: tuple[str, bytes] | None) -> None:
        if wanted is None:
            self._delete()
            return
        draft = self._draft(*wanted)
        try:
            if self.was is None:
                self.folder.move(draft, self.name)
            else:
                self._swap(draft, wanted)
        except BaseException:
            self._discard(draft, wanted[1])
            raise

    def _delete(self) -> None:
        assert self.was is not None
        spare = draft_name(self.name, _sum(self.was.data), "")
        self.folder.move(self.name, spare)
        if not self._is(spare, self.was):
            self._return(spare)
            raise PathChanged(self.name)
        self.folder.remove(spare)  # at once: its folder may have to be removed next

    def _swap(self, draft: str, wanted: tuple[str, bytes]) -> None:
        assert self.was is not None
        if not self._is(self.name, self.was):
            raise PathChanged(self.name)
        self.folder.swap(draft, self.name)
        if self._is(draft, self.was):
            self._leave(draft)
            return
        self.folder.swap(draft, self.name)  # a save came in between: it gets its name back
        found = self._find(draft)
        if found is None or found.data != wanted[1]:  # and a second save came in meanwhile
            self.folder.swap(draft, self.name)
            self.folder.keep(draft, self.name)
        raise PathChanged(self.name)

    def _draft(self, mode: str, data: bytes) -> str:
        old = _sum(self.was.data) if self.was else ""
        name = draft_name(self.name, old, _sum(data))
        if mode == LINK:
            os.symlink(os.fsdecode(data), name, dir_fd=self.folder.fd)
            return name
        bits = self._bits(mode)
        # It gets the name with the hashes, by which a sweep knows it, only when it is complete.
        early = f"{PREFIX}{os.getpid()}-{secrets.token_hex(8)}"
        Draft.compose(self.folder, early, data, bits[0], exact=bits[1])
        syscalls.again(syscalls.rename, early, name, self.folder.fd)
        return name

    def _bits(self, mode: str) -> tuple[int, bool]:
        """The permissions of the new file, and whether to set them exactly, whatever the umask."""
        if self.was is None or self.was.entry.mode == LINK:
            return (0o777 if mode == PROGRAM else 0o666), False
        bits = self.was.permissions
        if (bits & 0o100 != 0) == (mode == PROGRAM):
            return bits, True
        return (bits | (bits & 0o444) >> 2 if mode == PROGRAM else bits & ~0o111), True

    def _discard(self, draft: str, data: bytes) -> None:
        """Remove the draft if it is ours; anything else under its name is left to the sweep."""
        with contextlib.suppress(OSError, Odd):
            found = self._find(draft)
            if found is not None and found.data == data:
                self.folder.remove(draft)

    def _find(self, name: str) -> EntryContent | None:
        return entries.find(self.folder.fd, name, sha256=self.sha256)

    def _is(self, name: str, wanted: EntryContent) -> bool:
        try:
            found = self._find(name)
        except Odd:
            return False
        return found is not None and found.entry == wanted.entry

    def _return(self, spare: str) -> None:
        try:
            self.folder.move(spare, self.name)
        except FileExistsError:
            self.folder.keep(spare, self.name)

    def _leave(self, spare: str) -> None:
        """The displaced file is checked once more later: an editor may still write to it."""
        assert self.was is not None
        if self.was.entry.mode == LINK:
            self.folder.remove(spare)
            return
        path = self.folder.path
        displaced.watch(
            DisplacedFile(path / spare, path / self.name, self.was.data, lambda _late: False)
        )
