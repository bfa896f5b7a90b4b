"""The states of a turn that is not over, as sets that are asked for together."""

from __future__ import annotations

WAITING = ("queued", "held")
BUSY = ("running", "waiting")  # a turn that has begun: nothing of its chat runs before its end
ACTIVE = ("queued", *BUSY)
AT_REST = ("queued", "waiting")  # no worker has it
