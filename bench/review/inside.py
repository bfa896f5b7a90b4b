"""Rows 5, 7, 8 and 9, for which the operation is called in this process (contract 16)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle

from bench.figures import Figure, compared
from bench.review import floors, world
from bench.review.histories import git
from bench.review.timing import alternately, git_calls, parses
from bench.review.world import World
from review import caches, operations, projects
from review.reviews import placement
from review.stacks import repo as repos
from review.stacks.listing import project_list

REPLY = "It is empty only before the first run.\n\nI added a test for it.\n"


def rows(made: World) -> Sequence[Callable[[], list[Figure]]]:
    return [partial(row, made) for row in (placing, posting, listing, carrying)]


def placing(made: World) -> list[Figure]:
    """Row 5 (S8): a pair of blobs of 20,000 lines, 2,000 hunks between them."""
    threads = world.scattered(made.long, "long.py", world.PLACED, 20_000)
    target = world.listed("l", made.long.head)
    blobs = [git(made.long.path, "rev-parse", f"{sha}:long.py").decode().strip()
             for sha in (made.long.base, made.long.head)]  # fmt: skip
    floor = partial(floors.diffs, made.long, [(blobs[0], blobs[1])])
    place = partial(placement.place, target, threads)
    ours, least = alternately(place, floor, before=caches.clear)
    where = {one.placement for one in place()}
    assert {"moved", "text", "nearest"} <= where, where
    with git_calls() as asked:
        place()
    return [
        compared("C5", "place 100 threads on L, cold (S8) : git diff -U0", ours, least,
                 unit="ms", most=2),
        none("C5", "the same, warm: git calls", asked),
    ]  # fmt: skip


def posting(made: World) -> list[Figure]:
    """Row 7: the whole operation, its record included; the file is on the disk when it is done."""
    sha = made.posted.stem
    (thread, *_) = operations.get_review(_me(), project="posted", repo="r", sha=sha)["threads"]
    place = {"project": "posted", "repo": "r", "sha": sha, "thread": thread["id"]}
    number = cycle(range(1000))

    def reply() -> None:
        operations.reply(_me(), body=f"{REPLY}{next(number)}", **place)

    floor = partial(floors.load, made.posted)
    size = made.posted.stat().st_size // 1000
    what = f"POST comment into a file of {size} KB"
    cold = alternately(reply, floor, before=caches.clear)
    warm = alternately(reply, floor)
    return [
        compared("C7", f"{what}, cold : C-parser load of it", *cold, unit="ms", most=3),
        compared("C7", f"{what}, warm : C-parser load of it", *warm, unit="ms", most=3),
    ]


def listing(made: World) -> list[Figure]:
    """Row 8 but for its time: what is parsed, and which processes run."""
    files = made.indexed
    caches.clear()
    with parses() as sizes:
        found = project_list()["projects"]
    assert len(found) == world.PROJECTS, len(found)
    assert not any(one["error"] for one in found)
    with parses() as again, git_calls() as asked:
        project_list()
    most = len(sizes) / len(files)
    return [
        Figure("C8", f"project list, {len(found)} projects, cold: YAML parses : files",
               str(len(sizes)), str(len(files)), most, "<= 1 x", most <= 1),
        none("C8", "the same, warm: parses", again),
        none("C8", "the same, warm: git calls", asked),
    ]  # fmt: skip


def carrying(made: World) -> list[Figure]:
    """Row 9: the range is read and every reviewed commit found again, after a rebase of S."""
    project = projects.get("rebased")
    entry = projects.repo(project, "r")
    load = partial(repos.load, project, entry)
    ours, least = alternately(load, partial(floors.patch_ids, made.rebased), before=caches.clear)
    by = [item.match.by for item in load().items if item.match]
    assert len(by) == len(made.rebased.commits), by
    with git_calls() as asked:
        load()
    return [
        compared("C9", "carry-over of S after a rebase, cold : log -p into patch-id, U3 and U0",
                 ours, least, unit="ms", most=1.5),
        none("C9", "the same, warm: git calls", asked),
    ]  # fmt: skip


def none(name: str, what: str, found: Sequence[object]) -> Figure:
    """A count that has to be 0."""
    return Figure(name, what, str(len(found)), "0", None, "0", not found)


def _me() -> operations.Local:
    return operations.Local("you")
