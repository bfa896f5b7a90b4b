"""The states as history counts them: six numbers, a higher one is worse."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal, get_args

OFF = "off"  # the reason of a change to unknown because this service did not run


class StoredState(IntEnum):
    """The state of an app. OFF: the daemon did not run, so nothing is known or counted."""

    OFF = 0
    UNKNOWN = 1
    STOPPED = 2
    UP = 3
    DEGRADED = 4
    DOWN = 5


Column = Literal["unknown", "stopped", "up", "degraded", "down"]
COUNTED = tuple(StoredState)[1:]
COLUMNS: dict[StoredState, Column] = dict(zip(COUNTED, get_args(Column), strict=True))
LETTERS = "--sugd"  # of `bar24`, by number

_KEPT = {"starting": StoredState.UNKNOWN, "stopping": StoredState.STOPPED} | {
    name: kept for kept, name in COLUMNS.items()
}


_MEANT_TO_RUN = frozenset({StoredState.UP, StoredState.DEGRADED, StoredState.DOWN})


def counts(ok: bool | None, state: StoredState) -> bool:
    """Whether it counts as a check; a failure while an app starts or is stopped does not."""
    return ok is not None and (ok or state in _MEANT_TO_RUN)


def stored_state(state: str) -> StoredState:
    """The number of an AppState: `starting` counts as unknown, `stopping` as stopped."""
    return _KEPT[state]
