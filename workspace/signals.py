"""What happens in the workspace that others may want to hear of, as Django signals.

Sent with `config.signals.tell`, after what happened was written, in the process that knows first:
a question by the worker of its turn, an end by whoever settles it. What is heard twice or not at
all after a crash is the receiver's to bear: rows and transcripts are the truth. See
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
    """A turn waits for a person's answer; at `until` it is denied, which an open page puts off.

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
    """A question is over. `by`: user, or why nobody could answer any more (timeout, stop)."""

    project: str
    chat: str
    turn: str
    call: str
    tool: str
    allowed: bool
    by: str


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """A turn is over. `state`: done, failed, stopped, interrupted; `reason` a sentence, empty when
    done.

    `seconds` from its first start to its end, None where it never started; `run` and `trigger` are
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
    """A run that began or waited is over: completed, failed, cancelled or interrupted.

    `error` is its reason, empty when completed. A skipped firing never was a run to end.
    """

    project: str
    trigger: str
    run: str
    status: str
    error: str
