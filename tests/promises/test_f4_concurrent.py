"""Concurrent edits lose nothing: every change is in the file, or kept beside it.

The saves by hand happen inside the system calls of the writers, so each is a whole save at an
instant between two steps of a write; an editor that saves a stale buffer is nobody's to help.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from config.errors import Conflict
from config.storage import displaced, files, syscalls
from tests.config.disks import quick_folder
from tests.promises.rings import ring, seeded

CALLS = ("open_at", "write", "fsync", "rename", "exchange", "unlink")


class Hands:
    """People at editors: they rename over (vim), write in place (VS Code), or linger between."""

    def __init__(self, path: Path, saves: int, rng: random.Random) -> None:
        self.path = path
        self.left = saves
        self.rng = rng
        self.saved: list[bytes] = []
        self.instant = threading.Lock()  # a save is whole: no step of any writer falls inside it
        self.lingering: tuple[BinaryIO, bytes] | None = None

    def maybe(self) -> None:
        if self.lingering:
            if self.rng.random() < 0.3:
                self.finish()
        elif self.left and self.rng.random() < 0.2 and self.path.exists():
            self.left -= 1
            self.save()

    def save(self) -> None:
        line = b"hand-%d\n" % self.left
        text = self.path.read_bytes() + line
        self.saved.append(line)
        style = self.rng.randrange(3)
        if style == 0:
            draft = self.path.with_name(".by-hand")
            draft.write_bytes(text)
            draft.replace(self.path)
        elif style == 1:
            self.path.write_bytes(text)
        else:
            self.lingering = (self.path.open("r+b"), text)

    def finish(self) -> None:
        if self.lingering:
            stream, text = self.lingering
            with stream:
                stream.write(text)
            self.lingering = None


@pytest.mark.promise("F4")
def test_writers_by_program_and_by_hand_lose_no_change(monkeypatch: pytest.MonkeyPatch):
    writers, edits = ring(fast=8, slow=16), ring(fast=20, slow=5_000)
    with quick_folder() as folder:
        path = folder / "project.yaml"
        path.write_bytes(b"base\n")
        hands = Hands(path, writers * edits, seeded())
        for name in CALLS:
            monkeypatch.setattr(syscalls, name, interrupted(getattr(syscalls, name), hands))
        acknowledged = write_all(path, writers, edits)
        monkeypatch.undo()
        hands.finish()
        for _ in range(10):
            displaced.settle()

        text = b"".join(p.read_bytes() for p in [path, *folder.glob("*.conflict-*")])
        present = set(text.splitlines(keepends=True))
        assert [line for line in acknowledged if line not in present] == []
        assert [line for line in hands.saved if line not in present] == []
        assert len(acknowledged) == writers * edits
        assert len(hands.saved) > edits
        assert [p.name for p in folder.iterdir() if p.name.startswith(".svc-tmp-")] == []


def interrupted(real: Callable[..., object], hands: Hands) -> Callable[..., object]:
    def call(*args: object, **kwargs: object) -> object:
        with hands.instant:
            hands.maybe()
            return real(*args, **kwargs)

    return call


def write_all(path: Path, writers: int, edits: int) -> list[bytes]:
    acknowledged: list[bytes] = []

    def write(number: int) -> None:
        for count in range(edits):
            line = b"api-%d-%d\n" % (number, count)
            while not written(path, line):
                pass
            acknowledged.append(line)

    threads = [threading.Thread(target=write, args=[n]) for n in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return acknowledged


def written(path: Path, line: bytes) -> bool:
    """One change; False when the file would not hold still and the caller is to try again."""
    try:
        files.change(path, lambda now: now if line in (now or b"") else (now or b"") + line)
    except Conflict:
        return False
    return True
