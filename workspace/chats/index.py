"""The index of chats: what lists show of each, rebuilt from its two files when they change.

File stats decide whether a row is still valid. This process keeps the rows in memory. The table
only spares a restart from reading every transcript again; it never decides anything.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import IntegrityError, OperationalError, transaction

from config.errors import SvcError
from workspace.chats import counts, files, titles
from workspace.chats.counts import moment
from workspace.models import Chat, Searched
from workspace.projects.project import Project

log = logging.getLogger(__name__)

RECORDS_LOOK_S = 2.0  # a record edited in place does not touch its folder
YOUNG_NS = 50_000_000  # a file changed this recently may be in the middle of a write
INHERITED = (  # by a fork; not what its source spent
    "title", "preview", "messages", "entries", "offset", "damaged", "arrived", "updated",
    "last_turn", "context", "hosts", "instructions",
)  # fmt: skip

Stamp = tuple[int, int, int]  # mtime_ns, size, inode
ABSENT: Stamp = (0, 0, 0)


@dataclass(slots=True)
class _Entry:
    row: Chat
    record: Stamp
    transcript: Stamp


@dataclass(slots=True)
class _Folder:
    """One project's chats as this process knows them."""

    path: str
    entries: dict[str, _Entry] = field(default_factory=dict)
    newest: list[Chat] = field(default_factory=list)  # empty while the order is not known
    # Columns that forks inherit, until this process first reads the fork.
    copies: dict[str, dict[str, Any]] = field(default_factory=dict)
    stamp: tuple[int, int] = (0, 0)
    looked: float = -RECORDS_LOOK_S
    lock: threading.Lock = field(default_factory=threading.Lock)


_folders: dict[str, _Folder] = {}
_guard = threading.Lock()


def entries(project: Project) -> list[Chat]:
    """Every chat of the project as its files are now, newest first."""
    folder = _folder(project)
    with folder.lock:
        _look(project, folder)
        if not folder.newest:
            rows = (entry.row for entry in folder.entries.values())
            folder.newest = sorted(rows, key=age, reverse=True)
        return [*folder.newest]


def age(row: Chat) -> tuple[datetime, str]:
    """Sort key: lists are in descending order of it."""
    return (row.updated, row.id)


def get(project: Project, session_id: str) -> Chat:
    """One chat as its files are now. Raises NotFound if there is none."""
    path = files.record_path(project, session_id)
    folder = _folder(project)
    with folder.lock:
        record, lines = _stamp(str(path)), _stamp(str(path.with_suffix(".jsonl")))
        if record == ABSENT:
            _forget(folder, {session_id} & folder.entries.keys())
            if lines == ABSENT:  # else it may be a fork whose record is being written
                folder.copies.pop(session_id, None)
            raise files.missing(project.slug, session_id)
        return _refresh(project, folder, session_id, record, lines)


def record(row: Chat) -> files.ChatRecord:
    """The record of a chat, from its row; call `get` first, which updates the row from the file."""
    return files.from_wire(row.project, row.id, row.record).with_changes(error=row.error)


def rescan(project: Project) -> set[str]:
    """Update every row from its files. Return the ids that changed or were deleted."""
    before = dict(Chat.objects.filter(project=project.slug).values_list("id", "transcript_stat"))
    now = {row.id: row for row in entries(project)}
    _forget(_folder(project), before.keys() - now.keys())
    changed = {
        session_id
        for session_id, row in now.items()
        if before.get(session_id) != row.transcript_stat
    }
    for session_id in changed:
        _store(now[session_id])
    return changed | (before.keys() - now.keys())


def suggest_title(project: Project, session_id: str, prompt: str) -> None:
    """Name the chat after its first prompt until the first turn writes it to the transcript."""
    row = get(project, session_id)
    if not row.title:
        row.title = titles.title(prompt)
        _name(project, row)
        _store(row)


@contextmanager
def inheriting(project: Project, source: Chat, fork_id: str) -> Iterator[None]:
    """Surround the writing of a fork's record, so that the first reader of a complete copy, mostly
    the watcher, takes its counts from the source instead of reading the transcript. The fork starts
    as read."""
    chats, folder = project.chats_dir, _folder(project)
    of_fork, of_source = (_stamp(f"{chats}/{one}.jsonl") for one in (fork_id, source.id))
    with folder.lock:
        if source.transcript_stat == _text(of_source) and source.offset == of_fork[1] > 0:
            copied = {column: getattr(source, column) for column in INHERITED}
            folder.copies[fork_id] = copied | {"transcript_stat": _text(of_fork)}
    try:
        yield
    except BaseException:
        folder.copies.pop(fork_id, None)
        raise


