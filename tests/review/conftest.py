"""What the tests of the review part share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.review.places import put
from tests.review.repos import Repo
from tests.review.world import World


@pytest.fixture
def home(tmp_path: Path, settings) -> Path:
    """A projects directory with one project, `pay`, and a data directory of its own."""
    projects = settings.PROJECTS_DIR = tmp_path / "projects"
    settings.DATA_DIR = tmp_path / "data"
    put(projects / "pay" / "project.yaml", b"title: Pay\n")
    return projects


@pytest.fixture
def world(home: Path, tmp_path: Path) -> World:
    """The project `pay` with an empty repository `api`."""
    return World(home, Repo(tmp_path / "api"))
