"""Events of one part for the others, as Django signals, so that no part imports another.

A signal is sent in the process where the event happened, after it was written, from a thread that
may use the database, with one argument, `happening`. Receivers connect in their AppConfig's
`ready`, return at once (slow work goes to a queue) and may fail: a failing receiver undoes nothing.
See docs/design/architecture.md#what-the-parts-tell-each-other.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from django.db import OperationalError
from django.dispatch import Signal

log = logging.getLogger(__name__)

Act = Literal["opened", "replied", "proposed", "resolved", "reopened"]

thread_written = Signal()  # ThreadWritten
branch_moved = Signal()  # BranchMoved
app_changed = Signal()  # AppChanged


@dataclass(frozen=True, slots=True)
class ThreadWritten:
    """A person or an agent wrote in a thread of a commit under review, through the API or a file.

    `sha` is the full sha of the commit the thread is on, `line` is None if it is about a whole file
    or commit, `author` is as in the thread ("reviewer", "agent:claude"). `by_file`: the review file
    was edited, so `author` is only what the file says.
    """

    repository: Path
    project: str  # slug of the review project
    repo: str
    sha: str
    thread: str
    act: Act
    author: str
    text: str
    file: str = ""
    line: int | None = None
    by_file: bool = False


@dataclass(frozen=True, slots=True)
class BranchMoved:
    """A branch under review moved. `branch` is its short name, `before` is empty if it was created,
    `after` if it was deleted. Sent once for each project that lists the repository."""

    repository: Path
    project: str
    repo: str
    branch: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class AppChanged:
    """The state of a known app changed.

    `crash_loop` is sent once, when restarting is given up. `before` distinguishes an app that came
    back ("down", "crash_loop") from one that was started ("stopped", or "" if not judged before).
    `expected`: the app is meant to be running, because its file says `expected: always`, or because
    its service was started and not stopped; for an app that came back, whether it was. `directory`
    is None if it is not known.
    """

    app: str  # its id
    name: str
    directory: Path | None
    state: Literal["down", "up", "crash_loop"]
    reason: str
    expected: bool
    before: Literal["down", "up", "crash_loop", "stopped", ""] = ""


def tell(signal: Signal, happening: Any) -> None:
    """Send it to all receivers; one that fails is only logged."""
    for receiver, error in signal.send_robust(sender=type(happening), happening=happening):
        if isinstance(error, OperationalError):  # the database is down: that is logged by itself
            log.warning("a receiver does without the database", extra={"why": str(error)})
        elif isinstance(error, Exception):
            log.error("a receiver of %r failed", happening, exc_info=error, extra={"to": receiver})
