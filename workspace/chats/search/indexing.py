"""Keep the passages in step with the transcripts: read what grew, reread what was replaced.

Deleting a chat's row deletes its passages. Several processes may index at once: each claims a part
by advancing the offset up to which the chat was read.
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

PART, PART_TEXT = 500, 50_000  # per transaction: at most so many lines, about so many characters
MOST = 50_000  # searchable characters of a message
OUTPUT, INPUT = 2_000, 5_000  # of a tool's output and input
PLACE_BITS = 21
LATEST_MS = (1 << 42) - 1  # limit for times written by hand: the year 2109


def text_of(shown: TranscriptLine) -> str:
    """The searchable text of a message; empty for lines that are not messages."""
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
    """Index what grew since the last time. False if part of it is still not indexed; True for a
    chat that was deleted.

    `rest`: for work that no one waits for; called before each part, it may pause, and False ends
    the work. `deadline`: a time.monotonic() value, after which no further part begins.
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
    """Whether the chat is indexed to its end; False while another process indexes it."""
    state = Searched.objects.filter(chat=row.id).first()
    return state is None or (state.inode, state.upto) == _place(row)


def catch_up_all(among: Iterable[Project], *, within_s: float | None = None) -> bool:
    """Index every chat that grew. False if some are not indexed to their end, because time ran out
    or another process is indexing them."""
    complete = True
    deadline = None if within_s is None else time.monotonic() + within_s
    for project, row in behind(among):
        if deadline is not None and time.monotonic() > deadline:
            return False
        complete &= catch_up(project, row.id, deadline=deadline)
    return complete


def behind(among: Iterable[Project]) -> Iterator[tuple[Project, Chat]]:
    """Chats not indexed to their end, the last changed first in each project. One query serves all
    projects: a query for each would take most of a search's time."""
    projects = [*among]
    known = Searched.objects.filter(chat__project__in=[project.slug for project in projects])
    places = {chat: (inode, upto) for chat, inode, upto in known.values_list()}
    for project in projects:
        for row in index.entries(project):  # newest first
            if row.offset and places.get(row.id) != _place(row):
                yield project, row


def _place(row: Chat) -> tuple[int, int]:
    """The inode of a transcript, and the end of its last complete line."""
    return int(row.transcript_stat.rpartition(":")[2]), row.offset


def _one_part(row: Chat, path: str) -> int | None:
    """Index the next lines. Return up to where; None if there are none or another process did."""
    inode, end = _place(row)
    state = Searched.objects.filter(chat=row.id).first()
    fresh = state is None or state.inode != inode or state.upto > end
    start = 0 if state is None or fresh else state.upto
    if start >= end:
        return None
    scan = transcript.Scan(path, start, end)
    passages = _passages(row, scan, Viewer(path))
    if scan.end == start:  # the file became shorter a moment ago
        return None
    try:
        with transaction.atomic():
            if not _claim(row, state, inode, scan.end):
                return None
            if fresh:
                Passage.objects.filter(chat=row.id).delete()
            Passage.objects.bulk_create(passages, ignore_conflicts=True)
    except IntegrityError:  # the chat was deleted in the meantime
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
    """The passages of the next lines, few enough that no other writer waits long."""
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
    """A number that sorts by time, and by place within one millisecond. If two chats have messages
    in the same millisecond, one pair in two million gets the same number, and the second message
    cannot be found."""
    at = counts.moment(str(shown.get("timestamp")))
    ms = min(max(int(at.timestamp() * 1000), 0), LATEST_MS)
    place = zlib.crc32(chat.encode()) + int(shown["offset"])
    return (ms << PLACE_BITS) | (place & ((1 << PLACE_BITS) - 1))
