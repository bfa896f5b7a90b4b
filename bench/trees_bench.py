"""T1, T2: what a checkpoint of a work tree costs beside `git add -A` with a warm index of its own,
and what reading the uncommitted changes costs beside `git status` and `git diff`.

20,000 files, 5 of them changed before each call; all calls on the same tree, alternately, best of
7.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path

from bench.figures import Figure, ratio_figure
from bench.timing import alternately

FILES, CHANGED, FOLDERS = 20_000, 5, 500
MOST_X, MORE_MS = 2, 20


def main() -> list[Figure]:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django
    from django.core.management import call_command

    django.setup(set_prefix=False)
    call_command("migrate", verbosity=0)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "work"
        made = _make_tree(root)
        return [_checkpoint(root, made), _changes(root, made)]


def _make_tree(root: Path) -> list[Path]:
    """A committed tree of this many files."""
    made = [root / f"d{n % FOLDERS}" / f"f{n}.txt" for n in range(FILES)]
    for n, path in enumerate(made):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"line {n}\n" * 20)
    _git(root, "init", "-q")
    _git(root, "add", "-A")
    _git(root, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-q", "-m", "all")
    return made


def _changer(made: list[Path]) -> Callable[[], None]:
    numbers = count()

    def change() -> None:
        number = next(numbers)
        for path in made[:: FILES // CHANGED]:
            path.write_text(f"changed {number}\n")

    return change


def _changes(root: Path, made: list[Path]) -> Figure:
    """Measured with a project that lists the repository, as review reads it."""
    from django.conf import settings

    from review.stacks.worktree import looks

    project = Path(settings.PROJECTS_DIR) / "bench-trees"
    project.mkdir(parents=True, exist_ok=True)
    (project / "project.yaml").write_text(f"title: Bench\nrepos:\n- name: work\n  path: {root}\n")
    change = _changer(made)

    def ours() -> None:
        assert len(looks.changes("bench-trees", "work")["files"]) == CHANGED

    def floor() -> None:
        _git(root, "--no-optional-locks", "status", "--porcelain")
        _git(root, "--no-optional-locks", "diff")

    change()
    ours()
    best, least = alternately(ours, floor, before=change)
    what = f"what is not committed, {FILES} files, {CHANGED} changed : git status + git diff"
    return ratio_figure("T2", what, best, least, unit="ms", most=1.5)


def _git(root: Path, *args: str, index: Path | None = None) -> None:
    environ = dict(os.environ) | ({"GIT_INDEX_FILE": str(index)} if index else {})
    subprocess.run(["git", *args], cwd=root, env=environ, check=True, capture_output=True)


def _checkpoint(root: Path, made: list[Path]) -> Figure:
    from config.git import shadow, snapshot
    from workspace.trees import records

    index, change = root.parent / "index", _changer(made)

    def ours() -> None:
        repository = shadow.open_at(root)
        assert repository is not None
        found = snapshot.take(repository)
        snapshot.keep(repository, f"{records.REFS}/bench/turn", found.tree, "bench")

    def floor() -> None:
        _git(root, "add", "-A", index=index)

    ours()
    floor()
    change()
    best, least = alternately(ours, floor, before=change)
    what = f"checkpoint, {FILES} files, {CHANGED} changed : {MOST_X} x git add -A + {MORE_MS} ms"
    return ratio_figure("T1", what, best, MOST_X * least + MORE_MS, unit="ms", most=1)
