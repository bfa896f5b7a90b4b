"""Many writers of one file and a person at `sed -i` (at 10,000 operations in the benchmark)."""

from __future__ import annotations

import pytest

from tests.dashboard.files.world import Home
from tests.dashboard.files.writers import write_at_once


@pytest.mark.timeout(120)
def test_no_two_writers_are_told_that_the_same_bytes_were_theirs_to_replace(home: Home):
    path = home.path / "apps" / "shop.yaml"

    told = write_at_once(path, writers=8, operations=400, seed=1)

    assert told.failed == []
    assert told.lost == 0
    assert told.unread == []
    assert told.torn == []
    assert told.edits > 8
    assert told.taken.total() > 40  # the person at the editor wins most rounds on a slow machine
