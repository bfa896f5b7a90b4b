"""kill -9 tears no file and loses no acknowledged write (a process crash, not a power cut)."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from config.storage import files, locks, yamlio
from tests.config.disks import quick_folder
from tests.promises.rings import ring, seeded

SIZE = 5_000


def write_for_ever(folder: Path, number: int) -> None:
    """The writer: every number is in the files first, then it is told."""
    while True:
        number += 1
        put(folder / "project.yaml", number)
        put(folder / f"new-{number % 3}.yaml", number)
        if number % 2:
            files.change(folder / f"new-{number % 3}.yaml", lambda now: None)
        os.write(1, b"%d\n" % number)


def put(path: Path, number: int) -> None:
    value = {"number": number, "filler": "x" * (number * 7919 % SIZE), "again": number}
    files.change(path, lambda now: yamlio.merge_entry(now or b"# kept\n", (), value))


def nurse(folder: Path) -> None:
    """A small process that forks a writer per line read, and says when it is dead."""
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            write_for_ever(folder, int(line))
        os.write(1, b"pid %d\n" % pid)
        os.waitpid(pid, 0)
        os.write(1, b"end\n")


class Nursery:
    """Writers on demand, without paying an interpreter for each."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        assert process.stdin is not None
        assert process.stdout is not None
        self.stdin, self.stdout = process.stdin, process.stdout

    @classmethod
    @contextmanager
    def open(cls, folder: Path) -> Iterator[Nursery]:
        code = (
            "import django; django.setup()\n"
            f"from pathlib import Path; from {__name__} import nurse; nurse(Path({str(folder)!r}))"
        )
        argv = [sys.executable, "-c", code]
        pipe = subprocess.PIPE
        with subprocess.Popen(argv, stdin=pipe, stdout=pipe, bufsize=0) as process:
            yield cls(process)
            process.stdin.close()  # type: ignore[union-attr]

    def killed(self, start: int, after: float) -> int:
        """A writer that goes on from `start`, killed; the last number it acknowledged."""
        self.stdin.write(b"%d\n" % start)
        pid, told = 0, start
        while (line := self.stdout.readline()) != b"end\n":
            assert line, "the nursery died"
            if line.startswith(b"pid "):
                pid = int(line[4:])
            else:
                told = int(line)
            if pid and told > start:
                select.select([], [], [], after)
                os.kill(pid, signal.SIGKILL)
                pid = 0
        return told


def check(folder: Path, told: int) -> int:
    """Every file is whole and no older than what was told. The number to go on from."""
    found = {path: yamlio.parse(path.read_bytes()).value for path in folder.glob("[!.]*.yaml")}
    for value in found.values():
        assert value["number"] == value["again"]
        assert len(value["filler"]) == value["number"] * 7919 % SIZE
    last = found[folder / "project.yaml"]["number"]
    assert told <= last <= told + 1
    assert (folder / "project.yaml").read_bytes().startswith(b"# kept\n")
    return int(last)


@pytest.mark.promise("F1")
def test_a_killed_writer_leaves_whole_files_and_all_it_acknowledged():
    rng = seeded()
    with quick_folder() as folder, Nursery.open(folder) as nursery:
        number = 0
        for _ in range(ring(fast=20, slow=10_000)):
            number = check(folder, nursery.killed(number, rng.random() * 0.008))

        assert number >= 20
        files.sweep([folder])
        assert [p.name for p in folder.iterdir() if not p.name.endswith(".yaml")] == []
        locks.sweep_locks()
        assert list(locks._file("x").parent.glob("*.lock")) == []
