"""What git prints is read while it prints it: never all of it, and never after it fell silent."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.git import command
from config.git.command import GitError
from review.git.diffs import hunkstream


def test_a_line_without_an_end_is_not_kept():
    def pieces() -> Iterator[bytes]:
        yield b":100644 100644 1 2 M\0a\0\0diff --git a/a b/a\n@@ -1 +1 @@\n-x\n+"
        for _ in range(2000):
            yield b"x" * 1000
        yield b"\n@@ -5 +5 @@\n-y\n+z\n"

    tracemalloc.start()
    try:
        ((_, found),) = hunkstream.edits(pieces())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()

    assert found == ((1, 1, 1, 1), (5, 1, 5, 1))
    assert peak < 100_000


def test_a_git_that_says_nothing_is_given_up():
    silent = subprocess.Popen(["sleep", "60"], stdout=subprocess.PIPE, process_group=0)
    try:
        with pytest.raises(GitError) as told:
            list(command.pieces(silent, timeout=0.05))
    finally:
        command.end(silent)

    assert told.value.kind == "timeout"


def test_a_git_that_fails_has_not_told_all(tmp_path: Path):
    failing = command.spawn(tmp_path, ["diff-tree", "HEAD"])
    with pytest.raises(GitError) as told:
        list(command.pieces(failing))
    command.end(failing)

    assert told.value.kind == "failed"


def test_a_git_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(command, "REAP_S", 0.05)
    script = "import os, time; os.close(1); time.sleep(60)"
    silent = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, process_group=0
    )
    try:
        with pytest.raises(GitError) as told:
            list(command.pieces(silent, timeout=1))
    finally:
        command.end(silent)

    assert told.value.kind == "timeout"
