"""What the tests of stacks share."""

from __future__ import annotations

from pathlib import Path

import pytest

from review import caches
from tests.review.repos import Repo
from tests.review.stacks.world import Payments


@pytest.fixture
def pay(home: Path, tmp_path: Path, db: None) -> Payments:
    """The project `pay` with an empty repository, and nothing remembered of another test."""
    caches.clear()
    return Payments(home, Repo(tmp_path / "api"))
