"""A desk of its own for each test, and its own kept trees."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.workspace.trees.desk import Desk


@pytest.fixture
def desk(db: None, settings, tmp_path: Path) -> Desk:
    settings.DATA_DIR = tmp_path / "data"
    settings.PROJECTS_DIR = tmp_path / "projects"
    return Desk(tmp_path / "work")


@pytest.fixture
def plain(db: None, settings, tmp_path: Path) -> Desk:
    """A directory without git."""
    settings.DATA_DIR = tmp_path / "data"
    settings.PROJECTS_DIR = tmp_path / "projects"
    return Desk(tmp_path / "plain", git=False)
