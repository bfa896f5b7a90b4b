"""Django signals about what happens in the workspace, for other modules.

They are sent with `config.signals.tell`, after the change was written, in the first process that
knows it: a question in the worker of its turn, an end in the process that settles it. After a crash
a signal may be sent twice or not at all: only rows and transcripts are the truth. See
docs/design/workspace.md#what-others-hear-of.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.dispatch import Signal

asked = Signal()  # Asked
answered = Signal()  # Answered
turn_ended = Signal()  # TurnEnded
run_ended = Signal()  # RunEnded


@dataclass(frozen=True, slots=True)
class Asked:
    """A turn waits for a person's answer; at `until` it is denied, unless an open page extends it.

    `summary` is the command or file in one line, perhaps empty; `call` names the question within
    its chat.
    """

    project: str
    chat: str
    turn: str
    call: str
    tool: str
    summary: str
    since: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Answered:
    """A question is over. `by`: user, or why no one can answer any more (timeout, stop)."""

    project: str
    chat: str
    turn: str
    call: str
    tool: str
    allowed: bool
    by: str


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A turn is over. `state`: done, failed, stopped, interrupted; `reason`: a sentence, empty if
    done.

    `seconds`: from its first start to its end, None if it never started; `run` and `trigger` are
    empty for a turn that no trigger fired.
    """

    project: str
    chat: str
    turn: str
    state: str
    reason: str
    seconds: float | None
    run: str
    trigger: str


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run that had started or was queued is over: completed, failed, cancelled or interrupted.

    `error` is the reason, empty if completed. It is not sent for skipped firings.
    """

    project: str
    trigger: str
    run: str
    status: str
    error: str
