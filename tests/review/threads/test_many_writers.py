"""Many clients, editors and a kill on one review file: every acknowledged word is kept."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from config.errors import NotFound
from config.storage import displaced, syscalls, yamlio
from config.storage.files import sweep
from review import files
from review.git import repository
from review.git.log import history
from review.threads import commenting, records
from review.threads.carry.traces import Match, Trace
from review.threads.target import Target
from tests.promises.rings import ring, seeded
from tests.review.world import World

pytestmark = pytest.mark.django_db(transaction=True)
START = "threads:\n- id: t\n  comments:\n  - {id: first, author: hand, body: First}\n"


@pytest.fixture
def sha(world: World) -> str:
    return world.repo.commit({"a.py": "one\ntwo\n"}, "Add a")


def at_once(count: int, act: Callable[[int], object]) -> None:
    """Run `act` in so many threads; the first error of any fails the test."""
    errors: list[BaseException] = []

    def run(number: int) -> None:
        try:
            act(number)
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    if errors:
        raise errors[0]


def comments(world: World, sha: str) -> dict[str, str]:
    """Id and body of every comment of the file, which must be valid."""
    value = yamlio.parse(world.file(sha).read_bytes(), nodes=100_000).texts()
    found = [one for thread in value["threads"] for one in thread["comments"]]
    assert len({one["id"] for one in found}) == len(found)
    return {one["id"]: one["body"] for one in found}


def nothing_left_over(world: World) -> None:
    displaced.settle()
    assert list(world.home.rglob(".svc-tmp-*")) == []
    assert list(world.home.rglob("*.conflict-*")) == []


def by_rename(path: Path, data: bytes) -> None:
    draft = path.with_name(".by-hand")
    draft.write_bytes(data)
    draft.replace(path)


def by_hand(path: Path, number: int) -> None:
    """Add a comment as vim (a rename) or VS Code (in place) saves it."""
    line = f"  comments:\n  - {{id: hand-{number}, author: hand, body: By hand}}\n".encode()
    data = path.read_bytes().replace(b"  comments:\n", line, 1)
    by_rename(path, data) if number % 2 else path.write_bytes(data)


@pytest.mark.timeout(300)
def test_eight_clients_reply_while_people_edit(
    world: World, sha: str, monkeypatch: pytest.MonkeyPatch
):
    path = world.put(sha, START)
    target, rng, real = world.target(sha), seeded(), syscalls.exchange
    replies = ring(fast=15, slow=50)  # fifty over HTTP: api/test_crowds.py
    told: dict[str, str] = {}
    saved: list[int] = []
    undoing = False

    def slipped_in(*args: Any) -> None:
        """A save by hand between the reading of a writer and its swap, not while it is undone."""
        nonlocal undoing
        undoing = not undoing and rng.random() < 0.1 and len(saved) < 40
        if undoing:
            by_hand(path, len(saved))
            saved.append(len(saved))
        real(*args)

    def client(number: int) -> None:
        for n in range(replies):
            body = f"Reply {n} of {number}"
            told[commenting.reply(target, "t", body=body, author=f"client-{number}")] = body

    monkeypatch.setattr(syscalls, "exchange", slipped_in)
    at_once(8, client)

    found = comments(world, sha)
    assert len(told) == 8 * replies
    assert saved
    assert found == told | {"first": "First"} | {f"hand-{n}": "By hand" for n in saved}
    assert len(records.thread(target, "t")["comments"]) == 1 + 8 * replies + len(saved)
    nothing_left_over(world)


def test_the_first_writes_on_a_carried_commit_take_it_over_once(world: World, sha: str):
    old = "12" * 20
    world.put(old, START)
    target = world.target(sha, Match(old, "patch-id"))

    at_once(8, lambda n: commenting.reply(target, "t", body=f"Reply {n}", author="x"))

    bodies = sorted(comments(world, sha).values())
    assert bodies == ["First", *(f"Reply {n}" for n in range(8))]
    assert world.text(sha).count("carried_from:") == 1
    assert world.text(old) == START


def test_new_threads_at_once_on_a_commit_without_a_file_are_all_kept(world: World, sha: str):
    target = world.target(sha)

    at_once(8, lambda n: commenting.create(target, body=f"Thread {n}", author="x"))

    assert sorted(comments(world, sha).values()) == [f"Thread {n}" for n in range(8)]
    nothing_left_over(world)


def not_known(*_: object) -> None:
    raise OSError(errno.ENOSYS, "Function not implemented")


@pytest.mark.parametrize("system", ["whole", "poor"])
@pytest.mark.parametrize("save", [by_rename, Path.write_bytes])
def test_a_save_between_reading_and_swapping_is_merged(
    world: World,
    sha: str,
    monkeypatch: pytest.MonkeyPatch,
    save: Callable[[Path, bytes], Any],
    system: str,
):
    path, left = world.put(sha, START), [1]
    real = syscalls.exchange if system == "whole" else not_known

    def patched(*args: Any) -> None:
        if left:
            left.pop()
            save(path, START.replace("First", "Changed by hand").encode())
        real(*args)

    monkeypatch.setattr(syscalls, "exchange", patched)
    if system == "poor":
        monkeypatch.setattr(syscalls, "move", not_known)
        monkeypatch.setattr(fcntl, "flock", not_known)

    cid = commenting.reply(world.target(sha), "t", body="By API", author="x")

    assert comments(world, sha) == {"first": "Changed by hand", cid: "By API"}
    nothing_left_over(world)


def test_a_half_saved_file_is_waited_for(world: World, sha: str):
    path = world.put(sha, START)
    target = world.target(sha)
    assert len(records.review(target)["threads"]) == 1
    path.write_bytes(START.encode()[:-10])
    rest = threading.Timer(0.1, path.write_bytes, [START.encode()])
    rest.start()

    cid = commenting.reply(target, "t", body="By API", author="x")

    rest.join()
    assert comments(world, sha) == {"first": "First", cid: "By API"}


def test_an_editor_that_saves_through_an_old_handle_loses_nothing(world: World, sha: str):
    path = world.put(sha, START)
    with path.open("r+b") as editor:
        cid = commenting.reply(world.target(sha), "t", body="By API", author="x")
        editor.write(START.replace("First", "Saved late").encode())
        editor.truncate()
        editor.flush()

    displaced.settle()
    assert comments(world, sha) == {"first": "Saved late", cid: "By API"}


@pytest.mark.parametrize("kind", ["create", "reply"])
def test_an_operation_done_again_on_its_own_result_adds_nothing(
    world: World, sha: str, monkeypatch: pytest.MonkeyPatch, kind: str
):
    """As the writer does it when a save by hand already holds what it wrote."""
    path, edits, real = world.put(sha, START), list[Any](), files.change

    def seen(parts: Any, edit: Any) -> None:
        edits.append(edit)
        real(parts, edit)

    monkeypatch.setattr(files, "change", seen)
    if kind == "create":
        commenting.create(world.target(sha), body="Once", author="x")
    else:
        commenting.reply(world.target(sha), "t", body="Once", author="x")

    assert edits[0](path.read_bytes()) == path.read_bytes()
    assert edits[0](START.encode()) == path.read_bytes()


def test_a_comment_that_a_hand_deletes_meanwhile_is_not_found(
    world: World, sha: str, monkeypatch: pytest.MonkeyPatch
):
    path, real, left = world.put(sha, START.replace("hand,", "me,")), syscalls.exchange, [1]
    other = "threads:\n- id: u\n  comments:\n  - {body: Other}\n"

    def patched(*args: Any) -> None:
        if left:
            left.pop()
            by_rename(path, other.encode())
        real(*args)

    monkeypatch.setattr(syscalls, "exchange", patched)

    with pytest.raises(NotFound, match="No such thread"):
        commenting.edit(world.target(sha), "t", "first", "New", "me")

    assert world.text(sha) == other


# -- kill -9 ---------------------------------------------------------------------------------------


def write_for_ever(path: str, sha: str) -> None:
    """Replies to thread `t`; each id is yielded once it was acknowledged."""
    opened = repository.open_repository(Path(path))
    commit = history.commit(opened, sha)
    target = Target("pay", "api", opened, commit, commit, None, Trace(sha))
    while True:
        cid = commenting.reply(target, "t", body="A reply\nof two lines", author="x")
        os.write(1, f"{cid}\n".encode())


def nurse(path: str, sha: str) -> None:
    """Run by a process that forks a writer per line read, and says when it is dead."""
    for _ in sys.stdin:
        pid = os.fork()
        if not pid:
            write_for_ever(path, sha)
        os.write(1, f"pid {pid}\n".encode())
        os.waitpid(pid, 0)
        os.write(1, b"end\n")


@contextmanager
def nursery(world: World, sha: str) -> Iterator[Callable[[int, float], list[str]]]:
    """Writers on demand: what one had told when it was killed, in the middle of anything, so many
    replies and seconds after it began."""
    code = (
        "import django; django.setup()\n"
        "from django.core.management import call_command; call_command('migrate', verbosity=0)\n"
        "from django.db import connection; connection.close()\n"
        f"from {__name__} import nurse; nurse({str(world.repo.path)!r}, {sha!r})"
    )
    env = os.environ | {
        "SVC_PROJECTS_DIR": str(world.home),
        "SVC_DATA_DIR": str(world.home.parent / "data"),
        "DJANGO_SETTINGS_MODULE": "config.settings",
    }
    argv, pipe = [sys.executable, "-c", code], subprocess.PIPE
    with subprocess.Popen(argv, env=env, stdin=pipe, stdout=pipe, bufsize=0) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        asked, said = process.stdin, process.stdout

        def killed(after: int, wait_s: float) -> list[str]:
            asked.write(b"\n")
            told, pid = list[str](), 0
            while (line := said.readline().decode().strip()) != "end":
                assert line, "the nursery died"
                if line.startswith("pid "):
                    pid = int(line[4:])
                else:
                    told.append(line)
                if pid and len(told) >= after:
                    threading.Event().wait(wait_s)
                    os.kill(pid, signal.SIGKILL)
                    pid = 0
            return told

        yield killed
        asked.close()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_killed_writer_leaves_a_whole_file_and_all_it_acknowledged(world: World, sha: str):
    world.put(sha, START)
    rng, told = seeded(), {"first"}
    with nursery(world, sha) as killed:
        for _ in range(ring(fast=40, slow=200)):
            told |= set(killed(2, rng.random() * 0.02))

            found = comments(world, sha).keys()
            assert told <= found
            assert len(found - told) <= 1  # written, and killed before it was told
            told |= found

    assert len(records.thread(world.target(sha), "t")["comments"]) == len(told)
    sweep([world.file(sha).parent], older_than_s=0)
    nothing_left_over(world)
