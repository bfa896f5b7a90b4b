"""The one writer of files: an edit is applied to the current file, and the result swapped in whole.

A reader sees the old or the new file, never a part. A save by hand that comes in between is put
back and the edit is repeated on it; what cannot be merged is kept beside the file as
`<name>.conflict-<stamp>`. Nothing else in the service may write a shared file in place.
"""

from __future__ import annotations

import contextlib
import logging
import os
import stat as modes
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from config.errors import Conflict, Stale, Unavailable
from config.storage import covered, displaced, locks, opening, syscalls
from config.storage.drafts import LIMIT, PREFIX, Draft, Folder, draft_name, etag_of, sweep
from config.storage.paths import UnsafePath, leads_out

__all__ = [
    "PREFIX", "CannotWrite", "Snapshot", "change", "etag_of", "lock", "new", "read", "stat_of",
    "sweep", "write", "writing",
]  # fmt: skip

log = logging.getLogger(__name__)

READ = 8 * 1024 * 1024  # bytes of a file, unless the reader gives a limit
TRIES = 5
SETTLE_S = 0.5  # an editor may still be saving a file this young
Edit = Callable[[bytes | None], bytes | None]

lock = locks.lock


class CannotWrite(Unavailable):
    """The disk refused; the file is unchanged."""


class _FileChanged(Exception):
    """The file changed during the write: start again from what it holds."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One state of one file. `etag` is the sha256 of the bytes, in hex."""

    data: bytes
    etag: str
    stat: str
    mode: int


def stat_of(path: Path) -> str | None:
    """`mtime_ns:size:inode` of the file, or None if it is missing. Cheap, but not a version."""
    try:
        return _stat_text(path.stat())
    except OSError:
        return None


def read(path: Path, *, limit: int = READ, within: Path | None = None) -> Snapshot | None:
    """The current file, None if absent. OSError if it cannot be read, is not a regular file
    or is larger than `limit`.

    UnsafePath if a link leads out of `within`. See opening.py for what is never opened.
    """
    try:
        fd = opening.regular(path, within=within)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except opening.Outside:
        raise UnsafePath(f"{path.name} leaves its folder") from None
    try:
        return _snapshot(fd, limit)
    finally:
        os.close(fd)


def write(path: Path, data: bytes, *, mode: int = 0o600, within: Path | None = None) -> Snapshot:
    """Make the file hold exactly `data`; `mode` is used only if the file does not exist yet."""
    done = change(path, lambda _now: data, mode=mode, within=within)
    assert done is not None
    return done


def change(
    path: Path,
    edit: Edit,
    *,
    if_match: str | None = None,
    mode: int = 0o600,
    within: Path | None = None,
) -> Snapshot | None:
    """Apply `edit` to the file; it gets None for an absent file and returns None to delete it.

    `edit` may be called several times, each time with the current content, and again up to a second
    later for an editor that saved through an old handle: it must only make its own change. Errors
    it raises leave the file unchanged. Stale if `if_match` (an etag, or "*") does not match,
    CannotWrite if the disk refuses.
    """
    target = Path(os.path.realpath(path))  # if the file is a symlink, its target is written
    with (
        writing(path.name),
        lock(f"{locks.FILE}{target}"),
        _folder_of(target, within) as folder,
    ):
        return _Change(folder, target.name, edit, if_match, mode).run()


def new(path: Path, data: bytes, *, within: Path | None = None) -> None:
    """Create a file whose name is unique, such as an id: Conflict if it exists. Takes no lock,
    which would be one more file to create and remove."""
    with (
        writing(path.name),
        _folder_of(path, within) as folder,
        Draft.write(folder, data, 0o600) as draft,
    ):
        try:
            folder.move(draft.name, path.name)
        except FileExistsError:
            raise Conflict(f"{path.name} is there already") from None
        draft.mark_gone()
        try:
            folder.sync()
        except OSError:  # the caller gets an error, so the file must not exist
            folder.remove(path.name)
            raise


@contextlib.contextmanager
def _folder_of(target: Path, within: Path | None) -> Iterator[Folder]:
    with Folder.open(target.parent) as folder:
        if within is not None:
            real = opening.path_of(folder.fd, target.parent)
            if not f"{real}/".startswith(f"{within}/") and leads_out(within, Path(real)):
                raise UnsafePath(f"{target.name} leaves its folder")
        yield folder


@contextlib.contextmanager
def writing(name: str) -> Iterator[None]:
    """OSErrors raised inside become CannotWrite."""
    try:
        yield
    except OSError as error:
        raise CannotWrite(f"Cannot write {name}: {os.strerror(error.errno or 0)}") from error


