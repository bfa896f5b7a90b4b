"""Objects by id: what is there, what is missing, and the processes that tell of it."""

from __future__ import annotations

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from config.git.command import GitError
from review.git import catfile, objects, staying
from review.git.objects import Entry
from review.git.repository import Repository, open_repository
from tests.review.git.processes import is_gone
from tests.review.repos import Repo
from tests.service import until

pytestmark = pytest.mark.usefixtures("no_gits")


@pytest.fixture
def opened(repo: Repo) -> Repository:
    return open_repository(repo.path)


def pids() -> set[int]:
    return {reader.process.pid for reader in staying._all}


def oid(repo: Repo, data: bytes) -> str:
    return repo.git("hash-object", "-w", "--stdin", stdin=data)


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"one\ntwo", b"\0\xff" * 1000, b"x" * (1 << 20), b"1" * 40 + b" blob 5\nhello\n"],
    ids=["empty", "line feed", "text", "binary", "1 MiB", "looks like an answer"],
)
def test_a_blob_is_its_bytes(repo: Repo, opened: Repository, data: bytes):
    sha = oid(repo, data)

    assert objects.blob(opened, sha) == data


@pytest.mark.parametrize(
    "name", ["1" * 40, "", "HEAD", "x\ncontents HEAD", "--help", "é", "1" * 64, "A" * 40, "\ud800"]
)
def test_what_is_no_object_is_missing(opened: Repository, name: str):
    assert objects.blob(opened, name) is None
    assert objects.kind(opened, name) is None
    assert not objects.exists(opened, name)
    assert objects.entry(opened, name, "a.txt") is None


def test_a_commit_or_a_tree_is_no_blob(repo: Repo, opened: Repository):
    assert objects.blob(opened, repo.sha()) is None
    assert objects.blob(opened, repo.git("rev-parse", "HEAD^{tree}")) is None
    assert objects.kind(opened, repo.sha()) == "commit"


def test_many_blobs_come_in_the_order_asked(repo: Repo, opened: Repository):
    wanted = [oid(repo, b"%d\n" % number) for number in range(20)] * 30 + ["1" * 40]

    found = list(objects.blobs(opened, wanted))

    assert [sha for sha, _ in found] == wanted
    assert [data for _, data in found[:20]] == [b"%d\n" % number for number in range(20)]
    assert found[-1] == ("1" * 40, None)
    assert len(pids()) == 1


def test_a_reader_that_stops_early_leaves_no_answer_to_the_next(repo: Repo, opened: Repository):
    one, two = oid(repo, b"one"), oid(repo, b"two")
    blobs = objects.blobs(opened, [one] * 100)
    assert next(blobs) == (one, b"one")
    blobs.close()  # type: ignore[attr-defined]

    assert objects.blob(opened, two) == b"two"


def test_an_entry_is_found_by_walking_trees(repo: Repo, opened: Repository):
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib")
    (repo.path / "link").symlink_to("a.txt")
    repo.git("add", "link")
    repo.git("commit", "-q", "-m", "more")
    sha = repo.sha()

    def entry(path: str) -> Entry | None:
        return objects.entry(opened, sha, path)

    assert entry("b/c.txt") == Entry("100644", repo.git("rev-parse", "HEAD:b/c.txt"), "blob")
    assert entry("b") == Entry("040000", repo.git("rev-parse", "HEAD:b"), "tree")
    assert entry("lib") == Entry("160000", "1" * 40, "commit")
    assert entry("link") == Entry("120000", repo.git("rev-parse", "HEAD:link"), "blob")
    nowhere = (
        "c",
        "b/c",
        "b/c.txt/",
        "a.txt/x",
        "",
        "/",
        "/b",
        "b//c.txt",
        "../a.txt",
        "B",
        "lib/x",
    )
    assert [entry(path) for path in nowhere] == [None] * len(nowhere)


