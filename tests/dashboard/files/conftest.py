"""What the tests of the dashboard's files share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from config.storage import displaced
from dashboard.files import layout, reading
from tests.dashboard.files.world import Home


@pytest.fixture(autouse=True)
def home(tmp_path: Path, settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Home]:
    """A data directory and a user's home of its own; nothing is remembered from before."""
    settings.DATA_DIR = tmp_path / "data"
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    reading.clear()
    yield Home(layout.home())
    displaced.settle()
