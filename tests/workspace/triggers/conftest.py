"""The fixtures of the trigger tests."""

from __future__ import annotations

from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.workspace.triggers.world import World
from workspace.triggers.schedule import alive, clock


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's zone is UTC unless a test says otherwise."""
    monkeypatch.setattr(clock, "host_zone", lambda: ZoneInfo("UTC"))


@pytest.fixture
def world(db, settings, tmp_path: Path) -> World:
    settings.PROJECTS_DIR = tmp_path / "projects"
    settings.PROJECTS_DIR.mkdir()
    world = World(settings.PROJECTS_DIR)
    world.write("name: Alpha\n")
    return world


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch) -> None:
    """A scheduler runs somewhere, as far as `run` can tell."""
    monkeypatch.setattr(alive, "scheduler_alive", lambda: True)
