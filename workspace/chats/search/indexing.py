"""Keeping the passages as the transcripts are: what grew is read, what was replaced is read again.

Deleting a chat's row takes its passages along. Several processes may index at once: a part is
claimed by moving the place up to which the chat was read.
"""

from __future__ import annotations

import logging
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from django.db import IntegrityError, transaction

from config import jsonio
from config.errors import NotFound
from workspace.chats import counts, files, index, transcript
from workspace.chats.messages import TranscriptLine, Viewer
from workspace.chats.search.folding import fold
from workspace.models import Chat, Passage, Searched
from workspace.projects.project import Project

log = logging.getLogger(__name__)

PART, PART_TEXT = 500, 50_000  # lines of one transaction at most, and about how many characters
MOST = 50_000  # characters of a message that can be found
OUTPUT, INPUT = 2_000, 5_000  # of a tool's output and input
PLACE_BITS = 21
LATEST_MS = (1 << 42) - 1  # of a time written by hand: the year 2109


def text_of(shown: TranscriptLine) -> str:
    """What of a message can be found; empty for what is no message."""
    if shown.get("role") == "tool":
        call = shown["toolCall"]
        given = jsonio.dumps(call["input"]).decode()
        return f"{shown['content']}\n{given[:INPUT]}\n{call['output'][:OUTPUT]}"
    return str(shown["content"])[:MOST] if "role" in shown else ""


def catch_up(
    project: Project,
    session_id: str,
    *,
    rest: Callable[[], bool] | None = None,
    deadline: float | None = None,
) -> bool:
    """Read what grew since the last time; False when not all of it is read at the end. A chat that
    went has nothing.

    `rest`: nobody waits for it, so that it stands back before each part, until that says whether to
    go on. `deadline`: of time.monotonic(), after which it ends between two parts.
    """
    try:
        row = index.get(project, session_id)
    except NotFound:
        return True
    path = str(files.transcript_path(project, session_id))
    while rest is None or rest():
        upto = _one_part(row, path)
        if upto is None or upto >= row.offset:
            return upto is not None or _is_read(row)
        if deadline is not None and time.monotonic() > deadline:
            break
    return False


def _is_read(row: Chat) -> bool:
    """Not so while another process reads it."""
    state = Searched.objects.filter(chat=row.id).first()
    return state is None or (state.inode, state.upto) == _place(row)


def catch_up_all(among: Iterable[Project], *, within_s: float | None = None) -> bool:
    """Every chat that grew; False when some are not read to their end, for want of time or since
    another process is at them."""
    complete = True
    deadline = None if within_s is None else time.monotonic() + within_s
    for project, row in behind(among):
        if deadline is not None and time.monotonic() > deadline:
            return False
        complete &= catch_up(project, row.id, deadline=deadline)
    return complete


def behind(among: Iterable[Project]) -> Iterator[tuple[Project, Chat]]:
    """Chats whose transcript is not read to its end, in each project the last changed first. The
    database is asked once for all: a query for each project would be most of a search."""
    projects = [*among]
    known = Searched.objects.filter(chat__project__in=[project.slug for project in projects])
    places = {chat: (inode, upto) for chat, inode, upto in known.values_list()}
    for project in projects:
        for row in index.entries(project):  # newest first
            if row.offset and places.get(row.id) != _place(row):
                yield project, row


def _place(row: Chat) -> tuple[int, int]:
    """The file of a transcript, and where its last whole line ends."""
    return int(row.transcript_stat.rpartition(":")[2]), row.offset


def _one_part(row: Chat, path: str) -> int | None:
    """Take the next lines into the index; up to where, None for nothing or where another does."""
    inode, end = _place(row)
    state = Searched.objects.filter(chat=row.id).first()
    fresh = state is None or state.inode != inode or state.upto > end
    start = 0 if state is None or fresh else state.upto
    if start >= end:
        return None
    scan = transcript.Scan(path, start, end)
    passages = _passages(row, scan, Viewer(path))
    if scan.end == start:  # the file is shorter than it was a moment ago
        return None
    try:
        with transaction.atomic():
            if not _claim(row, state, inode, scan.end):
                return None
            if fresh:
                Passage.objects.filter(chat=row.id).delete()
            Passage.objects.bulk_create(passages, ignore_conflicts=True)
    except IntegrityError:  # the chat was forgotten meanwhile
        log.info("not indexed: the chat went", extra={"chat": row.id})
        return None
    return scan.end


def _claim(row: Chat, state: Searched | None, inode: int, upto: int) -> bool:
    if state is None:
        return Searched.objects.get_or_create(
            chat_id=row.id, defaults={"inode": inode, "upto": upto}
        )[1]
    as_found = Searched.objects.filter(chat=row.id, inode=state.inode, upto=state.upto)
    return bool(as_found.update(inode=inode, upto=upto))


def _passages(row: Chat, scan: transcript.Scan, viewer: Viewer) -> list[Passage]:
    """Those of the next lines: as many as one transaction takes, so that no other waits long."""
    found: list[Passage] = []
    room = PART_TEXT
    for offset, record in islice(scan, PART):
        shown = viewer.view(offset, record)
        if shown is not None and (text := text_of(shown)).strip():
            number = _number(row.id, shown)
            found.append(Passage(id=number, chat_id=row.id, offset=offset, text=fold(text)))
            room -= len(text)
            if room <= 0:
                break
    return found


def _number(chat: str, shown: TranscriptLine) -> int:
    """By time; within one millisecond by place. Of two chats, one message in two million that fall
    into the same millisecond get the same number, and the second cannot be found."""
    at = counts.moment(str(shown.get("timestamp")))
    ms = min(max(int(at.timestamp() * 1000), 0), LATEST_MS)
    place = zlib.crc32(chat.encode()) + int(shown["offset"])
    return (ms << PLACE_BITS) | (place & ((1 << PLACE_BITS) - 1))