def test_an_entry_may_have_any_name(repo: Repo, opened: Repository):
    names = ("a b", "x\ny", "-x", "\udcff", 'q"', ":(top)", "\x01", "ü")
    sha = repo.commit({f"deep/{name}": f"{number}" for number, name in enumerate(names)})

    found = [objects.entry(opened, sha, f"deep/{name}") for name in names]

    assert [entry and objects.blob(opened, entry.oid) for entry in found] == [
        f"{number}".encode() for number in range(len(names))
    ]


def test_entries_of_many_folders_are_asked_for_by_depth(
    repo: Repo, opened: Repository, monkeypatch: pytest.MonkeyPatch
):
    paths = [f"{top}/{name}/file" for top in "xyz" for name in "abcdefgh"]
    sha = repo.commit(dict.fromkeys(paths, "1"))
    asked: list[str] = []
    ask = staying.Staying.ask

    def counted(git: staying.Staying, text: str) -> None:
        asked.append(text)
        ask(git, text)

    monkeypatch.setattr(staying.Staying, "ask", counted)

    found = objects.entries(opened, sha, [*paths, "x/none/file", "y/a"])

    assert len(asked) == 4  # the commit, its tree, the folders of it, and those in them
    assert found == {path: objects.entry(opened, sha, path) for path in [*paths, "y/a"]}
    assert len(asked) == 4


def test_a_commit_without_files_has_no_entries(tmp_path: Path):
    repo = Repo(tmp_path / "bare")
    sha = repo.commit({}, "empty")

    assert objects.entry(open_repository(repo.path), sha, "a") is None


def test_new_and_repacked_objects_are_found_by_a_running_process(repo: Repo, opened: Repository):
    old = repo.git("rev-parse", "HEAD:a.txt")
    assert objects.blob(opened, old) is not None
    before = pids()
    new = oid(repo, b"new")
    assert objects.blob(opened, new) == b"new"
    repo.git("gc", "-q", "--prune=now")

    assert objects.blob(opened, old) == b"one\nTWO\nthree\n"
    assert objects.blob(opened, new) is None
    assert pids() == before


def test_a_killed_process_is_replaced(repo: Repo, opened: Repository):
    sha = repo.sha()
    with ThreadPoolExecutor(2) as pool:
        start = threading.Barrier(2)
        list(pool.map(lambda _: (start.wait(), objects.exists(opened, sha)), range(2)))
    for pid in pids():
        os.kill(pid, signal.SIGKILL)

    assert objects.exists(opened, sha)


def test_a_process_killed_in_the_middle_loses_no_answer(repo: Repo, opened: Repository):
    big = oid(repo, os.urandom(1 << 20))
    small = [oid(repo, b"%d" % number) for number in range(300)]
    found = []
    for sha, data in objects.blobs(opened, [*small, big, big, *small]):
        found.append((sha, data and len(data)))
        if len(found) in (100, 301):
            for pid in pids():
                os.kill(pid, signal.SIGKILL)

    sizes = [(sha, len(b"%d" % number)) for number, sha in enumerate(small)]
    assert found == [*sizes, (big, 1 << 20), (big, 1 << 20), *sizes]


def test_a_damaged_object_counts_as_missing(repo: Repo, opened: Repository):
    good, bad = oid(repo, b"good"), oid(repo, b"bad")
    file = repo.path / ".git/objects" / bad[:2] / bad[2:]
    file.chmod(0o644)
    file.write_bytes(file.read_bytes()[:-3] + b"xxx")

    found = dict(objects.blobs(opened, [good, bad, "1" * 40]))

    assert found == {good: b"good", bad: None, "1" * 40: None}


