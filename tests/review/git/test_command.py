"""git starts without the caller's environment, and ends when its time is over."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from config.git import command
from config.git.command import GitError
from tests.review.git.processes import is_gone
from tests.review.repos import Repo
from tests.service import until


@pytest.fixture
def slow_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `git` that writes its pid and that of a child beside it, and never ends by itself."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "git"
    script.write_text(f"#!/bin/sh\nsleep 600 &\necho $$ $! > {folder}/pids\nwait\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder / "pids"


def test_a_git_that_hangs_is_killed_with_its_children(slow_git: Path, tmp_path: Path):
    started = time.monotonic()
    with pytest.raises(GitError) as told:
        command.run(tmp_path, "log", timeout=0.5)

    assert time.monotonic() - started < 5
    assert told.value.kind == "timeout"
    assert told.value.text == "git log took more than 0.5 seconds"
    assert until(lambda: all(map(is_gone, map(int, slow_git.read_text().split()))))


def test_what_git_may_have_waited_for_is_named_wherever_it_lies(slow_git: Path, tmp_path: Path):
    folder = tmp_path / "deep" / "er"
    folder.mkdir(parents=True)
    (tmp_path / "deep" / ".gitignore").write_text("x\n")
    (tmp_path / "deep" / ".gitattributes").symlink_to(tmp_path / "absent")
    (tmp_path / "loop").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(GitError, match=r"seconds$"):
        command.run(tmp_path, "log", timeout=0.1)

    os.mkfifo(folder / ".gitattributes")
    with pytest.raises(GitError) as told:
        command.run(tmp_path, "log", timeout=0.1)
    assert told.value.text == (
        f"git log took more than 0.1 seconds: {folder}/.gitattributes is a FIFO, which git waits"
        " for; remove it"
    )


def said_everything(git: Path, then: str) -> None:
    git.write_text(f"#!/bin/sh\nexec >&- 2>&-\n{then}\n")


def test_a_git_that_has_said_everything_and_does_not_end_is_killed(slow_git: Path, tmp_path: Path):
    said_everything(slow_git.with_name("git"), f"echo $$ > {slow_git}; exec sleep 600")

    with pytest.raises(GitError, match=r"git log took more than 0\.5 seconds"):
        command.run(tmp_path, "log", timeout=0.5)

    assert until(lambda: is_gone(int(slow_git.read_text())))


def test_the_end_of_a_git_is_told_and_not_looked_for(
    slow_git: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    said_everything(slow_git.with_name("git"), "exec sleep 0.1")
    monkeypatch.setattr(time, "sleep", lambda _seconds: pytest.fail("looked again"))

    assert command.run(tmp_path, "log") == b""


def test_two_piped_gits_that_hang_are_killed(slow_git: Path, tmp_path: Path):
    with pytest.raises(GitError) as told:
        command.pipe(tmp_path, ["log"], ["patch-id"], timeout=0.5)

    assert told.value.kind == "timeout"
    assert until(lambda: all(map(is_gone, map(int, slow_git.read_text().split()))))


def test_a_git_killed_by_a_signal_is_a_failure(slow_git: Path, tmp_path: Path):
    slow_git.with_name("git").write_text("#!/bin/sh\nkill -9 $$\n")

    with pytest.raises(GitError, match="git log was killed by signal 9"):
        command.run(tmp_path, "log")


def test_a_machine_without_git_is_told_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(GitError, match="git is not installed, or not in PATH"):
        command.run(tmp_path, "log")


def test_only_named_variables_reach_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    script = tmp_path / "git"
    script.write_text("#!/bin/sh\nexport -p\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for name in ("GIT_DIR", "GIT_TRACE", "GIT_CONFIG_PARAMETERS", "SECRET", "LD_PRELOAD_X"):
        monkeypatch.setenv(name, "from the caller")

    assert b"from the caller" not in command.run(tmp_path, "log")


def test_a_failing_source_of_a_pipe_is_told(repo: Repo):
    with pytest.raises(GitError, match="git log failed"):
        command.pipe(repo.path, ["log", "nonsense"], ["patch-id"])


@pytest.mark.parametrize("argument", ["a\0b", "\ud800"])
def test_an_argument_no_process_can_have_is_a_failure(repo: Repo, argument: str):
    with pytest.raises(GitError) as told:
        command.run(repo.path, "rev-parse", argument)

    assert told.value.kind == "failed"


def test_many_commands_leave_no_descriptor_open(repo: Repo):
    command.run(repo.path, "version")
    before = set(Path("/proc/self/fd").iterdir())
    for _ in range(20):
        command.run(repo.path, "version", stdin=b"")
        command.pipe(repo.path, ["log", "-p"], ["patch-id"])

    assert set(Path("/proc/self/fd").iterdir()) == before


def test_what_git_lists_below_its_reason_is_part_of_the_sentence(repo: Repo):
    with (repo.path / ".git/config").open("a") as config:
        config.write("[core]\nrepositoryFormatVersion = 1\n[extensions]\nlater = 1\nlast = 1\n")
    with pytest.raises(GitError) as told:
        command.run(repo.path, "rev-parse", "HEAD")
    assert told.value.text == (
        "git rev-parse failed: unknown repository extensions found: later, last"
    )
