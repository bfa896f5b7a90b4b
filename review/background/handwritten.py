"""What a hand, or an agent's file tool, wrote into a review file: new threads, replies, marks.

It is told by comparing with what was last read of the file. Where somebody else read the change
first, or a comment bears a time long past (a file that was put back), nothing is told: requests
look at the file itself, and who acts on what is told can wait for the next word.
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

PAST = timedelta(minutes=10)  # what is older was written elsewhere, and only came here now

Parts = tuple[str, str, str, str]  # slug, "reviews", repo, "<sha>.yaml"


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that was written: the last comment of `thread`, or what becomes of it."""

    thread: Thread
    act: signals.Act
    author: str
    text: str = ""


class Handwritten:
    """What review files held when they were last looked at. Called from the watcher's thread."""

    def __init__(self) -> None:
        self._known: caches.Memory[Parts, ReviewFile] = caches.Memory(4096)

    def forget(self, parts: Parts) -> None:
        """The service wrote the file itself: the index knows what it holds."""
        self._known.put(parts, UNKNOWN)

    def look(self, parts: Parts) -> list[Said]:
        """What was written since, oldest first; nothing while the file cannot be read."""
        before, row = self._known.get(parts), files.remembered(*parts)
        found = files.read(*parts)
        if found is None or found.error:
            return []
        now = _parsed(found.data, parts)
        if before is None or before is UNKNOWN:
            if row is not None and row[0] == found.etag:
                before = now  # a request has read it in the meantime
            else:
                before = _parsed(row[1] if row else {}, parts)
        self._known.put(parts, now)
        return list(differences(before, now))


UNKNOWN = ReviewFile()


def differences(before: ReviewFile, now: ReviewFile) -> Iterator[Said]:
    """What became of threads that were opened, answered, proposed, settled: in the file's order."""
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


def _parsed(data: dict[str, Any], parts: Parts) -> ReviewFile:
    return reading.parse(data, parts[3].removesuffix(".yaml"))
