"""The transcript of a chat: append-only JSON lines with one locked writer.

Reading needs no lock and never fails on a damaged line, which is skipped and counted. The writer
finds its place from the end of the file, so its length does not matter. Nothing here rewrites a
line. See docs/design/engines.md#one-writer-append-only-lines.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator

from config.process.light_typing import IO, Any, NamedTuple
from config.storage import opening
from workspace.chats.lines import (
    HEAD_BYTES,
    REPLACE,
    Record,
    decode,
    decode_many,
    encode,
    shorten,
)

VERSION = 1
BLOB_BYTES, RECORD_BYTES = 64 * 1024, 1024 * 1024
LINE_BYTES = 4 * RECORD_BYTES  # no writer makes a longer line: one is damaged and skipped
_BLOCK = 256 * 1024
_PASSED_BYTES = 64 * 1024 * 1024  # without a line end: then the search for one stops


class Busy(Exception):
    """Another process is writing this chat."""


class StorageError(Exception):
    """The record could not be stored: disk full, file gone, file system read-only."""


class Tail(NamedTuple):
    """Where the next record goes: after `seq`, with parent `head`, at byte `end`."""

    seq: int
    head: str | None
    end: int


class Writer:
    """The one writer of a chat, from construction to close. Raises Busy, StorageError."""

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            _make(path)
        except OSError as error:
            raise StorageError(str(error)) from error
        self._open()

    def _open(self) -> None:
        flags = os.O_RDWR | os.O_APPEND
        try:
            self._fd = opening.regular(self.path, within=root(self.path), flags=flags)
        except OSError as error:
            raise StorageError(str(error)) from error
        try:
            self._take()
        except BaseException:  # else the chat would stay locked
            os.close(self._fd)
            raise

    def _take(self) -> None:
        """Lock the chat and find its end."""
        try:
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._heal()
            self.seq, self.head, self.end = tail(self.path)
        except BlockingIOError:
            raise Busy(self.path) from None
        except OSError as error:
            raise StorageError(str(error)) from error

    def append(self, kind: str, turn: str, **fields: Any) -> Record:
        """Write one record in one call and return it. `user` and `turn_end` are synced to disk."""
        self._follow()
        now = time.time_ns() // 1_000_000
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now // 1000))
        record: Record = {
            "v": VERSION,
            "seq": self.seq + 1,
            "id": os.urandom(16).hex(),
            "parent": self.head,
            "ts": f"{moment}.{now % 1000:03}Z",
            "turn": turn,
            "type": kind,
        } | fields
        line = self._encode(record)
        self._write(line)
        if kind in ("user", "turn_end"):
            self.sync()
        self.seq, self.head, self.end = record["seq"], record["id"], self.end + len(line)
        return record

    def _follow(self) -> None:
        """Switch to the file that has the path now: a line written to one that an editor or a
        restore replaced would be lost. If there is none, keep the open file: a deleted chat moved
        with it."""
        try:
            now = os.stat(self.path)
        except OSError:
            return
        old = self._fd
        if os.path.samestat(now, os.fstat(old)):
            return
        try:
            self._open()
        except Busy:
            self._fd = old
            raise StorageError(f"{self.path} was replaced, and another process writes it") from None
        except StorageError:
            self._fd = old
            raise
        os.close(old)

    def sync(self) -> None:
        try:
            os.fsync(self._fd)
        except OSError as error:
            raise StorageError(str(error)) from error

    def close(self) -> None:
        os.close(self._fd)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _heal(self) -> None:
        """End a torn last line, so that it is one line. Sync the folder of an empty, new file."""
        size = os.fstat(self._fd).st_size
        if size == 0:
            _sync_folder(os.path.dirname(self.path))
        elif os.pread(self._fd, 1, size - 1) != b"\n":
            self._write(b"\n")

    def _write(self, data: bytes) -> None:
        try:
            done = os.write(self._fd, data)
            while done < len(data):
                done += os.write(self._fd, data[done:])
        except OSError as error:
            raise StorageError(str(error)) from error

    def _encode(self, record: Record) -> bytes:
        """The line. Long tool output is moved to a blob first, as is any text that is too long."""
        text = record.get("text")
        if (
            record["type"] == "tool_result"
            and isinstance(text, str)
            and len(text) > BLOB_BYTES // 4
        ):
            self._to_blob(record, BLOB_BYTES)
        line = encode(record)
        if len(line) <= RECORD_BYTES:
            return line
        self._to_blob(record, HEAD_BYTES)
        for key in record.keys() - {"text"}:
            record[key] = shorten(record[key])
        return encode(record)

    def _to_blob(self, record: Record, limit: int) -> None:
        data = str(record.get("text") or "").encode(errors=REPLACE)
        if len(data) <= limit:
            return
        record["blob"] = write_blob(os.path.dirname(self.path), data)
        record["bytes"] = len(data)
        record["text"] = data[:HEAD_BYTES].decode(errors="ignore")


def write_blob(folder: str, data: bytes) -> str:
    """Store text beside the transcript, named by its hash: completely or not at all."""
    from hashlib import sha256

    name = sha256(data).hexdigest()
    blobs = os.path.join(folder, "blobs")
    path = os.path.join(blobs, name)
    draft = os.path.join(blobs, f".svc-tmp-{os.urandom(8).hex()}")
    try:
        os.makedirs(blobs, mode=0o700, exist_ok=True)
        if not os.path.exists(path):
            fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.rename(draft, path)
    except OSError as error:
        raise StorageError(str(error)) from error
    return name


def root(path: str) -> str:
    """The folder that contains `.chats`; no link may lead a transcript out of it."""
    return os.path.dirname(os.path.dirname(path))


def open_file(path: str, *, buffering: int = -1) -> IO[bytes] | None:
    """Open a transcript or a file beside it; None unless it is a regular file in the project."""
    fd = _descriptor(path)
    return None if fd is None else os.fdopen(fd, "rb", buffering)


def _descriptor(path: str) -> int | None:
    try:
        return opening.regular(path, within=root(path))
    except (FileNotFoundError, NotADirectoryError, opening.Refused):
        return None


def _make(path: str) -> None:
    """Create an empty transcript unless the path exists."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    except FileExistsError:
        return


