"""A file that turns must not write, while turns run that could write it once its cover has fallen
off.

The sandbox mounts the file on itself, read-only. The kernel drops that mount when the name is given
to another file, which is how this service and most editors save; from then on the turn can write
the file. So while such a turn runs, changes in what the file grants are followed only if the
service itself wrote them, or if the file was never replaced. See
docs/design/trust.md#a-cover-that-falls-off.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from django.conf import settings

from config.errors import Conflict
from config.storage import locks, opening
from config.storage.drafts import etag_of

if TYPE_CHECKING:
    from config.storage.files import Snapshot

DOUBTED = (
    "cannot be followed: replaced while a turn worked beside it, so the turn may have written it; "
    "it holds as it was. Read what differs on the page of the project, and let it be followed there"
)
RECORD = "record.json"
# Keys of project.yaml that grant nothing: a turn may put their content into any other file. The
# other keys, and unknown ones, are followed only from those who may grant.
HARMLESS = frozenset(
    (
        *("name", "title", "description", "status", "summary", "group", "domain", "links"),
        *("pinned", "started", "updated", "instructions", "model", "models"),
    )
)


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of one file since the first of these turns began.

    `etags` are the versions it may have, the last one the version in force. `inode` is the covered
    file, until the cover `fell`. `doubted` is the stat the file had when the last turn ended, if it
    could not be followed then.
    """

    path: str
    turns: tuple[str, ...]
    etags: tuple[str, ...]
    inode: str
    fell: bool = False
    doubted: str = ""

    def follows(self, etag: str, stat: str) -> bool:
        """Whether no turn can have written what the file holds."""
        if etag in self.etags or (not self.fell and _inode(stat) == self.inode):
            return True
        return not self.turns and stat != self.doubted


@contextmanager
def beside(path: Path, turn: str) -> Iterator[None]:
    """A block in which a turn works beside the file, which its sandbox covers.

    The file is kept open during it, so that no other file gets its inode number.
    """
    with ExitStack() as held:
        with suppress(OSError):
            held.enter_context(opening.reading(path))
        begin(path, turn)
        try:
            yield
        finally:
            end(path, turn)


def begin(path: Path, turn: str) -> None:
    """Record that a turn is about to work beside the file."""
    with _locked_record(path) as (target, old):
        now = _now(target)
        if now is None:
            return
        if old is None or (not old.turns and _follows(target, old, now.etag, now.stat)):
            _forget(target)
            _keep(target, Record(str(target), (turn,), (now.etag,), _inode(now.stat)), now.data)
        else:
            fell = old.fell or not old.turns or _inode(now.stat) != old.inode
            _keep(target, replace(old, turns=(*old.turns, turn), fell=fell))


def recorded_files() -> list[tuple[Path, tuple[str, ...]]]:
    """Each file with the turns recorded beside it; a crash may have ended some of them."""
    try:
        folders = list(_root().iterdir())
    except FileNotFoundError:
        return []
    found = (_read(folder) for folder in folders)
    return [(Path(one.path), one.turns) for one in found if one]


def end(path: Path, turn: str) -> None:
    """Record that no process of the turn is left. Does nothing if that is recorded already."""
    with _locked_record(path) as (target, old):
        if old is None or turn not in old.turns:
            return
        left = tuple(one for one in old.turns if one != turn)
        now = None if left else _now(target)
        if left:
            _keep(target, replace(old, turns=left))
        elif now is None or _follows(target, old, now.etag, now.stat):
            _forget(target)
        else:
            _keep(target, replace(old, turns=(), doubted=now.stat))


def instead(path: Path, etag: str, stat: str) -> bytes | None:
    """The content in force if a turn may have written the file's; None if the file is followed."""
    if not _any():  # nearly always: looking for a record takes ten times as long
        return None
    target = Path(os.path.realpath(path))
    record = _record(target)
    if record is None or _follows(target, record, etag, stat):
        return None
    try:
        return opening.contents(_folder(target) / record.etags[-1])
    except FileNotFoundError:  # the turns have ended since
        return None


