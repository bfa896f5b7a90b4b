"""What the tests of the lost notice share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from config.storage import displaced
from dashboard.files import reading
from tests.dashboard.reboot.world import Machine
from tests.dashboard.services.world import sweep


@pytest_asyncio.fixture
async def machine(
    tmp_path: Path, settings, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Machine]:
    """Nothing it started outlives it."""
    data = settings.DATA_DIR = tmp_path / "data"
    data.mkdir()
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    reading.clear()
    made = Machine(monkeypatch, data)
    yield made
    await made.close()
    displaced.settle()
    sweep(data)
