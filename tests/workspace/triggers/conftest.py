"""The fixtures of the trigger tests."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.workspace.triggers.world import World
from workspace.triggers.schedule import alive


@pytest.fixture(autouse=True)
def utc(settings) -> None:
    """The zone of the instance is UTC, whatever that of the machine is."""
    settings.SVC = replace(settings.SVC, timezone="UTC")


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