def grants_more(data: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether the content grants anything other than it did before."""
    return _grants(data) != _grants(before)


def follow(path: Path, etag: str, was: bytes) -> None:
    """Record that the version `etag` grants the same as `was`, so it is followed, whoever wrote it,
    while `was` is in force."""
    with suppress(FileNotFoundError):  # the turns have ended since
        (_folder(Path(os.path.realpath(path))) / f"{etag_of(was)}.{etag}").touch()


def confirm(path: Path, etag: str) -> None:
    """A person has read the file with this etag and wants it to be in force, whoever wrote it.

    Raises Conflict if the file has changed: a turn may write between the look and the confirmation.
    """
    with _locked_record(path) as (target, old):
        now = _now(target)
        if now is None or now.etag != etag:
            text = f"{path.name} has changed since it was shown; look at it again"
            raise Conflict(text, code="stale")
        if old is not None and old.turns:
            _keep_alone(target, replace(old, etags=(etag,), fell=True), now.data)
        else:
            _forget(target)
        os.utime(target, follow_symlinks=False)  # so that every process reads it again


def writes(target: Path, etag: str, stat: str, after: bytes) -> bool:
    """Whether the service may replace the file's content with `after`. If so, that is recorded
    first. The caller holds the lock of the file."""
    record = _record(target)
    if record is None:
        return True
    if not _follows(target, record, etag, stat):
        return False
    if record.turns:
        _keep(target, replace(record, etags=(etag, etag_of(after)), fell=True), after)
    return True


def wrote(target: Path) -> None:
    """The file holds what was recorded: no longer accept its former version."""
    record = _record(target)
    if record is None or not record.turns:
        return
    record = replace(record, etags=record.etags[-1:])
    with suppress(OSError):  # it is written; until the next record both versions are accepted
        _keep_alone(target, record)


def is_held(target: Path) -> bool:
    """Whether turns work, or worked, beside the file."""
    return _record(target) is not None


def _follows(target: Path, record: Record, etag: str, stat: str) -> bool:
    granting = _folder(target) / f"{record.etags[-1]}.{etag}"
    return record.follows(etag, stat) or granting.exists()


def _grants(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in HARMLESS}


@contextmanager
def _locked_record(path: Path) -> Iterator[tuple[Path, Record | None]]:
    target = Path(os.path.realpath(path))
    with locks.lock(f"{locks.FILE}{target}"):
        yield target, _record(target)


def _now(target: Path) -> Snapshot | None:
    from config.storage import files  # which imports this module

    try:
        return files.read(target)
    except OSError:  # an unreadable file is not followed
        return None


def _any() -> bool:
    """Whether there is a record of any file."""
    try:
        with os.scandir(_root()) as found:
            return next(found, None) is not None
    except FileNotFoundError:
        return False


def _record(target: Path) -> Record | None:
    return _read(_folder(target))


def _read(folder: Path) -> Record | None:
    """None also for a record that a crash of the machine left empty: its turns have ended."""
    with suppress(OSError, orjson.JSONDecodeError, KeyError, TypeError):
        told = orjson.loads(opening.contents(folder / RECORD))
        return Record(**told | {"turns": tuple(told["turns"]), "etags": tuple(told["etags"])})
    return None


def _keep(target: Path, record: Record, data: bytes | None = None) -> None:
    """Write the record. `data`: the bytes of its last etag, if they are not stored yet."""
    folder = _folder(target)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if data is not None:
        (folder / record.etags[-1]).write_bytes(data)
    spare = folder / f"{RECORD}.new"
    spare.write_bytes(orjson.dumps(asdict(record)))
    spare.replace(folder / RECORD)


def _keep_alone(target: Path, record: Record, data: bytes | None = None) -> None:
    """Write the record and delete every version that it does not name."""
    _keep(target, record, data)
    for one in _folder(target).iterdir():
        if one.name not in (RECORD, *record.etags):
            one.unlink()


def _forget(target: Path) -> None:
    shutil.rmtree(_folder(target), ignore_errors=True)


def _folder(target: Path) -> Path:
    """The folder of its record, of versions, and of empty files that `follow` makes."""
    name = hashlib.sha256(os.fsencode(target)).hexdigest()[:32]
    return _root() / name


def _root() -> Path:
    return Path(settings.DATA_DIR) / "state" / "covered"


def _inode(stat: str) -> str:
    """The last part of a stat text of files.py."""
    return stat.rpartition(":")[2]
