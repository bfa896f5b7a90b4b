"""The world of the chat tests: real files, committed rows, forked workers."""

from __future__ import annotations

import os
import subprocess
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


@pytest.fixture
def small_disk(world: World) -> Iterator[Path]:
    """The chats of alpha on a disk of 64 KiB."""
    folder = world.folder / "alpha" / ".chats"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, check=False).returncode:
        pytest.skip("no small disk can be mounted here, needs root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=False)
