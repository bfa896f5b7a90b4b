"""The world of the chat tests: real files, committed rows, forked workers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.workspace.chats.world import World


@pytest.fixture
def world(transactional_db: None, settings, tmp_path: Path) -> Iterator[World]:
    settings.PROJECTS_DIR = tmp_path / "projects"
    settings.PROJECTS_DIR.mkdir()
    world = World(settings.PROJECTS_DIR)
    yield world
    world.close()
