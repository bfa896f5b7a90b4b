"""The edge cases of the contracts, what pages owe, and the tests that show it (test_cases.py).

A case may stand in both tables: what this version has is shown, what waits says for what.
"""

from __future__ import annotations

from tests.cases import dashboard, engine, pages, review, workspace

CASES = workspace.CASES | engine.CASES | review.CASES | dashboard.CASES | pages.CASES
LATER = engine.LATER | review.LATER | dashboard.LATER
EVERY = (
    *(f"E{number}" for number in range(1, 41)),
    *(f"N{number}" for number in range(1, 31)),
    *(f"R{number}" for number in range(1, 51)),
    *(f"D{number}" for number in range(1, 51)),
    *(f"UR{number}" for number in range(1, 16)),
    *(f"UD{number}" for number in (*range(1, 18), *range(19, 23))),
    *(f"UW-{page}" for page in ("home", "project", "chat", "triggers", "records")),
    *(f"UX-{name}" for name in ("delete", "export", "unread", "search", "pause", "attachments")),
    *(f"UA{number}" for number in range(1, 7)),
)
