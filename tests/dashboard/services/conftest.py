"""What the tests of services share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.dashboard.services.world import Scene, Turned, sweep


@pytest.fixture
def data(tmp_path: Path, settings) -> Path:
    folder = settings.DATA_DIR = tmp_path / "data"
    folder.mkdir()
    return folder


@pytest_asyncio.fixture
async def scene(data: Path) -> AsyncIterator[Scene]:
    """In real time; nothing it started outlives it."""
    made = Scene(data)
    yield made
    await made.close()
    sweep(data)


@pytest_asyncio.fixture
async def turned(data: Path) -> AsyncIterator[Scene]:
    """On a clock that the test turns."""
    made = Scene(data, clock=Turned())
    yield made
    await made.close()
    sweep(data)