def test_an_object_that_git_dies_of_counts_as_missing(
    opened: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    good, bad = "a" * 40, "b" * 40
    script = tmp_path / "git"
    script.write_text(
        "#!/bin/sh\nwhile read verb oid; do case $oid in "
        f"{bad}) exit 1;; ?*) printf '%s blob 4\\ngood\\n' $oid;; esac; done\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")

    found = list(objects.blobs(opened, [bad, good, bad, bad, good]))

    assert [data for _, data in found] == [None, b"good", None, None, b"good"]


def test_a_process_that_hangs_is_a_timeout_and_is_ended(repo: Repo, opened: Repository):
    sha = repo.sha()
    assert objects.exists(opened, sha)
    (pid,) = pids()
    os.kill(pid, signal.SIGSTOP)

    started = time.monotonic()
    with pytest.raises(GitError) as told:
        list(catfile.contents(opened, [sha], 0.3))

    assert told.value.kind == "timeout"
    assert time.monotonic() - started < 5
    assert is_gone(pid)
    assert objects.exists(opened, sha)


def test_many_threads_share_the_processes(repo: Repo, opened: Repository):
    wanted = [oid(repo, b"%d\n" % number) for number in range(50)]

    def ask(number: int) -> bool:
        return objects.blob(opened, wanted[number % 50]) == b"%d\n" % (number % 50)

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(ask, range(800)))

    assert len(pids()) <= staying.KEPT


def test_a_slow_reader_keeps_nobody_waiting(repo: Repo, opened: Repository):
    sha = repo.git("rev-parse", "HEAD:a.txt")
    held = [objects.blobs(opened, [sha] * 5) for _ in range(staying.KEPT + 1)]
    for blobs in held:
        next(blobs)

    assert objects.exists(opened, sha)
    for blobs in held:
        blobs.close()  # type: ignore[attr-defined]


def test_a_forked_child_starts_with_processes_of_its_own(repo: Repo, opened: Repository):
    sha = repo.sha()
    assert objects.exists(opened, sha)
    before = pids()
    child = os.fork()
    if child == 0:
        answer = staying._all == set() and objects.exists(opened, sha) and not pids() & before
        staying.close()
        os._exit(0 if answer else 1)
    _, status = os.waitpid(child, 0)

    assert status == 0
    assert objects.exists(opened, sha)
    assert pids() == before


def test_processes_unused_for_a_while_end(
    repo: Repo, opened: Repository, monkeypatch: pytest.MonkeyPatch
):
    assert staying.IDLE_S == 60
    monkeypatch.setattr(staying, "IDLE_S", 0.2)
    assert objects.exists(opened, repo.sha())
    (pid,) = pids()

    until(lambda: is_gone(pid), what="the end of an idle process")
    until(lambda: not any(thread.name == "git-sweeper" for thread in threading.enumerate()))


def test_of_many_repositories_those_asked_last_keep_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(staying, "MOST", 2)
    repos = [Repo(tmp_path / name) for name in "abcd"]
    shas = [repo.commit({"a": "1\n"}, "One") for repo in repos]
    opened = [open_repository(repo.path) for repo in repos]
    for repository, sha in zip(opened, shas, strict=True):
        assert objects.exists(repository, sha)
    kept = pids()

    assert len(kept) == 2
    assert objects.exists(opened[2], shas[2])
    assert objects.exists(opened[3], shas[3])
    assert pids() == kept


def test_a_process_that_has_told_much_is_replaced(
    repo: Repo, opened: Repository, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(staying, "MUCH", 1000)
    small, large = oid(repo, b"1" * 10), oid(repo, b"2" * 2000)
    assert objects.blob(opened, small) == b"1" * 10
    kept = pids()
    assert objects.blob(opened, small) == b"1" * 10
    assert pids() == kept

    assert objects.blob(opened, large) == b"2" * 2000

    assert pids() == set()
    assert objects.blob(opened, large) == b"2" * 2000


def test_processes_end_with_ours(repo: Repo, tmp_path: Path):
    child = os.fork()
    if child == 0:
        objects.exists(open_repository(repo.path), repo.sha())
        (tmp_path / "draft").write_text(" ".join(map(str, pids())))
        (tmp_path / "draft").rename(tmp_path / "pid")
        signal.pause()
    told = until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text())
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)

    until(lambda: is_gone(int(told)), what="the end of the process")
