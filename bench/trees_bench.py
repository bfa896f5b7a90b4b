"""T1: what a checkpoint of a work tree costs beside `git add -A` with a warm index of its own.

20,000 files, 5 of them changed before each; both on the same tree, alternately, best of 7.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from itertools import count
from pathlib import Path

from bench.figures import Figure, compared
from bench.timing import alternately

FILES, CHANGED, FOLDERS = 20_000, 5, 500
MOST_X, MORE_MS = 2, 20


def main() -> list[Figure]:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup(set_prefix=False)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "work"
        return [_checkpoint(root, _made(root))]


def _made(root: Path) -> list[Path]:
    """A committed tree of so many files."""
    made = [root / f"d{n % FOLDERS}" / f"f{n}.txt" for n in range(FILES)]
    for n, path in enumerate(made):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"line {n}\n" * 20)
    _git(root, "init", "-q")
    _git(root, "add", "-A")
    _git(root, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "-m", "all")
    return made


def _git(root: Path, *args: str, index: Path | None = None) -> None:
    environ = dict(os.environ) | ({"GIT_INDEX_FILE": str(index)} if index else {})
    subprocess.run(["git", *args], cwd=root, env=environ, check=True, capture_output=True)


def _checkpoint(root: Path, made: list[Path]) -> Figure:
    from workspace.trees import shadow, snapshot

    index, numbers = root.parent / "index", count()

    def change() -> None:
        number = next(numbers)
        for path in made[:: FILES // CHANGED]:
            path.write_text(f"changed {number}\n")

    def ours() -> None:
        repository = shadow.opened(root)
        assert repository is not None
        found = snapshot.take(repository)
        snapshot.keep(repository, f"{snapshot.REFS}/bench/turn", found.tree, "bench")

    def floor() -> None:
        _git(root, "add", "-A", index=index)

    ours()
    floor()
    change()
    best, least = alternately(ours, floor, before=change)
    what = f"checkpoint, {FILES} files, {CHANGED} changed : {MOST_X} x git add -A + {MORE_MS} ms"
    return compared("T1", what, best, MOST_X * least + MORE_MS, unit="ms", most=1)
