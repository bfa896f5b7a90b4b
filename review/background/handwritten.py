"""What a person or an agent's file tool wrote into a review file: new threads, replies, marks.

Found by comparing the file with what was last read of it. Nothing is reported if a request has read
the change first, or if a comment has an old time (a file that was put back): requests look at the
file itself, and those who act on reports can wait for the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from config import signals
from review import caches, files
from review.files import times
from review.threads import reading
from review.threads.schema import ReviewFile, Thread

PAST = timedelta(minutes=10)  # older comments were written elsewhere, and only arrived here now

Parts = tuple[str, str, str, str]  # slug, "reviews", repo, "<sha>.yaml"


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that was written: the last comment of `thread`, or a change of its state."""

    thread: Thread
    act: signals.Act
    author: str
    text: str = ""


class Handwritten:
    """What review files held when last looked at. Called from the watcher's thread."""

    def __init__(self) -> None:
        self._known: caches.Memory[Parts, ReviewFile] = caches.Memory(4096)

    def forget(self, parts: Parts) -> None:
        """Forget a file that the service itself has written: the index has its contents."""
        self._known.put(parts, UNKNOWN)

    def look(self, parts: Parts) -> list[Said]:
        """What was written since the last look, in file order; nothing if the file cannot be
        read."""
        before, row = self._known.get(parts), files.index_row(*parts)
        found = files.read(*parts)
        if found is None or found.error:
            return []
        now = _parse(found.data, parts)
        if before is None or before is UNKNOWN:
            if row is not None and row[0] == found.etag:
                before = now  # a request has read it since
            else:
                before = _parse(row[1] if row else {}, parts)
        self._known.put(parts, now)
        return list(differences(before, now))


UNKNOWN = ReviewFile()


def differences(before: ReviewFile, now: ReviewFile) -> Iterator[Said]:
    """What was done to threads: opened, replied, proposed, resolved or reopened, in file order."""
    known = {thread.id: thread for thread in before.conversations}
    said = {comment.id for thread in before.threads for comment in thread.comments}
    for thread in now.conversations:
        old = known.get(thread.id)
        fresh = [one for one in thread.comments if one.id not in said and not _past(one.created_at)]
        grown = old is None or len(thread.comments) > len(old.comments)
        if fresh and grown:
            act: signals.Act = "opened" if old is None else "replied"
            yield Said(thread, act, fresh[-1].author or "", fresh[-1].body)
        proposed = None if thread.resolved else thread.proposed
        if proposed and not (old and old.proposed == proposed) and not _past(proposed.at):
            yield Said(thread, "proposed", proposed.by or "")
        if old is not None and old.resolved != thread.resolved:
            act = "resolved" if thread.resolved else "reopened"
            yield Said(thread, act, (thread.resolved_by if thread.resolved else None) or "")


def _past(at: str | None) -> bool:
    return at is not None and times.exact(at) < times.of(timezone.now() - PAST)


def _parse(data: dict[str, Any], parts: Parts) -> ReviewFile:
    return reading.parse(data, parts[3].removesuffix(".yaml"))