def _sync_folder(folder: str) -> None:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


class Scan:
    """Records from byte `start` in file order; `damaged` and `end` are correct after each step.

    `wary`: if no line ends at `start`, as after an edit by hand, scan the whole file and set
    `anew`."""

    def __init__(
        self, path: str, start: int = 0, end: int | None = None, *, wary: bool = False
    ) -> None:
        self.path, self.end, self.limit, self.damaged = path, start, end, 0
        self.wary, self.anew = wary and start > 0, False

    def __iter__(self) -> Iterator[tuple[int, Record]]:
        file = open_file(self.path, buffering=_BLOCK)
        if file is None:
            if self.wary:
                self.anew, self.end = True, 0
            return
        with file:
            file.seek(self.end - self.wary)
            if self.wary and file.read(1) != b"\n":
                self.anew, self.end = True, file.seek(0)
            while line := file.readline(LINE_BYTES):
                after = self.end + len(line)
                if not line.endswith(b"\n"):
                    passed = _line_end(file) if len(line) == LINE_BYTES else None
                    if passed is None:
                        return
                    after, line = passed, b""
                if self.limit is not None and after > self.limit:
                    return
                self.end = after
                record = decode(line)
                if record is None:
                    self.damaged += 1
                else:
                    yield after, record


def _line_end(file: IO[bytes]) -> int | None:
    """The end of an overlong line; None if none is found within _PASSED_BYTES."""
    for _ in range(_PASSED_BYTES // _BLOCK):
        part = file.readline(_BLOCK)
        if not part or part.endswith(b"\n"):
            return file.tell() if part else None
    return None


def read(path: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, Record]]:
    """(offset just after the line, record) from byte `start`, a line boundary, up to `end`."""
    return iter(Scan(path, start, end))


def lines_backwards(path: str, end: int | None = None) -> Iterator[tuple[int, bytes]]:
    """(offset just after the line, line) from `end` to the start, without an unfinished last line.

    A line that is too long is given as an empty one.
    """
    for after, lines in _runs_backwards(path, end):
        offset = after
        for line in reversed(lines):
            yield offset, line
            offset -= len(line) + 1


def _runs_backwards(path: str, end: int | None) -> Iterator[tuple[int, list[bytes]]]:
    """(offset just after the last of these lines, lines in file order), the last lines first."""
    fd = _descriptor(path)
    if fd is None:
        return
    try:
        at = os.fstat(fd).st_size if end is None else end
        pending, ended = b"", False  # bytes from `at` on; the first line may start further left
        size = 4096  # bytes of a read, doubled each time: most callers want a few lines
        passed = 0  # bytes without a line end
        while at and passed < _PASSED_BYTES:
            size = min(2 * size, _BLOCK, at)
            at -= size
            pending = os.pread(fd, size, at) + pending
            if not ended:
                pending = pending[: pending.rfind(b"\n") + 1]
                ended = bool(pending)
                passed = 0 if ended else passed + size
            first = pending.find(b"\n") + 1
            yield at + len(pending), pending[first:].split(b"\n")[:-1]
            pending = pending[:first]
            if len(pending) > LINE_BYTES:
                yield at + len(pending), [b""]
                pending, ended = b"", False
        if pending and not at:
            yield len(pending), [pending[:-1]]
    finally:
        os.close(fd)


def backwards(path: str, end: int | None = None) -> Iterator[tuple[int, Record]]:
    """(offset just after the line, record), newest first; damaged lines are skipped.

    The number of lines decoded at once doubles each time, since most callers want one or a page.
    """
    most = 16
    for after, lines in _runs_backwards(path, end):
        offset = after
        while lines:
            some = lines[: -most - 1 : -1]
            del lines[-most:]
            most *= 2
            for line, record in zip(some, decode_many(some), strict=True):
                if record is not None:
                    yield offset, record
                offset -= len(line) + 1


def tail(path: str) -> Tail:
    """The place of the next record, computed from the last readable one."""
    end = 0
    for offset, line in lines_backwards(path):
        end = end or offset
        record = decode(line)
        if record is not None:
            return Tail(record["seq"], record.get("id"), end)
    return Tail(0, None, end)


def has_turn(path: str, turn: str) -> bool:
    """Whether the file has a record of this turn; searching 50 MB takes 30 ms."""
    return _holds(path, turn.encode()) and any(
        record["turn"] == turn for _, record in backwards(path)
    )


def _holds(path: str, wanted: bytes) -> bool:
    file = open_file(path, buffering=0)
    if file is None:
        return False
    with file:
        kept = b""
        while part := file.read(1 << 20):
            if wanted in kept + part:
                return True
            kept = part[1 - len(wanted) :]
    return False


def last_turn_end(path: str, turn: str | None = None) -> tuple[int, int]:
    """Where a fork is cut: (the byte just after the last `turn_end`, its seq), of `turn` if given.
    Two zeros without one."""
    for offset, line in lines_backwards(path):
        if b"turn_end" not in line:  # spares most lines a parse, whatever their JSON looks like
            continue
        record = decode(line)
        if record and record["type"] == "turn_end" and turn in (None, record["turn"]):
            return offset, record["seq"]
    return 0, 0
