"""D6 and D13: many writers beside `sed -i`, and what was written read again."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings

from bench.dashboard.sizes import Sizes
from bench.figures import Figure, counted
from config.kernel.storage import displaced
from dashboard.files import places, writing
from tests.dashboard.files.test_properties import OWN, SHOP, agree
from tests.dashboard.files.writers import write_at_once

WRITERS = 8


def figures(sizes: Sizes) -> list[Figure]:
    return [*_writers(sizes.edits), _mappings(sizes.mappings)]


def _writers(operations: int) -> list[Figure]:
    path = places.place("apps", "shop").path
    told = write_at_once(path, writers=WRITERS, operations=operations, seed=6)
    displaced.settle()
    assert not told.failed, told.failed
    what = f"{operations} PATCH and PUT of {WRITERS} writers, {told.edits} sed -i, "
    return [
        counted("D6", f"{what}{told.refused} refusals: updates lost with If-Match", told.lost),
        counted("D6", "the same: reads of a file that did not parse", len(told.unread)),
        counted("D6", "the same: comments missing from a read", len(told.torn)),
    ]


def _mappings(examples: int) -> Figure:
    wrong = 0

    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(OWN, OWN)
    def read_again(first: dict[str, object], second: dict[str, object]) -> None:
        nonlocal wrong
        made = writing.applied(SHOP, None, lambda _old: first)
        wrong += not agree(made, first)
        wrong += not agree(writing.applied(SHOP, made, lambda _old: second), second)

    read_again()
    return counted("D13", f"2 x {examples} generated mappings: read other than written", wrong)
