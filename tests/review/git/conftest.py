"""Every test here has a repository `repo`: main with one commit, and `topic` with two more."""

from __future__ import annotations

from pathlib import Path

import pytest

from config.git import command
from tests.review.repos import Repo


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    made = Repo(tmp_path / "repo")
    made.commit({"a.txt": "one\ntwo\nthree\n"}, "base")
    made.branch("topic")
    made.commit({"a.txt": "one\nTWO\nthree\n"}, "first")
    made.commit({"b/c.txt": "new\n"}, "second")
    return made


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The git commands started while the test runs."""
    started: list[str] = []
    spawn = command.spawn

    def counted(directory: Path, args, **kwargs):
        started.append(args[0])
        return spawn(directory, args, **kwargs)

    monkeypatch.setattr(command, "spawn", counted)
    return started
