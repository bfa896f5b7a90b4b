"""The shop of the worktree tests: a real repository beside the projects."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workspace.chats.conftest import world as world  # noqa: PLC0414 - a fixture
from tests.workspace.chats.test_directory import BWRAP
from tests.workspace.chats.world import World
from tests.workspace.worktrees.world import Shop
from workspace.engines import select


@pytest.fixture(autouse=True)
def own_data(settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path / "data"
    (settings.DATA_DIR / "run").mkdir(parents=True)


@pytest.fixture
def shop(own_data: None, world: World, tmp_path: Path) -> Shop:
    return Shop(world, tmp_path / "shop")


@pytest.fixture
def walled(shop: Shop, monkeypatch, tmp_path: Path) -> Iterator[Shop]:
    """The repository lies in the home of its user, which turns do not see."""
    monkeypatch.setenv("HOME", str(tmp_path))
    select.probe_again()
    assert select.confinement().mode == BWRAP.mode
    yield shop
    select.probe_again()
