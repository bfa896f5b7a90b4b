"""What the tests of looks share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from config.storage import displaced


@pytest.fixture(autouse=True)
def data(tmp_path: Path, settings) -> Iterator[Path]:
    """A data directory of its own."""
    settings.DATA_DIR = tmp_path / "data"
    yield settings.DATA_DIR
    displaced.settle()
