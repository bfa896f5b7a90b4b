"""A file that turns must not write, while turns are at work that could once its cover fell off.

The sandbox mounts the file on itself, read-only. The kernel takes that mount away when the name is
given to another file, which is how this service and most editors save; from then on the turn can
write it. So while such a turn runs, what grants something is followed only as it was, or as the
service itself wrote it, or where the file was never replaced. See
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
# Keys of project.yaml that grant nothing: a turn may say as much in any other file. The rest, and
# what is not known, is followed only from who may grant it.
HARMLESS = frozenset(
    (
        *("name", "title", "description", "status", "summary", "group", "domain", "links"),
        *("pinned", "started", "updated", "instructions", "model", "models"),
    )
)


@dataclass(frozen=True, slots=True)
class Record:
    """What is known of one file since the first of these turns began.

    `etags` are those it may have, the last one what holds; `inode` is the file that is covered,
    until it `fell`; `doubted` is the stat that it had when the last turn ended, where it could not
    be followed then.
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
    """A turn works beside the file, which its sandbox covers; it is over behind this.

    The file stays open meanwhile, so that no other one gets the number of its inode.
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
    """A turn is about to work beside the file."""
    with _recorded(path) as (target, old):
        now = _now(target)
        if now is None:
            return
        if old is None or (not old.turns and _follows(target, old, now.etag, now.stat)):
            _forget(target)
            _keep(target, Record(str(target), (turn,), (now.etag,), _inode(now.stat)), now.data)
        else:
            fell = old.fell or not old.turns or _inode(now.stat) != old.inode
            _keep(target, replace(old, turns=(*old.turns, turn), fell=fell))


def recorded() -> list[tuple[Path, tuple[str, ...]]]:
    """Each file, and the turns at work beside it; a crash may have ended those meanwhile."""
    try:
        folders = list(_root().iterdir())
    except FileNotFoundError:
        return []
    found = (_read(folder) for folder in folders)
    return [(Path(one.path), one.turns) for one in found if one]


def end(path: Path, turn: str) -> None:
    """No process of the turn is left; nothing where it is known to be over."""
    with _recorded(path) as (target, old):
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
    """What holds where a turn may have written what the file says; None where it is followed."""
    if not _any():  # as nearly always: to look for one takes ten times as long
        return None
    target = Path(os.path.realpath(path))
    record = _record(target)
    if record is None or _follows(target, record, etag, stat):
        return None
    try:
        return opening.contents(_folder(target) / record.etags[-1])
    except FileNotFoundError:  # the turns are over meanwhile
        return None


def grants_more(data: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Whether what the file says grants anything else than what it said."""
    return _grants(data) != _grants(before)


def follow(path: Path, etag: str, was: bytes) -> None:
    """It grants what it did, as long as that holds: whoever wrote it is heard."""
    with suppress(FileNotFoundError):  # the turns are over meanwhile
        (_folder(Path(os.path.realpath(path))) / f"{etag_of(was)}.{etag}").touch()


def confirm(path: Path, etag: str) -> None:
    """A person has read the file with this etag and wants it to hold, whoever wrote it.

    Conflict where it says something else by now: a turn may write between the look and the word.
    """
    with _recorded(path) as (target, old):
        now = _now(target)
        if now is None or now.etag != etag:
            text = f"{path.name} has changed since it was shown; look at it again"
            raise Conflict(text, code="stale")
        if old is not None and old.turns:
            _keep_alone(target, replace(old, etags=(etag,), fell=True), now.data)
        else:
            _forget(target)
        os.utime(target, follow_symlinks=False)  # so that every process looks at it again


def writes(target: Path, etag: str, stat: str, after: bytes) -> bool:
    """Whether the service may put `after` in the place of what the file holds. It is noted first.
    Whoever calls has the lock of the file."""
    record = _record(target)
    if record is None:
        return True
    if not _follows(target, record, etag, stat):
        return False
    if record.turns:
        _keep(target, replace(record, etags=(etag, etag_of(after)), fell=True), after)
    return True


def wrote(target: Path) -> None:
    """It holds what was noted, and what it held before is not to come back."""
    record = _record(target)
    if record is None or not record.turns:
        return
    record = replace(record, etags=record.etags[-1:])
    with suppress(OSError):  # it is written, and may hold the one or the other until the next time
        _keep_alone(target, record)


def is_held(target: Path) -> bool:
    """Whether turns are, or were, at work beside the file."""
    return _record(target) is not None


def _follows(target: Path, record: Record, etag: str, stat: str) -> bool:
    granting = _folder(target) / f"{record.etags[-1]}.{etag}"
    return record.follows(etag, stat) or granting.exists()


def _grants(data: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in HARMLESS}


@contextmanager
def _recorded(path: Path) -> Iterator[tuple[Path, Record | None]]:
    target = Path(os.path.realpath(path))
    with locks.lock(f"{locks.FILE}{target}"):
        yield target, _record(target)


def _now(target: Path) -> Snapshot | None:
    from config.storage import files  # which asks here before it writes

    try:
        return files.read(target)
    except OSError:  # what cannot be read is followed by nobody
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
    """None as well for one that a crash of the machine left empty: its turns are over."""
    with suppress(OSError, orjson.JSONDecodeError, KeyError, TypeError):
        told = orjson.loads(opening.contents(folder / RECORD))
        return Record(**told | {"turns": tuple(told["turns"]), "etags": tuple(told["etags"])})
    return None


def _keep(target: Path, record: Record, data: bytes | None = None) -> None:
    """`data`: the bytes of its last etag, where they are not there yet."""
    folder = _folder(target)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if data is not None:
        (folder / record.etags[-1]).write_bytes(data)
    spare = folder / f"{RECORD}.new"
    spare.write_bytes(orjson.dumps(asdict(record)))
    spare.replace(folder / RECORD)


def _keep_alone(target: Path, record: Record, data: bytes | None = None) -> None:
    """Nothing else of what it held is to come back."""
    _keep(target, record, data)
    for one in _folder(target).iterdir():
        if one.name not in (RECORD, *record.etags):
            one.unlink()


def _forget(target: Path) -> None:
    shutil.rmtree(_folder(target), ignore_errors=True)


def _folder(target: Path) -> Path:
    """Where its record lies, what holds, and an empty file for what grants as much (`follow`)."""
    name = hashlib.sha256(os.fsencode(target)).hexdigest()[:32]
    return _root() / name


def _root() -> Path:
    return Path(settings.DATA_DIR) / "state" / "covered"


def _inode(stat: str) -> str:
    """The last part of a stat as files.py tells it."""
    return stat.rpartition(":")[2]
