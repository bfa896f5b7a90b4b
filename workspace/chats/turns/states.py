"""The states of a turn that is not over, in the sets that queries need."""

from __future__ import annotations

WAITING = ("queued", "held")
BUSY = ("running", "waiting")  # has begun: nothing else of its chat runs before it ends
ACTIVE = ("queued", *BUSY)
AT_REST = ("queued", "waiting")  # no worker has it
