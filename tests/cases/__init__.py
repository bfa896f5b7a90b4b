"""The edge cases of the contracts and the tests that show them; checked by test_cases.py.

A case may stand in both tables: what this version has is shown, what waits says for what.
"""

from __future__ import annotations

from tests.cases import engine, review, workspace

CASES = workspace.CASES | engine.CASES | review.CASES
LATER = engine.LATER | review.LATER
EVERY = (
    *(f"E{number}" for number in range(1, 41)),
    *(f"N{number}" for number in range(1, 31)),
    *(f"R{number}" for number in range(1, 51)),
)
