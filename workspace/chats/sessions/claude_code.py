"""The conversations that Claude Code keeps of a directory. Read, never written.

One file of JSON lines per conversation, in a folder named after the directory. What its lines hold
is another program's own affair and changes with its versions: what is not known is passed over.
"""

from __future__ import annotations

import heapq
import os
import re
import stat as modes
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from os.path import realpath
from pathlib import Path
from typing import IO, Any

import orjson

from config.errors import NotFound, printable
from workspace import ids
from workspace.projects.sessions import ends, of_claude_code

LINE, WHOLE = 16 << 20, 512 << 20  # bytes of a line, of a file, that are read
MOST = 5000  # files of one directory
NAME = 200  # characters of a folder's name; longer ones end in a hash
TITLE = 200

Line = dict[str, Any]
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_OUTPUT = ("<local-command-", "<bash-stdout>", "<bash-stderr>", "Caveat: The messages below")
_TITLES = {b"custom-title": "customTitle", b"ai-title": "aiTitle", b"summary": "summary"}


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation, as its file's two ends tell it. `updated`: seconds since 1970."""

    id: str
    file: str
    directory: str
    title: str
    started: str
    updated: float
    bytes: int
    branch: str
    version: str

    @property
    def path(self) -> Path:
        return Path(self.file)


_known: dict[str, tuple[tuple[int, int], Session | None]] = {}


def listing(directory: Path, limit: int) -> tuple[list[Session], int]:
    """The newest conversations held in this directory, and how many there are."""
    wanted = realpath(directory)
    newest = heapq.nlargest(MOST, _files(wanted))
    found = (_session(path, stat, wanted) for _, path, stat in newest)
    sessions = [one for one in found if one is not None]
    return sessions[:limit], len(sessions)


def get(directory: Path, session_id: str) -> Session:
    """NotFound for what is no conversation held in this directory."""
    wanted = realpath(directory)
    if ids.UUID.fullmatch(session_id):
        for _, path, stat in _files(wanted):
            if path.endswith(f"/{session_id}.jsonl") and (found := _session(path, stat, wanted)):
                return found
    raise NotFound(f"Claude Code keeps no session {printable(session_id)} of {wanted}")


def lines(file: IO[bytes]) -> Iterator[tuple[int, Line]]:
    """Every line that is a JSON object with where it begins, in the order of the file; one at a
    time, and none is kept."""
    at = 0
    while at < WHOLE and (line := file.readline(min(LINE, WHOLE - at))):
        if (found := _parsed(line)) is not None:
            yield at, found
        at += len(line)


def lines_at(file: IO[bytes], offsets: Iterable[int]) -> Iterator[tuple[int, Line]]:
    """The lines that begin there; what is none by now is left out."""
    for at in offsets:
        file.seek(at)
        if (found := _parsed(file.readline(LINE))) is not None:
            yield at, found


def _parsed(line: bytes) -> Line | None:
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def said(content: Any) -> str:
    """The words of a person's message as that person wrote them; "" for what only a program did."""
    if isinstance(content, list):
        texts = [_block(one) for one in content if isinstance(one, dict)]
        content = "\n".join(text for text in texts if text)
    if not isinstance(content, str):
        return ""
    text = _REMINDER.sub("", content).strip()
    if command := _COMMAND.search(text):
        arguments = _ARGUMENTS.search(text)
        return f"{command[1].strip()} {arguments[1].strip() if arguments else ''}".strip()
    return "" if text.startswith(_OUTPUT) else text


def _block(block: Line) -> str:
    match block.get("type"):
        case "text":
            return str(block.get("text") or "")
        case "image":
            return "[image]"
        case "document":
            return "[document]"
    return ""


def _files(directory: str) -> Iterator[tuple[float, str, os.stat_result]]:
    """(when it was written, path, stat) of every file of conversations with such a directory."""
    store, name = of_claude_code(), re.sub(r"[^A-Za-z0-9]", "-", directory)
    for folder in [store / name] if len(name) <= NAME else store.glob(f"{name[:NAME]}*"):
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    stem, dot, suffix = entry.name.rpartition(".")
                    if dot and suffix == "jsonl" and ids.UUID.fullmatch(stem):
                        stat = entry.stat(follow_symlinks=False)  # a link is no regular file
                        if not modes.S_ISREG(stat.st_mode):
                            continue
                        yield stat.st_mtime, entry.path, stat
        except OSError:
            continue


def _session(path: str, stat: os.stat_result, directory: str) -> Session | None:
    """None for one that was held elsewhere, in which nobody said anything, or cannot be read."""
    state = (stat.st_mtime_ns, stat.st_size)
    known = _known.get(path)
    if known is None or known[0] != state:
        if len(_known) > 4 * MOST:
            _known.clear()
        known = _known[path] = (state, _read(path, stat))
    session = known[1]
    if session and (session.directory == directory or realpath(session.directory) == directory):
        return session
    return None


def _read(path: str, stat: os.stat_result) -> Session | None:
    try:
        head, end = ends(path, stat.st_size)
    except OSError:
        return None
    first = _first(head)
    if first is None:
        return None
    title = _title(end) or _title(head)
    title = title or " ".join(said(first["message"].get("content")).split())
    return Session(
        id=path[-42:-6],
        file=path,
        directory=str(first.get("cwd") or "/"),
        title=title[:TITLE],
        started=str(first.get("timestamp") or ""),
        updated=stat.st_mtime,
        bytes=stat.st_size,
        branch=str(first.get("gitBranch") or ""),
        version=str(first.get("version") or ""),
    )


def _first(head: bytes) -> Line | None:
    """The first line in which a person says something."""
    at = -1
    while (at := head.find(b'"user"', at + 1)) >= 0:
        begin, end = head.rfind(b"\n", 0, at) + 1, head.find(b"\n", at)
        try:
            found: Line = orjson.loads(head[begin : end if end >= 0 else None])
        except orjson.JSONDecodeError:
            continue
        if is_said(found) and said(found["message"].get("content")):
            return found
    return None


def is_said(line: Line) -> bool:
    """Whether the line is of the conversation itself and of a person: no agent's, no program's."""
    return (
        line.get("type") == "user"
        and isinstance(line.get("message"), dict)
        and not line.get("isSidechain")
        and not line.get("isMeta")
    )


def _title(data: bytes) -> str:
    """The last title that a person or the program gave, in a line that begins with its kind."""
    found = (_titled(data, kind, key) for kind, key in _TITLES.items())
    return next((title for title in found if title), "")


def _titled(data: bytes, kind: bytes, key: str) -> str:
    """The last title of this kind; nothing of the lines of others is copied."""
    head = b'{"type":"%s",' % kind
    at = data.rfind(b"\n" + head) + 1
    if not at and not data.startswith(head):
        return ""
    end = data.find(b"\n", at)
    try:
        title = orjson.loads(data[at : end if end >= 0 else None]).get(key)
    except orjson.JSONDecodeError:
        return ""
    return " ".join(title.split()) if isinstance(title, str) else ""
