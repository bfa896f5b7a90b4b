"""The rings of the tests: fast in every run, whole and slow before a release (CONTRIBUTING.md).

SVC_RING=whole takes every test and every case, in small sizes. SVC_RING=slow takes them in large
sizes, slow/10 in a tenth of these, for a machine or an evening that is short.
"""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from typing import TypeVar

import pytest

_name, _, _part = os.environ.get("SVC_RING", "fast").partition("/")
SLOW = _name == "slow"
WHOLE = SLOW or _name == "whole"
PART = int(_part or 1)
T = TypeVar("T")


def ring(*, fast: int, slow: int) -> int:
    """The size of this run."""
    return max(fast, slow // PART) if SLOW else fast


def few(cases: Sequence[T], count: int) -> Sequence[T]:
    """The first `count` of these cases, which differ little and take long; else all of them."""
    return cases if WHOLE else cases[:count]


def seeded() -> random.Random:
    """A generator whose seed is printed, and replayed with SVC_SEED; CI always has the same."""
    given = os.environ.get("SVC_SEED") or os.environ.get("SVC_CI")
    seed = int(given or random.SystemRandom().randrange(2**32))
    print(f"SVC_SEED={seed}")
    return random.Random(seed)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The fast ring leaves out what bears the mark `slow`, unless it was asked for by its name."""
    if WHOLE or any("::" in argument for argument in config.args):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if not item.get_closest_marker("slow")]
