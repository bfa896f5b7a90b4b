"""Locks of what hosts may share stand where other hosts look; all others stay on their host."""

from __future__ import annotations

import fcntl
from pathlib import Path
from typing import Any

import pytest

from config.errors import Unavailable
from config.storage import files, locks

SHARED = ".svc/locks"


@pytest.fixture
def host(settings: Any, tmp_path: Path) -> Any:
    """A host with a home, whose projects directory others may see."""
    settings.DATA_DIR, settings.PROJECTS_DIR = tmp_path / "data", tmp_path / "projects"
    settings.SVC_HOME = "H" * 26
    (settings.PROJECTS_DIR / "alpha").mkdir(parents=True)
    settings.DATA_DIR.mkdir()
    return settings


def held(folder: Path) -> int:
    return len([*folder.glob("*.lock")])


def test_a_host_waits_for_another_that_writes_the_same_project_file(host: Any, monkeypatch: Any):
    path = host.PROJECTS_DIR / "alpha" / "project.yaml"
    with locks.lock(f"{locks.FILE}{path}"):
        (one,) = (host.PROJECTS_DIR / SHARED).glob("*.lock")
    one.touch()
    monkeypatch.setattr(locks, "WAIT_S", 0.1)

    with one.open() as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(Unavailable):
            files.change(path, lambda data: b"name: Alpha\n")

    assert not path.exists()


@pytest.mark.parametrize("name", ["chat 1", "owned chat alpha/nightly", "curator alpha"])
def test_what_is_about_projects_is_locked_for_all_hosts(host: Any, name: str):
    with locks.lock(name):
        assert held(host.PROJECTS_DIR / SHARED) == 1


def test_files_elsewhere_are_locked_on_their_host_alone(host: Any):
    with locks.lock(f"{locks.FILE}{host.DATA_DIR}/dashboard/config.yaml"):
        assert held(host.PROJECTS_DIR / SHARED) == 0
        assert held(host.DATA_DIR / "state/locks") == 1


def test_without_a_home_nothing_is_made_in_the_projects_directory(host: Any):
    host.SVC_HOME = ""

    with locks.lock("chat 1"):
        assert held(host.DATA_DIR / "state/locks") == 1
    assert not (host.PROJECTS_DIR / ".svc").exists()


def test_locks_that_a_killed_process_left_are_swept_in_both_places(host: Any):
    for folder in (host.PROJECTS_DIR / SHARED, host.DATA_DIR / "state/locks"):
        folder.mkdir(parents=True)
        (folder / "left.lock").touch()

    assert locks.sweep_locks() == 2
