"""One chat with open streams: how far its files and its queue have been sent.

The transcript is sent first, then live deltas. Lines carry their byte offset, so that no client
gets one twice or misses one. A channel has no thread of its own: watching.py ticks it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from config.logs import timestamp
from config.web.events import Client, encode
from workspace.chats import live, transcript
from workspace.chats.lines import Record
from workspace.chats.messages import Viewer
from workspace.chats.streams.calls import RunningCalls
from workspace.chats.turns import questions, queue, retries, states
from workspace.engines.base import AGAIN
from workspace.models import Turn

BATCH_BYTES = 256 * 1024
LIVE = {"text": "delta", "thinking": "thinking"}  # kind of a delta -> its event
OVER = ("turn_end", "turn_wait")  # the end of a try: its deltas are over
NOTED = {"type", "turn", "block", "call", "tool", "target", "ts", "state"}  # without text and input


@dataclass(slots=True, eq=False)
class Watcher:
    """One open stream of a chat: its client, and the offset up to which it has been sent."""

    client: Client
    loop: asyncio.AbstractEventLoop
    offset: int = 0
    closed: bool = False

    def push(self, data: bytes) -> None:
        if data:
            self.loop.call_soon_threadsafe(self.client.push, data)


@dataclass(slots=True, eq=False)
class Channel:
    """One chat with clients: how far its files have been sent, and the last state of its queue."""

    project: str
    chat: str
    path: str
    lock: threading.Lock = field(default_factory=threading.Lock)
    watchers: set[Watcher] = field(default_factory=set)
    position: int = 0
    inode: int = 0
    deleted: bool = False
    live_offset: int = 0
    turn: str = ""  # the turn whose records are being written
    told: set[str] = field(default_factory=set)  # its blocks that are records already
    partial: dict[str, tuple[str, str]] = field(default_factory=dict)  # {block: (event, text)}
    running: RunningCalls = field(default_factory=RunningCalls)
    calls: bytes = b""
    state: bytes = b""
    queue: bytes = b""
    waits: bool = False  # something runs or waits in the queue
    viewer: Viewer = field(init=False)

    def __post_init__(self) -> None:
        """Start at the end of the file, with the turn in progress and its recorded blocks."""
        self.inode, _ = _place(self.path)
        self.position, _ = next(transcript.lines_backwards(self.path), (0, b""))
        records: list[Record] = []
        for _, record in transcript.backwards(self.path, self.position):
            records.append({key: record[key] for key in NOTED & record.keys()})
            if record["type"] in ("turn_start", *OVER):
                break
        for record in reversed(records):
            self._note(record)
        self.calls = self._calls()
        self.viewer = Viewer(self.path)

    def tick(self) -> bool:
        """Send what grew since the last tick. Return whether more is expected soon."""
        with self.lock:
            before = self.position
            self._advance()
            return self.position != before or bool(self.turn) or self.waits

    def _advance(self) -> None:
        inode, size = _place(self.path)
        if bool(self.inode) and self.deleted == bool(inode):
            self.deleted = not inode
            self._to_all(encode("deleted" if self.deleted else "restored", {}))
        if self.deleted:
            return
        if self.position and (size < self.position or inode != self.inode):
            self._start_over()
        self.inode = inode
        if size > self.position:
            self._lines()
            self._tell_calls()
        self._deltas()

    def _start_over(self) -> None:
        """The file was replaced: every client starts again."""
        self.position, self.live_offset, self.turn = 0, 0, ""
        self.told, self.partial, self.viewer = set(), {}, Viewer(self.path)
        self.running = RunningCalls()
        for watcher in self.watchers:
            watcher.offset = 0
            watcher.push(resync("the transcript was replaced"))

    def _lines(self) -> None:
        scan = transcript.Scan(self.path, self.position)
        lines: list[tuple[int, bytes]] = []
        for offset, record in scan:
            self._note(record)
            data = line_event(self.viewer, offset, record)
            if data:
                lines.append((offset, data))
        self.position = scan.end
        for watcher in self.watchers:
            watcher.push(b"".join(data for offset, data in lines if offset > watcher.offset))
            watcher.offset = self.position

    def _note(self, record: Record) -> None:
        self.running.note(record)
        match record["type"]:
            case "turn_start":
                self.turn, self.told, self.partial = str(record.get("turn")), set(), {}
                self.live_offset = 0
            case "turn_end" | "turn_wait":
                self.turn, self.told, self.partial = "", set(), {}
                self.live_offset = 0
            case "assistant" | "thinking":
                block = str(record.get("block"))
                self.told.add(block)
                self.partial.pop(block, None)

    def _calls(self) -> bytes:
        calls = self.running.view()
        return encode("calls", {"turnId": self.turn if calls else None, "calls": calls})

    def _tell_calls(self) -> None:
        """Send the running calls if they changed, after the lines that ended some of them."""
        calls = self._calls()
        if calls != self.calls:
            self.calls = calls
            self._to_all(calls)

    def _deltas(self) -> None:
        if not self.turn:
            return
        live_path = f"{self.path.removesuffix('.jsonl')}.live"
        self.live_offset, deltas = live.read(live_path, self.live_offset, self.turn)
        for delta in deltas:
            if delta.kind == AGAIN:
                event, text = self.partial.pop(delta.block, ("", ""))
                if text:
                    self._to_all(self._delta(event, "", again=True))
            elif delta.kind in LIVE and delta.block not in self.told:
                event = LIVE[delta.kind]
                before, text = self.partial.get(delta.block, (event, ""))
                self.partial[delta.block] = (event, (text if event == before else "") + delta.text)
                self._to_all(self._delta(event, delta.text))

    def _delta(self, event: str, text: str, *, again: bool = False) -> bytes:
        """`again`: clients drop what was streamed since the last line."""
        shown = {"turnId": self.turn, "text": text}
        return encode(event, shown | ({"again": True} if again else {}))

    def _to_all(self, data: bytes) -> None:
        for watcher in self.watchers:
            watcher.push(data)

    def look_at_queue(self, turns: list[Turn]) -> None:
        """Send `state` and `queue` if they changed."""
        with self.lock:
            self.waits = bool(turns)
            state, rows = queue_events(turns)
            if rows != self.queue:
                self.queue = rows
                self._to_all(rows)
            if state != self.state:
                self.state = state
                self._to_all(state)

    def join(self, watcher: Watcher) -> bool:
        """Attach a client that has been sent everything up to its offset. False if it is too far
        behind: it reads on by itself first."""
        with self.lock:
            self._advance()
            if watcher.offset < self.position - BATCH_BYTES:
                return False
            data, watcher.offset = read_lines(
                Viewer(self.path), self.path, watcher.offset, self.position
            )
            partial = (self._delta(event, text) for event, text in self.partial.values())
            watcher.push(b"".join([data, self.state, self.queue, self.calls, *partial]))
            if not watcher.closed:
                self.watchers.add(watcher)
        return True

    def leave(self, watcher: Watcher) -> None:
        with self.lock:
            self.watchers.discard(watcher)


def _place(path: str) -> tuple[int, int]:
    try:
        found = Path(path).stat()
    except OSError:
        return 0, 0
    return found.st_ino, found.st_size


def resync(reason: str) -> bytes:
    return encode("resync", {"reason": reason})


def line_event(viewer: Viewer, offset: int, record: Record) -> bytes:
    shown = viewer.view(offset, record)
    return b"" if shown is None else encode("line", shown, number=offset)


def read_lines(
    viewer: Viewer, path: str, start: int, end: int | None, *, most: int | None = None
) -> tuple[bytes, int]:
    """Line events from byte `start` up to `end` or about `most` bytes, and the offset reached."""
    scan = transcript.Scan(path, start, end)
    lines = []
    for offset, record in scan:
        lines.append(line_event(viewer, offset, record))
        if most is not None and offset - start >= most:
            break
    return b"".join(lines), scan.end


def queue_events(turns: Iterable[Turn]) -> tuple[bytes, bytes]:
    """The `state` event and the `queue` event for these rows of one chat."""
    rows = list(turns)
    running = next((turn for turn in rows if turn.state in states.BUSY), None)
    state = {
        "running": running is not None,
        "queued": sum(turn.state == "queued" for turn in rows),
        "held": sum(turn.state == "held" for turn in rows),
        "turn": _turn(running) if running else None,
        "waiting": retries.of(rows),
        "asks": [one for turn in rows for one in questions.waiting(turn)],
    }
    return encode("state", state), encode("queue", {"queue": queue.view(rows)})


def _turn(turn: Turn) -> dict[str, Any]:
    return {
        "id": turn.id,
        "startedAt": timestamp(turn.started) if turn.started else None,
        "runId": turn.run_id,
    }
