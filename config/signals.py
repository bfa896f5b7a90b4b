"""What a part tells the others has happened, as Django signals: no part imports another.

A signal is sent in the process where the thing happened, after it was written, from a thread that
may use the database, with one argument, `happening`. Receivers connect in their AppConfig's
`ready`, return at once (what takes time goes to a queue) and may fail: nothing that happened is
undone by who hears of it. See docs/design/architecture.md#what-the-parts-tell-each-other.
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

    `sha` is the full sha of the commit it stands on, `line` None where it is about a whole file or
    commit, `author` as in the thread ("reviewer", "agent:claude"). `by_file`: the file was edited,
    so that the author is only what it says.
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
    """A branch under review moved: its short name, `before` empty where it came, `after` where it
    went. A repository that is in several projects is told once for each."""

    repository: Path
    project: str
    repo: str
    branch: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class AppChanged:
    """A known app was judged otherwise than before.

    `crash_loop` is told once when restarting it is given up. `before` tells an app that came back
    ("down", "crash_loop") from one that was started ("stopped", "" for one not judged before).
    `expected`: somebody counts on it, since its file says `expected: always` or its service was
    started and nobody stopped it; of one that came back: so it was. `directory` is None where none
    is known.
    """

    app: str  # its id
    name: str
    directory: Path | None
    state: Literal["down", "up", "crash_loop"]
    reason: str
    expected: bool
    before: Literal["down", "up", "crash_loop", "stopped", ""] = ""


def tell(signal: Signal, happening: Any) -> None:
    """Send it to everyone who listens; a receiver that fails is logged and no more."""
    for receiver, error in signal.send_robust(sender=type(happening), happening=happening):
        if isinstance(error, OperationalError):  # the database is gone: a moment of its own
            log.warning("a receiver does without the database", extra={"why": str(error)})
        elif isinstance(error, Exception):
            log.error("a receiver of %r failed", happening, exc_info=error, extra={"to": receiver})
