"""Two rings of every promise: fast on every run, slow by `make promises` (SVC_RING=slow)."""

from __future__ import annotations

import os
import random

SLOW = os.environ.get("SVC_RING") == "slow"


def ring(*, fast: int, slow: int) -> int:
    """The size of this run."""
    return slow if SLOW else fast


def seeded() -> random.Random:
    """A generator whose seed is printed, and replayed with SVC_SEED; CI always has the same."""
    given = os.environ.get("SVC_SEED") or os.environ.get("SVC_CI")
    seed = int(given or random.SystemRandom().randrange(2**32))
    print(f"SVC_SEED={seed}")
    return random.Random(seed)
