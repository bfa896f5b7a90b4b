"""Receivers of the signals of all parts: each signal that is worth a message is noted in the
database, in the process that sent it; workers do the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.dispatch import Signal

from config import signals as kernel
from workspace import signals
from workspace.notify import causes, folding
from workspace.notify.causes import Cause

OF: tuple[tuple[Signal, Callable[[Any], Cause | None]], ...] = (
    (signals.asked, causes.of_question),
    (signals.turn_ended, causes.of_turn),
    (signals.run_ended, causes.of_run),
    (kernel.app_changed, causes.of_app),
    (kernel.thread_written, causes.of_thread),
)


def connect() -> None:
    """Connect all receivers; called once, when the apps are ready."""
    for signal, cause_of in OF:
        signal.connect(_receiver(cause_of), weak=False, dispatch_uid=f"notify {cause_of.__name__}")
    signals.answered.connect(over, dispatch_uid="notify answered")


def _receiver(cause_of: Callable[[Any], Cause | None]) -> Callable[..., None]:
    def receive(*, happening: Any, **_: object) -> None:
        if (cause := cause_of(happening)) is not None:
            folding.note(cause)

    return receive


def over(*, happening: signals.Answered, **_: object) -> None:
    """Withdraw the notification of a question that was answered."""
    folding.withdraw(causes.asked_key(happening.chat, happening.call))
