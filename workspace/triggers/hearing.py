"""Where the workspace learns what happened, in its own turns and runs and in the other parts.

Connected when Django starts, in every process, so the receivers are imported only when something
happens.
"""

from __future__ import annotations

from typing import Any

from config import signals as kernel
from workspace import signals

HEARD = (
    kernel.thread_written,
    kernel.branch_moved,
    kernel.app_changed,
    signals.run_ended,
)


def connect() -> None:
    for signal in HEARD:
        signal.connect(_hear, dispatch_uid="workspace.triggers")


def _hear(happening: Any, **_: object) -> None:
    from workspace.triggers import happenings

    happenings.hear(happening)
