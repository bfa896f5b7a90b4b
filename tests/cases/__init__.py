"""The edge cases of the contracts and the tests that show them; checked by test_cases.py.

A case may stand in both tables: what this version has is shown, what waits says for what.
"""

from __future__ import annotations

from tests.cases import dashboard, engine, review, workspace

CASES = workspace.CASES | engine.CASES | review.CASES | dashboard.CASES
LATER = engine.LATER | review.LATER | dashboard.LATER
EVERY = (
    *(f"E{number}" for number in range(1, 41)),
    *(f"N{number}" for number in range(1, 31)),
    *(f"R{number}" for number in range(1, 51)),
    *(f"D{number}" for number in range(1, 51)),
)