@dataclass(frozen=True, slots=True)
class _Change:
    """One edit of one name in one open folder, while its lock is held."""

    folder: Folder
    name: str
    edit: Edit
    if_match: str | None
    mode: int

    @property
    def path(self) -> Path:
        return self.folder.path / self.name

    def run(self) -> Snapshot | None:
        for _ in range(TRIES):
            before = self._read_settled()
            self._check(before)
            try:
                after = self.edit(before.data if before else None)
            except Exception as error:
                if before and _unreadable(error) and self._changes_soon(before):
                    continue
                raise
            if after == (before.data if before else None):
                return before
            self._check_cover(before, after)
            try:
                done = self._commit(before, after)
            except _FileChanged:
                continue
            covered.wrote(self.path)
            return done
        raise Conflict("The file keeps changing; try again")

    def _read_settled(self) -> Snapshot | None:
        """The current file; one that was just truncated is given a moment to be filled."""
        now = self._read(self.name)
        if now is not None and not now.data and self._changes_soon(now):
            return self._read(self.name)
        return now

    def _changes_soon(self, seen: Snapshot) -> bool:
        """While the file is very young, wait for a change. Return whether there was one."""
        deadline = time.monotonic() + SETTLE_S  # the file's time may be in the future
        while (
            time.time() - int(seen.stat.split(":")[0]) / 1e9 < SETTLE_S
            and time.monotonic() < deadline
        ):
            now = self._read(self.name)
            if now is None or now.stat != seen.stat:
                return True
            time.sleep(0.01)
        return False

    def _check(self, before: Snapshot | None) -> None:
        if self.if_match is None or (before and self.if_match in {"*", before.etag}):
            return
        raise Stale(
            f"{self.name} has changed since you read it; read it again and repeat the change"
        )

    def _check_cover(self, before: Snapshot | None, after: bytes | None) -> None:
        etag, stat = (before.etag, before.stat) if before else ("", "")
        if not covered.writes(self.path, etag, stat, after or b""):
            raise Conflict(f"{self.name} {covered.DOUBTED}", code="doubted")

    def _commit(self, before: Snapshot | None, after: bytes | None) -> Snapshot | None:
        if before is None:
            assert after is not None  # an absent file stays absent without a commit
            return self._create(after)
        if after is None:
            self._delete(before)
            return None
        return self._replace(before, after)

    def _create(self, after: bytes) -> Snapshot:
        with Draft.write(self.folder, after, self.mode) as draft:
            try:
                self.folder.move(draft.name, self.name)
            except FileExistsError:
                raise _FileChanged from None
            draft.mark_gone()
            self.folder.sync()
            return _snapshot_of(draft)

    def _delete(self, before: Snapshot) -> None:
        spare = draft_name(self.name, before.etag, "")
        try:
            self.folder.move(self.name, spare)
        except FileNotFoundError:
            raise _FileChanged from None
        if self._bytes(spare) != before.data:
            self._return(spare)
            raise _FileChanged
        self._leave(spare, before.data, None)
        self.folder.sync()

    def _return(self, spare: str) -> None:
        """Give a file that was moved by mistake its name back, or keep it beside its successor."""
        try:
            self.folder.move(spare, self.name)
        except FileExistsError:
            self.folder.keep(spare, self.name)

    def _replace(self, before: Snapshot, after: bytes) -> Snapshot:
        with Draft.write(self.folder, after, before.mode, exact=True) as draft:
            draft.rename(draft_name(self.name, before.etag, etag_of(after)))
            try:
                self.folder.swap(draft.name, self.name)
            except FileNotFoundError:
                raise _FileChanged from None
            draft.mark_gone()  # its name holds the displaced file
            if self._bytes(draft.name) != before.data:
                self._put_back(draft.name, after)
                raise _FileChanged
            self._leave(draft.name, before.data, after)
            self.folder.sync()
            return _snapshot_of(draft)

    def _put_back(self, spare: str, after: bytes) -> None:
        """Give the name back to the save that came in between, as if ours had never been there."""
        self.folder.swap(spare, self.name)
        if self._bytes(spare) == after:
            self._leave(spare, after, None)
            return
        # a second save replaced ours meanwhile: the newest stays, the older one is kept beside it
        self.folder.swap(spare, self.name)
        self.folder.keep(spare, self.name)

    def _leave(self, spare: str, was: bytes, after: bytes | None) -> None:
        """Have the displaced file checked once more, after the answer, and then removed."""
        merge = partial(_merge_late, self.path, self.edit, after)
        displaced.watch(displaced.DisplacedFile(self.folder.path / spare, self.path, was, merge))

    def _read(self, name: str) -> Snapshot | None:
        try:
            fd = syscalls.again(syscalls.open_at, name, os.O_RDONLY | os.O_NONBLOCK, self.folder.fd)
        except FileNotFoundError:
            return None
        try:
            return _snapshot(fd, LIMIT)
        finally:
            os.close(fd)

    def _bytes(self, name: str) -> bytes | None:
        found = self._read(name)
        return found.data if found else None


def _merge_late(target: Path, edit: Edit, ours: bytes | None, late: bytes) -> bool:
    """Repeat the edit on a save that came through an old handle, unless ours was changed since."""

    def redo(now: bytes | None) -> bytes | None:
        if now != ours:
            raise _FileChanged
        return edit(late)

    try:
        if ours is None or covered.is_held(target):  # a turn may have that handle
            return False
        return change(target, redo) is not None
    except Exception as error:
        log.info(
            "a late save stays beside the file", extra={"file": str(target), "why": repr(error)}
        )
        return False


def _snapshot(fd: int, limit: int) -> Snapshot:
    """All bytes of an open regular file, read again until it does not change meanwhile."""
    for _ in range(TRIES):
        before = os.fstat(fd)
        data = opening.whole(fd, limit)
        if _stat_text(os.fstat(fd)) == _stat_text(before):
            break
    return Snapshot(data, etag_of(data), _stat_text(before), modes.S_IMODE(before.st_mode))


def _snapshot_of(draft: Draft) -> Snapshot:
    mode = modes.S_IMODE(draft.stat.st_mode)
    return Snapshot(draft.data, etag_of(draft.data), _stat_text(draft.stat), mode)


def _stat_text(stat: os.stat_result) -> str:
    return f"{stat.st_mtime_ns}:{stat.st_size}:{stat.st_ino}"


def _unreadable(error: BaseException) -> bool:
    """Whether the edit could not make sense of the bytes (yamlio.YamlError)."""
    return any(getattr(e, "unreadable", False) for e in (error, error.__cause__, error.__context__))
