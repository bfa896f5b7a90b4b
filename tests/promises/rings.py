"""Two rings of every promise: fast on every run, slow by `make promises` (SVC_RING=slow).

SVC_RING=slow/10 is a tenth of the slow one, for a machine or an evening that is short.
"""

from __future__ import annotations

import os
import random

_name, _, _part = os.environ.get("SVC_RING", "fast").partition("/")
SLOW = _name == "slow"
PART = int(_part or 1)


def ring(*, fast: int, slow: int) -> int:
    """The size of this run."""
    return max(fast, slow // PART) if SLOW else fast


def seeded() -> random.Random:
    """A generator whose seed is printed, and replayed with SVC_SEED; CI always has the same."""
    given = os.environ.get("SVC_SEED") or os.environ.get("SVC_CI")
    seed = int(given or random.SystemRandom().randrange(2**32))
    print(f"SVC_SEED={seed}")
    return random.Random(seed)
