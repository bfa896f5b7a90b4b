"""The conversations that Claude Code keeps for a directory. Read, never written.

Each conversation is one file of JSON lines, in a folder named after the directory. The format
belongs to another program and changes with its versions, so unknown lines are skipped.
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

from config import jsonio
from config.errors import NotFound, printable
from workspace import ids
from workspace.projects.sessions import ends, of_claude_code

LINE, WHOLE = 16 << 20, 512 << 20  # bytes that are read of a line, of a file
MOST = 5000  # files per directory
BEGINS = 8192  # bytes that hold the first message, unless it has a picture or a file
NAME = 200  # characters of a folder's name; longer ones end in a hash
TITLE = 200

Line = dict[str, Any]
_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_OUTPUT = ("<local-command-", "<bash-stdout>", "<bash-stderr>", "Caveat: The messages below")
_TITLES = {b"custom-title": "customTitle", b"ai-title": "aiTitle", b"summary": "summary"}
_TYPED = b'{"type":"'


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation, read from the two ends of its file. `updated`: seconds since 1970."""

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


@dataclass(slots=True)
class _SeenFile:
    """A file as it was at `state`; `session` is None if it is not a conversation. Without `titled`,
    the title is only the first words, because a given title may be near either end of the file."""

    state: tuple[int, int]
    session: Session | None
    titled: bool


_known: dict[str, _SeenFile] = {}


def listing(directory: Path, limit: int) -> tuple[list[Session], int]:
    """The newest conversations in this directory, and how many there are."""
    wanted = realpath(directory)
    newest = heapq.nlargest(MOST, _files(wanted))
    found: list[Session] = []
    for _, path, stat in newest:
        if session := _session(path, stat, wanted, titled=len(found) < limit):
            found.append(session)
    return found[:limit], len(found)


def get(directory: Path, session_id: str) -> Session:
    """Return one conversation in this directory. NotFound if there is none with this id."""
    wanted = realpath(directory)
    if ids.UUID.fullmatch(session_id):
        for _, path, stat in _files(wanted):
            named = path.endswith(f"/{session_id}.jsonl")
            if named and (session := _session(path, stat, wanted, titled=True)):
                return session
    raise NotFound(f"Claude Code keeps no session {printable(session_id)} of {wanted}")


def lines(file: IO[bytes]) -> Iterator[tuple[int, Line]]:
    """Every line with its offset, in file order, read one at a time. A line that is not a JSON
    object is returned as {}."""
    at = 0
    while at < WHOLE and (line := file.readline(min(LINE, WHOLE - at))):
        if not line.isspace():
            yield at, _parse(line) or {}
        at += len(line)


def lines_at(file: IO[bytes], offsets: Iterable[int]) -> Iterator[tuple[int, Line]]:
    """The lines at these offsets; those that are not a JSON object are left out."""
    for at in offsets:
        file.seek(at)
        if (found := _parse(file.readline(LINE))) is not None:
            yield at, found


def _parse(line: bytes) -> Line | None:
    """The object in a line, or None. Claude Code sometimes cuts a text within an emoji and so
    writes half of a surrogate pair, which orjson refuses."""
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            found = orjson.loads(jsonio.dumps(jsonio.loads(line)))
        except jsonio.JsonError:
            return None
    return found if isinstance(found, dict) else None


def words_of(content: Any) -> str:
    """The words of a person's message as that person wrote them; "" for a program's messages."""
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
    """(modification time, path, stat) of each conversation file whose folder fits the directory."""
    store, name = of_claude_code(), re.sub(r"[^A-Za-z0-9]", "-", directory)
    for folder in [store / name] if len(name) <= NAME else store.glob(f"{name[:NAME]}*"):
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    stem, dot, suffix = entry.name.rpartition(".")
                    if dot and suffix == "jsonl" and ids.UUID.fullmatch(stem):
                        stat = entry.stat(follow_symlinks=False)  # a link is not a regular file
                        if not modes.S_ISREG(stat.st_mode):
                            continue
                        yield stat.st_mtime, entry.path, stat
        except OSError:
            continue


def _session(path: str, stat: os.stat_result, directory: str, *, titled: bool) -> Session | None:
    """The session of a file; None if it belongs elsewhere, no one speaks, or it is unreadable."""
    state = (stat.st_mtime_ns, stat.st_size)
    known = _known.get(path)
    if known is None or known.state != state or (titled and not known.titled):
        if len(_known) > 4 * MOST:
            _known.clear()
        try:
            known = _known[path] = _SeenFile(state, _read(path, stat, titled=titled), titled)
        except OSError:  # not cached: it may become readable with the same stat
            return None
    if known.session and _is_at(known.session.directory, directory):
        return known.session
    return None


def _is_at(path: str, directory: str) -> bool:
    try:
        return path == directory or realpath(path) == directory
    except ValueError:  # not a path: it holds a NUL
        return False


def _read(path: str, stat: os.stat_result, *, titled: bool) -> Session | None:
    """Read the beginning; with `titled`, read both ends at once to find the title given to it."""
    head, end = ends(path, stat.st_size) if titled else ends(path, edge=BEGINS)
    first = _first(head) or (None if titled else _first(ends(path)[0]))
    if first is None:
        return None
    line, words = first
    given = (_title(end) or _title(head)) if titled else ""
    return Session(
        id=path[-42:-6],
        file=path,
        directory=str(line.get("cwd") or "/"),
        title=(given or " ".join(words.split()))[:TITLE],
        started=str(line.get("timestamp") or ""),
        updated=stat.st_mtime,
        bytes=stat.st_size,
        branch=str(line.get("gitBranch") or ""),
        version=str(line.get("version") or ""),
    )


def _first(head: bytes) -> tuple[Line, str] | None:
    """The first line in which a person says something, and the words."""
    at = -1
    while (at := head.find(b'"user"', at + 1)) >= 0:
        begin, end = head.rfind(b"\n", 0, at) + 1, head.find(b"\n", at)
        found = _parse(head[begin : end if end >= 0 else None])
        if found and is_said(found) and (words := words_of(found["message"].get("content"))):
            return found, words
    return None


def is_said(line: Line) -> bool:
    """Whether a person wrote the line, in the conversation itself: not an agent, not a program."""
    return (
        line.get("type") == "user"
        and isinstance(line.get("message"), dict)
        and not line.get("isSidechain")
        and not line.get("isMeta")
    )


def _title(data: bytes) -> str:
    """The last title that a person or the program gave; such a line starts with its type."""
    last: dict[bytes, int] = {}
    at = 0
    while True:  # jumps from line to line, without parsing or copying the others
        if data.startswith(_TYPED, at):
            last[data[at + len(_TYPED) : data.find(b'"', at + len(_TYPED))]] = at
        at = data.find(b"\n", at) + 1
        if not at:
            break
    found = (_title_at(data, last[kind], key) for kind, key in _TITLES.items() if kind in last)
    return next((title for title in found if title), "")


def _title_at(data: bytes, at: int, key: str) -> str:
    end = data.find(b"\n", at)
    title = (_parse(data[at : end if end >= 0 else None]) or {}).get(key)
    return " ".join(title.split()) if isinstance(title, str) else ""
