"""The rows. The real service is asked over a connection that is kept open; C5, C7, C9 and C10 call
the operation in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import orjson

from bench.figures import Figure, bounded_figure, ratio_figure
from bench.review import floors, forgetting, world
from bench.review.histories import History, git
from bench.review.world import World
from bench.timing import Connection, alternately
from review import caches, projects
from review.git.diffs import between
from review.stacks import changes
from review.stacks import repo as repos
from review.stacks.compared import comparison, versions
from review.threads import records
from review.threads.placement import placing as placement
from tests.service import Service, until

FIRST = 8  # files of a first screen
SOUGHT = "customer_e"
WARM_MS = 3
REPLY = "It is empty only before the first run.\n\nI added a test for it.\n"
C = "/api/projects/{}/repos/r/commits/{}"


class Client(Connection):
    """One connection to the review port, and the service behind it."""

    def __init__(self, service: Service) -> None:
        super().__init__(service.ports["review"])
        self.service = service

    def json(self, path: str) -> Any:
        return orjson.loads(self.get(path))

    def forget(self) -> None:
        forgetting.forget(self.service.data)


def rows(made: World, client: Client) -> list[Callable[[], list[Figure]]]:
    own = (detailing, opening, screening, streaming, placing, reviewing, posting, listing, carrying,
           comparing, searching)  # fmt: skip
    return [partial(row, made, client) for row in own]


def detailing(made: World, client: Client) -> list[Figure]:
    """C1 (S6)."""
    history, path = made.work, "/api/projects/s"
    get = partial(client.get, path)
    (repo,) = client.json(path)["repos"]
    assert [one["sha"] for one in repo["commits"]] == history.commits, repo["errors"]
    assert all(one["additions"] is not None for one in repo["commits"])
    log = partial(git, history.path, "log", "--numstat", "-M", f"{history.base}..{history.head}")
    cold = alternately(get, log, before=client.forget)
    warm = alternately(get, partial(git, history.path, "rev-parse", "HEAD"))
    what = f"project detail of s, {len(history.commits)} commits"
    return [
        ratio_figure("C1", f"{what}, cold (S6) : git log --numstat -M", *cold, unit="ms", most=1.5),
        ratio_figure("C1", f"{what}, warm (S6) : spawn of git rev-parse", *warm, unit="ms", most=5),
    ]


def opening(made: World, client: Client) -> list[Figure]:
    """C2: the newest commit."""
    history, sha = made.work, made.work.head
    pairs, path = floors.pairs(history, sha), C.format("s", sha)
    size = len(client.get(path))
    answer = client.json(path)
    get = partial(client.get, path)
    least = partial(floors.commit, history, sha, pairs)
    cold = alternately(get, least, before=client.forget)
    warm, dump = alternately(get, partial(orjson.dumps, answer))
    what = f"commit detail of s, {len(pairs)} files, {size // 1000} KB"
    return [
        ratio_figure("C2", f"{what}, cold : diff-tree --numstat + cat-file --batch", *cold,
                     unit="ms", most=2),
        ratio_figure("C2", f"{what}, warm : {WARM_MS} ms + dump of the same JSON", warm,
                     WARM_MS + dump, unit="ms", most=1),
    ]  # fmt: skip


def screening(made: World, client: Client) -> list[Figure]:
    """C3 (S7)."""
    history = made.wide
    path = C.format("w", history.head) + f"?contents={FIRST}"
    answer = client.json(path)
    paths = [one["path"] for one in answer["files"][:FIRST]]
    assert len(answer["files"]) == 2000
    assert all(one["new"] for one in answer["files"][:FIRST])
    get = partial(client.get, path)
    least = partial(floors.first_screen, history, history.head, paths)
    cold = alternately(get, least, before=client.forget)
    warm = alternately(get, least)
    what = f"first {FIRST} of {len(answer['files'])} files (W)"
    floor = f"diff-tree --raw + diff of {FIRST} files"
    return [
        ratio_figure("C3", f"{what}, cold (S7) : {floor}", *cold, unit="ms", most=3),
        ratio_figure("C3", f"{what}, warm (S7) : {floor}", *warm, unit="ms", most=3),
    ]


def streaming(made: World, client: Client) -> list[Figure]:
    """C4, and how much memory the service takes at its peak."""
    history = made.wide
    pairs = floors.pairs(history, history.head)
    path = C.format("w", history.head)
    before = _memory(client.service.pid, "VmRSS")
    Path(f"/proc/{client.service.pid}/clear_refs").write_text("5")  # reset the peak
    size = len(client.get(path))
    more = (_memory(client.service.pid, "VmHWM") - before) / 1024
    assert size > 60_000_000, size
    cold = alternately(
        partial(client.get, path), partial(floors.everything, history, pairs),
        before=client.forget,
    )  # fmt: skip
    return [
        ratio_figure("C4", f"all {len(pairs)} files (W), {size // 1_000_000} MB, cold : "
                     "cat-file --batch + orjson dump", *cold, unit="ms", most=1.3),
        bounded_figure("C4", "the same: memory of the service beyond its rest", more, 64,
                       unit="MiB"),
    ]  # fmt: skip


def reviewing(made: World, client: Client) -> list[Figure]:
    """C6."""
    path = C.format("reviewed", made.work.head) + "/review"
    answer = client.json(path)
    threads = answer["threads"]
    files = sorted({one["path"] for one in threads})
    assert all(one["line"] for one in threads), answer["warnings"]
    pairs = [
        (_oid(made.work, made.work.base, file), _oid(made.work, made.work.head, file))
        for file in files
    ]

    def least() -> None:
        floors.load(made.reviewed)
        floors.diffs(made.work, pairs)

    get = partial(client.get, path)
    cold = alternately(get, least, before=client.forget)
    warm, dump = alternately(get, partial(orjson.dumps, answer))
    what = f"GET review, {len(threads)} threads in {len(files)} files"
    return [
        ratio_figure("C6", f"{what}, cold : C-parser load + a -U0 diff per file pair", *cold,
                     unit="ms", most=2),
        ratio_figure("C6", f"{what}, warm : {WARM_MS} ms + dump", warm, WARM_MS + dump,
                     unit="ms", most=1),
    ]  # fmt: skip


def listing(made: World, client: Client) -> list[Figure]:
    """C8."""
    client.get("/api/projects")
    files = made.indexed
    ours, stats = alternately(
        partial(client.get, "/api/projects"), lambda: [file.stat() for file in files]
    )
    return [
        bounded_figure("C8", f"project list, 50 projects, warm : stat of {len(files)} files", ours,
                       20, unit="ms", floor=stats)
    ]  # fmt: skip


def searching(made: World, client: Client) -> list[Figure]:
    """C11: a name in the one diff of the stack, after its commits were read, as a page does."""
    history = made.work
    path = f"/api/projects/s/repos/r/stacks/1/search?q={SOUGHT}"
    answer = client.json(path)
    told = [line for line in floors.grep(history, SOUGHT).splitlines() if b":@@" not in line]
    assert len(answer["lines"]) == len(told) > 0
    ours, least = alternately(partial(client.get, path), partial(floors.grep, history, SOUGHT))
    what = f"{len(answer['lines'])} lines of a stack of {len(history.commits)} commits"
    floor = "git diff of it + git grep over that"
    return [ratio_figure("C11", f"find {what} : {floor}", ours, least, unit="ms", most=1.5)]


# -- called in this process ----------------------------------------------------------------------


def placing(made: World, client: Client) -> list[Figure]:
    """C5 (S8): a pair of blobs of 20,000 lines, 2,000 hunks between them."""
    threads = world.scattered_threads(made.long, "long.py", world.PLACED, 20_000)
    target = world.find_target("l", made.long.head)
    blobs = [git(made.long.path, "rev-parse", f"{sha}:long.py").decode().strip()
             for sha in (made.long.base, made.long.head)]  # fmt: skip
    floor = partial(floors.diffs, made.long, [(blobs[0], blobs[1])])
    place = partial(placement.place, target, threads)
    ours, least = alternately(place, floor, before=caches.clear)
    where = {one.placement for one in place()}
    assert {"moved", "text", "nearest"} <= where, where
    return [
        ratio_figure("C5", "place 100 threads on L, cold (S8) : git diff -U0", ours, least,
                     unit="ms", most=2),
    ]  # fmt: skip


def posting(made: World, client: Client) -> list[Figure]:
    """C7: the whole operation, including its record; when it returns, the file is on the disk."""
    sha = made.posted.stem
    (thread, *_) = records.review(repos.target_at("posted", "r", sha))["threads"]
    place = {"project": "posted", "repo": "r", "sha": sha, "thread": thread["id"]}
    number = cycle(range(1000))

    def reply() -> None:
        changes.reply(me="you", body=f"{REPLY}{next(number)}", **place)

    floor = partial(floors.load, made.posted)
    size = made.posted.stat().st_size // 1000
    what = f"POST comment into a file of {size} KB"
    cold = alternately(reply, floor, before=caches.clear)
    warm = alternately(reply, floor)
    return [
        ratio_figure("C7", f"{what}, cold : C-parser load of it", *cold, unit="ms", most=3),
        ratio_figure("C7", f"{what}, warm : C-parser load of it", *warm, unit="ms", most=3),
    ]


def carrying(made: World, client: Client) -> list[Figure]:
    """C9: after a rebase of S, read the range and find every reviewed commit again."""
    project = projects.get("rebased")
    entry = projects.repo(project, "r")
    load = partial(repos.load, project, entry)
    ours, least = alternately(load, partial(floors.patch_ids, made.rebased), before=caches.clear)
    by = [item.match.by for item in load().items if item.match]
    assert len(by) == len(made.rebased.commits), by
    return [
        ratio_figure("C9", "carry-over of S after a rebase, cold : log -p into patch-id, U3 and U0",
                     ours, least, unit="ms", most=1.5),
    ]  # fmt: skip


def comparing(made: World, client: Client) -> list[Figure]:
    """C10: what the page requests when *Since my last look* opens, for a new comparison."""
    first, second = made.versions
    place = ("versions", "r", second.head)

    def answers() -> list[bytes]:
        known = versions.versions(*place)
        found = comparison.since(*place, first.head, contents=FIRST)
        return [orjson.dumps(known), orjson.dumps(found)]

    known, found = map(orjson.loads, answers())
    assert [one["sha"] for one in known["versions"]] == [first.head, second.head]
    assert 100 <= len(found["files"]) <= 200
    assert any(file["from_base"] for file in found["files"])
    least = partial(floors.two_diffs, first, second)
    cold = alternately(answers, least, before=between.forget)
    warm = alternately(answers, least)
    what = "versions of a commit of 200 files, since the first"
    floor = "git diff of both, and of their bases"
    return [
        ratio_figure("C10", f"{what}, cold : {floor}", *cold, unit="ms", most=1.5),
        ratio_figure("C10", f"{what}, warm : {floor}", *warm, unit="ms", most=1),
    ]


def _memory(pid: int, name: str) -> int:
    """A line of the process's status, in KiB."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def _oid(history: History, sha: str, path: str) -> str:
    return git(history.path, "rev-parse", f"{sha}:{path}").decode().strip()


@contextmanager
def client(folder: Path, root: Path) -> Iterator[Client]:
    """A service of these projects, once it has settled."""
    env = {
        "SVC_PROJECTS_DIR": str(root),
        "DJANGO_SETTINGS_MODULE": "bench.review.settings",
    }
    with Service(folder, env=env, scheduler=False) as service:
        until(Path(forgetting.address(service.data)).exists)
        yield Client(service)
