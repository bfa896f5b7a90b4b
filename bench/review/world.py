"""The projects that are measured: 50 of them, over S, W, L and small repositories.

Everything is where the settings say, so the process that builds it can also call operations.
"""

from __future__ import annotations

import hashlib
import random
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import yaml
from django.conf import settings

from bench.review import histories
from bench.review.histories import History
from review import projects
from review.stacks import repo as repos
from review.threads import document
from review.threads.schema import ReviewFile, Thread
from review.threads.target import Target
from tests.review.threads import targets

PROJECTS = 50
THREADS, THREADED = 200, 20  # of C6: threads, files
PLACED = 100  # threads of C5
POSTED = 54_000  # bytes of the file of C7
BODY = "This reads well, but what happens when the list is empty?\nA test would say it."


@dataclass(frozen=True, slots=True)
class World:
    """The histories by the name of their project, and the review files that single rows use."""

    root: Path
    work: History
    rebased: History
    wide: History
    long: History
    versions: tuple[History, History]
    reviewed: Path  # 200 threads in 20 files, on the head of the project `reviewed`
    posted: Path  # the 54 KB file, on the head of the project `posted`

    @property
    def indexed(self) -> list[Path]:
        """Every file from which the list of projects is made."""
        return sorted(self.root.rglob("*.yaml"))


def build(folder: Path) -> World:
    """Make a new world in the projects directory; the repositories are in `folder`."""
    root = Path(settings.PROJECTS_DIR)
    shutil.rmtree(root, ignore_errors=True)
    work, rebased = histories.stack(folder)
    wide, long = histories.wide(folder), histories.long(folder)
    versions = histories.versions(folder)
    _rebase(root, "versions", *versions)
    for slug, history in (("s", work), ("reviewed", work), ("w", wide), ("l", long)):
        describe(root, slug, history)
    small = histories.small(folder, 0)
    describe(root, "posted", small)
    _rebase(root, "rebased", work, rebased)
    for number in range(1, PROJECTS - 6):
        _fill(root, f"p{number:02}", histories.small(folder, number))
    head = targets.target(work.path, work.head)
    return World(
        root, work, rebased, wide, long, versions,
        reviewed=_review(root, "reviewed", head, list(_threads(work))),
        posted=_posted_review(root, small),
    )  # fmt: skip


def describe(root: Path, slug: str, history: History) -> None:
    """A project with the one repo `r`."""
    (root / slug).mkdir(parents=True, exist_ok=True)
    entry = {"name": "r", "path": str(history.path), "range": history.range}
    text = yaml.safe_dump({"title": f"Project {slug}", "repos": [entry]}, sort_keys=False)
    (root / slug / "project.yaml").write_text(text)


def find_target(slug: str, sha: str) -> Target:
    """A commit as the operations know it."""
    project = projects.get(slug)
    found = repos.load(project, projects.repo(project, "r"))
    return repos.target(found, repos.find(found, sha))


def scattered_threads(history: History, path: str, count: int, most: int) -> list[Thread]:
    """Threads on lines of one file, as the file is on the base of the history."""
    on = targets.target(history.path, history.base)
    lines = sorted(random.Random(count).sample(range(1, most + 1), count))
    return [_thread(on, path, line) for line in lines]


def _thread(on: Target, path: str, line: int) -> Thread:
    digest = hashlib.sha256(f"{on.commit.sha} {path} {line}".encode()).hexdigest()
    made = targets.thread(on, path, line, tid=f"t-{digest[:8]}")
    comment = replace(made.comments[0], id=f"c-{digest[:8]}", body=BODY)
    return replace(made, comments=(comment,))


def _threads(history: History) -> Iterator[Thread]:
    """200 threads in 20 files that the history changes, as if they had been written on its
    base."""
    told = histories.git(history.path, "diff", "--name-only", history.base, history.head)
    for path in sorted(told.decode().split())[:THREADED]:
        yield from scattered_threads(history, path, THREADS // THREADED, 40)


def _review(root: Path, slug: str, on: Target, threads: Sequence[Thread]) -> Path:
    """A review file as the server writes it."""
    tree = document.review(ReviewFile(threads=tuple(threads)), document.fingerprint(on))
    file = root / slug / "reviews" / "r" / f"{on.commit.sha}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(document.text(None, tree))
    return file


def _rebase(root: Path, slug: str, before: History, after: History) -> None:
    """A project all of whose commits were reviewed before the branch was rebased."""
    for sha in before.commits:
        on = targets.target(before.path, sha)
        _review(root, slug, on, [_thread(on, on.commit.files[0].path, 10)])
    describe(root, slug, after)


def _fill(root: Path, slug: str, history: History) -> None:
    """A project with a review of each of its commits."""
    describe(root, slug, history)
    for sha in history.commits:
        on = targets.target(history.path, sha)
        _review(root, slug, on, [_thread(on, on.commit.files[0].path, 5)])


def _posted_review(root: Path, history: History) -> Path:
    threads: list[Thread] = []
    on = targets.target(history.path, history.head)
    path = on.commit.files[0].path
    while True:
        threads.append(_thread(on, path, len(threads) + 1))
        if len(threads) % 10 == 0:
            file = _review(root, "posted", on, threads)
            if file.stat().st_size >= POSTED:
                return file
