"""Directories that sessions of Claude Code name, and the least that the disk takes to tell them."""

from __future__ import annotations

import os
from pathlib import Path

import orjson

from workspace.projects import sessions


def keep(store: Path, code: Path, count: int) -> None:
    """Work trees below `code`, with one session in each."""
    for number in range(count):
        directory = code / f"work{number}"
        (directory / ".git").mkdir(parents=True)
        folder = store / f"-work{number}"
        folder.mkdir(parents=True)
        lines = {"type": "user", "sessionId": "x"}, {"cwd": str(directory)}
        (folder / "0a1b.jsonl").write_bytes(b"\n".join(map(orjson.dumps, lines)))


def look(store: Path) -> None:
    """At each session's folder and first 64 KiB; at each directory by its real path, and at `.git`
    in it."""
    for folder in os.scandir(store):
        for session in os.scandir(folder):
            fd = os.open(session.path, os.O_RDONLY)
            head = os.pread(fd, sessions.EDGE, 0)
            os.close(fd)
        found = sessions.CWD.search(head)
        assert found
        real = os.path.realpath(orjson.loads(found[1]))
        os.scandir(real).close()
        os.stat(f"{real}/.git")  # noqa: PTH116 - the least that it takes
