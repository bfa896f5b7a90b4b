"""The shop of the worktree tests: a real repository beside the projects."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspace.chats.conftest import world as world  # noqa: PLC0414 - a fixture
from tests.workspace.chats.world import World
from tests.workspace.worktrees.world import Shop


@pytest.fixture(autouse=True)
def own_data(settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path / "data"
    (settings.DATA_DIR / "run").mkdir(parents=True)


@pytest.fixture
def shop(own_data: None, world: World, tmp_path: Path) -> Shop:
    return Shop(world, tmp_path / "shop")
