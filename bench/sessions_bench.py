"""H1: a list of 1,000 conversations that Claude Code keeps for a directory. H2: the 200
directories that "Open a folder" knows by their sessions.

The floor of H1 opens each file and reads its first and last 64 KiB. Before each list either all
files have changed, so that nothing is cached, or none has. H2 is always cold.
"""

from __future__ import annotations

import os
import random
import tempfile
import uuid
from functools import partial
from pathlib import Path
from typing import Any

from bench.figures import Figure, bounded_figure, ratio_figure
from bench.timing import alternately

SESSIONS, EDGE = 1000, 1 << 16
LEAST, MOST = 20_000, 400_000  # bytes of a file
DIRECTORIES = 200
PAGES = (50, 500)  # how many are shown by default, and at most


def main() -> list[Figure]:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django
    from django.core.management import call_command

    django.setup(set_prefix=False)
    call_command("migrate", verbosity=0)
    return [*_sessions(), *_directories()]


def _sessions() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CLAUDE_CONFIG_DIR"] = folder
        directory = Path(folder) / "shop"
        directory.mkdir()
        return _listing_figures(directory, _write_sessions(Path(folder) / "projects", directory))


def _directories() -> list[Figure]:
    from django.test import Client

    from tests.workspace.api import known
    from workspace.access.principals import User
    from workspace.projects import sessions

    with tempfile.TemporaryDirectory() as folder:
        os.environ["CLAUDE_CONFIG_DIR"] = folder
        store = Path(folder) / "projects"
        known.keep(store, Path(folder) / "code", DIRECTORIES)
        asked: dict[str, Any] = {"svc.principal": User()}

        def ours() -> None:
            answer = Client().get("/api/folders", **asked)
            assert len(answer.json()["folders"]) == DIRECTORIES

        took, least = alternately(ours, partial(known.look, store), before=sessions._known.clear)
    what = f"{DIRECTORIES} directories by their sessions : folder, 64 KiB, real path, .git of each"
    return [bounded_figure("H2", what, took, 100, unit="ms", floor=least)]


def _listing_figures(directory: Path, paths: list[Path]) -> list[Figure]:
    from workspace.chats.sessions import claude_code

    def change() -> None:
        for path in paths:
            os.utime(path)

    def ours(limit: int) -> None:
        shown, total = claude_code.listing(directory, limit)
        assert (len(shown), total) == (limit, SESSIONS)

    def floor() -> None:
        for path in paths:
            _ends(path)

    figures = []
    for limit in PAGES:
        what = f"{limit} of {SESSIONS} sessions of Claude Code"
        least = "first and last 64 KiB of each"
        first = alternately(partial(ours, limit), floor, before=change)
        again = alternately(partial(ours, limit), floor)
        figures += [
            ratio_figure("H1", f"{what}, all changed : {least}", *first, unit="ms", most=2),
            ratio_figure("H1", f"{what}, none changed : {least}", *again, unit="ms", most=1),
        ]
    return figures


def _ends(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY)
    try:
        os.pread(fd, EDGE, 0)
        os.pread(fd, EDGE, max(EDGE, os.fstat(fd).st_size - EDGE))
    finally:
        os.close(fd)


def _write_sessions(store: Path, directory: Path) -> list[Path]:
    """Sessions of typical length over a month: a few of one or two lines, most of about 100 KB.
    Every third one has a title."""
    from tests.workspace.chats.sessions.kept import folder, model, person, written

    dice = random.Random(1000)
    paths = []
    for number in range(SESSIONS):
        path = folder(store, directory) / f"{uuid.UUID(int=number + 1)}.jsonl"
        common = {"cwd": str(directory), "sessionId": path.stem, "version": "9.9.9"}
        lines = [person(f"Question {number}", 1)]
        size, wanted = 0, dice.randrange(LEAST, MOST)
        while size < wanted:
            said = {"type": "text", "text": "a line that was said\n" * dice.randrange(5, 200)}
            lines.append(model(said, number=len(lines) + 1, after=len(lines)))
            size += len(said["text"])
        if number % 3 == 0:
            lines.append({"type": "summary", "summary": f"Title {number}"})
        path.write_text("".join(written({**_first(line), **line, **common}) for line in lines))
        paths.append(path)
    return paths


def _first(line: dict[str, Any]) -> dict[str, Any]:
    """The first record that Claude Code writes for a message."""
    return {"parentUuid": None} if "parentUuid" in line else {}
