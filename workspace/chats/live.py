"""Deltas of the running turn, in a file beside the transcript.

Live text only: it is never authoritative. A failed write is dropped, and readers skip lines that
they do not understand. The record of a block replaces its deltas; a delta of kind AGAIN withdraws
them. Why a file: docs/design/engines.md#deltas-are-a-file-beside-it.
"""

from __future__ import annotations

import json
import os
import time

from config.process.light_typing import NamedTuple
from config.storage import opening
from workspace.chats import transcript
from workspace.chats.lines import encode
from workspace.engines.base import AGAIN

EVERY_S, BATCH_BYTES, TURN_BYTES = 0.05, 4096, 4 * 1024 * 1024


class Delta(NamedTuple):
    block: str
    kind: str
    text: str


class Appender:
    """Writes the deltas of one turn, at most every 50 ms or 4 KiB."""

    def __init__(self, path: str, turn: str) -> None:
        self.path, self.turn = path, turn
        self._fd = -1
        self._left = TURN_BYTES
        self._written_at = 0.0
        self._waiting: list[Delta] = []
        self._truncate()

    def add(self, block: str, kind: str, text: str) -> None:
        last = self._waiting[-1] if self._waiting else None
        if last and text and (last.block, last.kind) == (block, kind):
            self._waiting[-1] = last._replace(text=last.text + text)
        elif text or kind == AGAIN:
            self._waiting.append(Delta(block, kind, text))
        size = sum(len(delta.text) for delta in self._waiting)
        if size >= BATCH_BYTES or time.monotonic() - self._written_at >= EVERY_S:
            self.flush()

    def flush(self) -> None:
        """Write what is buffered. After 4 MiB in a turn nothing more is written."""
        waiting, self._waiting = self._waiting, []
        lines = [{"t": self.turn, "b": b, "k": kind, "s": text} for b, kind, text in waiting]
        data = b"".join(encode(line) for line in lines)
        self._written_at = time.monotonic()
        self._left -= len(data)
        if not data or self._left < 0:
            return
        try:
            if self._fd < 0:
                flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
                safe = os.O_NOFOLLOW | os.O_NONBLOCK
                self._fd = os.open(self.path, flags | safe, 0o600)
            os.write(self._fd, data)
        except OSError:
            self._left = 0

    def close(self) -> None:
        """Empty the file; called after `turn_end` is written, so the records hold everything."""
        self._waiting = []
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        self._truncate()

    def _truncate(self) -> None:
        try:
            if os.lstat(self.path).st_size:
                fd = opening.regular(self.path, within=transcript.root(self.path), flags=os.O_RDWR)
                os.ftruncate(fd, 0)
                os.close(fd)
        except OSError:
            return


def read(path: str, offset: int, turn: str) -> tuple[int, list[Delta]]:
    """The new offset, and what was added since `offset`: the deltas of this turn alone."""
    try:
        with opening.reading(path, within=transcript.root(path), buffering=0) as file:
            size = file.seek(0, os.SEEK_END)
            if size < offset:
                offset = 0
            data = os.pread(file.fileno(), min(size - offset, 2 * TURN_BYTES), offset)
    except OSError:
        return 0, []
    whole = data[: data.rfind(b"\n") + 1]
    found = [_delta(line, turn) for line in whole.splitlines()]
    return offset + len(whole), [delta for delta in found if delta]


def read_blocks(path: str, turn: str) -> list[Delta]:
    """What was streamed of each block of this turn: one delta per block, in order."""
    found: dict[str, Delta] = {}
    for delta in read(path, 0, turn)[1]:
        if delta.kind == AGAIN:
            found.pop(delta.block, None)
            continue
        before = found.get(delta.block)
        found[delta.block] = delta._replace(text=(before.text if before else "") + delta.text)
    return [delta for delta in found.values() if delta.text.strip()]


def _delta(line: bytes, turn: str) -> Delta | None:
    try:
        record = json.loads(line)
        if record["t"] == turn:
            return Delta(str(record["b"]), str(record["k"]), str(record["s"]))
    except (ValueError, TypeError, KeyError, RecursionError):
        pass
    return None