def _folder(project: Project) -> _Folder:
    path = str(project.chats_dir)
    with _guard:
        folder = _folders.get(project.slug)
        if folder is None or folder.path != path:
            folder = _folders[project.slug] = _Folder(path)
        return folder


def _look(project: Project, folder: _Folder) -> None:
    """Compare stats, cheapest first: folder and transcripts always, records only when needed."""
    try:
        fd = os.open(folder.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except (FileNotFoundError, NotADirectoryError):
        _forget(folder, set(folder.entries))
        folder.stamp = (0, 0)  # it may come back with the same stamp
        return
    except OSError as error:  # too many open files, no permission: the chats still exist
        log.warning("chats of %s are as last seen: %s", project.slug, error)
        if not folder.entries:
            _load(project, folder)
        return
    try:
        found = os.fstat(fd)
        stamp = (found.st_mtime_ns, found.st_ino)
        now = time.monotonic()
        if stamp != folder.stamp or now - folder.looked >= RECORDS_LOOK_S:
            _look_at_records(project, folder, fd)
            folder.stamp, folder.looked = stamp, now
        for session_id, fresh in _grown(folder, fd):
            _refresh(project, folder, session_id, folder.entries[session_id].record, fresh)
    finally:
        os.close(fd)


def _look_at_records(project: Project, folder: _Folder, fd: int) -> None:
    ids = set(files.session_ids(project))
    if not folder.entries and ids:
        _load(project, folder)
    _forget(folder, folder.entries.keys() - ids)
    for session_id in ids:
        fresh = _stamp(f"{session_id}.yaml", fd)
        entry = folder.entries.get(session_id)
        if fresh != ABSENT and (entry is None or entry.record != fresh):
            _refresh(project, folder, session_id, fresh, _stamp(f"{session_id}.jsonl", fd))


def _grown(folder: _Folder, fd: int) -> list[tuple[str, Stamp]]:
    """The chats whose transcript changed, with its stamp now. A list checks hundreds of chats, so
    this calls nothing for each but stat."""
    grown, stat = [], os.stat
    for session_id, entry in folder.entries.items():
        try:
            found = stat(f"{session_id}.jsonl", dir_fd=fd)
        except OSError as error:
            fresh = _unseen(error)
        else:
            fresh = (found.st_mtime_ns, found.st_size, found.st_ino)
        if fresh != entry.transcript:
            grown.append((session_id, fresh))
    return grown


def _load(project: Project, folder: _Folder) -> None:
    """Load the rows from the table; outdated ones are refreshed at the next look."""
    try:
        rows = list(Chat.objects.filter(project=project.slug))
    except OperationalError as error:
        rows = []
        _lags(f"all of {project.slug}", error)
    for row in rows:
        folder.entries[row.id] = _Entry(
            row, _parse_stamp(row.record_stat), _parse_stamp(row.transcript_stat)
        )


def _stamp(path: str, fd: int | None = None) -> Stamp:
    try:
        found = os.stat(path, dir_fd=fd)
    except OSError as error:
        return _unseen(error)
    return (found.st_mtime_ns, found.st_size, found.st_ino)


def _unseen(error: OSError) -> Stamp:
    """The stamp for a failed stat: ABSENT if there is no file, else one of a file that exists."""
    absent = isinstance(error, FileNotFoundError | NotADirectoryError)
    return ABSENT if absent else (0, 0, -(error.errno or 0))


def _text(stamp: Stamp) -> str:
    return ":".join(map(str, stamp))


def _parse_stamp(text: str) -> Stamp:
    mtime, size, inode = (int(part) for part in text.split(":"))
    return (mtime, size, inode)


@contextmanager
def legible() -> Iterator[None]:
    """Raise SvcError with the reason if the transcript of a chat cannot be read."""
    try:
        yield
    except OSError as error:
        text = f"The transcript of this chat cannot be read: {error.strerror}"
        raise SvcError(text) from error


def _refresh(
    project: Project, folder: _Folder, session_id: str, record: Stamp, lines: Stamp
) -> Chat:
    """Update the row of one chat to match the two stamps. A file that cannot be read gets no stamp,
    so every look tries it again: the cause may vanish without a change of the file."""
    entry = folder.entries.get(session_id) or _make_entry(project, folder, session_id)
    row, before, ended = entry.row, (entry.row.record_stat, entry.row.error), False
    if entry.record != record or row._state.adding:
        record = record if _read_record(project, row) else ABSENT
    if entry.transcript != lines:
        try:
            lines, ended = _read_transcript(project, row, entry.transcript, lines)
        except OSError as error:
            row.error = f"its transcript cannot be read: {error.strerror}"
            record, lines = ABSENT, entry.transcript
    row.record_stat = _text(record)
    store = ended or row._state.adding or before != (row.record_stat, row.error)
    if folder.entries.get(session_id) != (fresh := _Entry(row, record, lines)):
        folder.entries[session_id] = fresh
        folder.newest.clear()
    unread = not row.archived and row.arrived > files.read_up_to(row.record)
    if unread != row.unread:
        row.unread, store = unread, True
    _name(project, row)
    if store:
        _store(row)
    return row


def _read_transcript(project: Project, row: Chat, before: Stamp, now: Stamp) -> tuple[Stamp, bool]:
    """Count the new lines. Return the stamp up to which they are counted, and whether a turn ended.

    A file edited in place is read from its beginning, by the search too. A file with the same size
    and another time may be one to which a line is just being added: if so, its size soon differs.
    """
    path = str(project.chats_dir / f"{row.id}.jsonl")
    touched, counted = before[1:] == now[1:], row.offset
    row.transcript_stat = _text(now)
    if touched and 0 <= time.time_ns() - now[0] < YOUNG_NS:
        return before, False
    ended, anew = counts.read(row, path, anew=touched or before[2] != now[2])
    if anew and counted:
        _search_anew(row)
    return now, ended


def _search_anew(row: Chat) -> None:
    try:
        Searched.objects.filter(chat=row.id).delete()
    except OperationalError as error:
        _lags(row.id, error)


def _make_entry(project: Project, folder: _Folder, session_id: str) -> _Entry:
    """The entry of a chat that this process has not seen before."""
    inherited = folder.copies.pop(session_id, None)
    row = _get_or_new(project, session_id) if inherited is None else _new(project, session_id)
    for column, value in (inherited or {}).items():
        setattr(row, column, value)
    return _Entry(row, _parse_stamp(row.record_stat), _parse_stamp(row.transcript_stat))


def _get_or_new(project: Project, session_id: str) -> Chat:
    try:
        row = Chat.objects.filter(id=session_id, project=project.slug).first()
    except OperationalError as error:
        row = None
        _lags(session_id, error)
    return row or _new(project, session_id)


def _new(project: Project, session_id: str) -> Chat:
    absent = _text(ABSENT)
    return Chat(id=session_id, project=project.slug, record_stat=absent, transcript_stat=absent)


def _store(row: Chat) -> None:
    try:
        with transaction.atomic():
            row.save(force_insert=row._state.adding)
    except IntegrityError:  # another process inserted the row at the same moment
        row.save(force_update=True)
    except OperationalError as error:
        _lags(row.id, error)


def _forget(folder: _Folder, gone: set[str]) -> None:
    if gone:
        folder.newest.clear()
        for session_id in gone:
            folder.entries.pop(session_id, None)
        try:
            Chat.objects.filter(id__in=gone).delete()
        except OperationalError as error:
            _lags(", ".join(gone), error)


def _lags(chats: str, error: OperationalError) -> None:
    """Log a failed query. Nothing is lost: the files hold it all, and a later look catches up."""
    log.warning("index rows of chats lag", extra={"chats": chats[:200], "why": str(error)})


def _read_record(project: Project, row: Chat) -> bool:
    """Fill the columns of the record; one that does not parse keeps the last good values. Return
    whether its bytes could be read."""
    path = project.chats_dir / f"{row.id}.yaml"
    found = files.find(project, row.id, path)
    record, had = found or files.parse(project.slug, row.id, b""), bool(found and not found.unread)
    row.error = record.error
    if record.error and not row._state.adding:
        return had
    row.record = record.wire()
    row.archived = record.archived
    row.origin = record.origin
    row.trigger = record.trigger[:64]
    row.client = record.client
    row.created = moment(record.created)
    if not row.messages:
        row.updated = row.created
    return had


def _name(project: Project, row: Chat) -> None:
    """The custom name, else the automatic one, else the first characters of the id."""
    fired = row.trigger and titles.fired_name(project, row.trigger, row.created)
    row.name = row.record.get("name") or fired or row.title or row.id[:8]
