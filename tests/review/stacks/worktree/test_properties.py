"""Whatever a work tree and its index hold: a commit of some files, a discard and its undo do what
plain git does, leave everything else byte for byte, and are whole wherever they are killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from config.errors import Conflict
from config.git import handover
from config.storage import displaced
from review.git.commits import shown_path
from review.stacks.worktree import looks
from tests.promises.rings import few, ring
from tests.review.stacks.worktree.desk import PLACE, Desk

pytestmark = [pytest.mark.django_db, pytest.mark.process]

NAMES = ("a", "b", "d", "d/x", "d/y", "d/e/f", "ü", os.fsdecode(b"\xff"), "n\n\t\"", "-x",
         ":(top)", "t.log", "w*", "b/c", "a b")  # fmt: skip
CONTENTS = (b"", b"one\n", b"two\r\n", b"\xff\0\r\n", b"three\n" * 40)
name, content = st.sampled_from(NAMES), st.sampled_from(CONTENTS)
step = st.one_of(
    st.tuples(st.just("write"), name, content),
    st.tuples(st.just("write"), name, content),
    st.tuples(st.just("remove"), name, st.none()),
    st.tuples(st.just("chmod"), name, st.sampled_from((0o755, 0o644))),
    st.tuples(st.just("link"), name, st.sampled_from(("a", "/nowhere", "../x"))),
    st.tuples(st.just("rename"), name, name),
    st.tuples(st.just("add"), name, st.none()),
    st.tuples(st.just("force"), name, st.none()),
    st.tuples(st.just("uncache"), name, st.none()),
    st.tuples(st.just("intend"), name, st.none()),
)
first = st.lists(st.tuples(st.just("write"), name, content), min_size=1, max_size=6)
steps = st.lists(step, min_size=1, max_size=10)
SLOW = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow, HealthCheck.data_too_large]


def does(desk: Desk, acts: list[tuple[str, str, Any]]) -> None:
    """Do what can be done of it."""
    for kind, path, value in acts:
        target = desk.root / path
        try:
            _does(desk, kind, target, value)
        except (OSError, AssertionError):
            continue


def _does(desk: Desk, kind: str, target: Path, value: Any) -> None:
    path = os.fsdecode(os.fsencode(str(target.relative_to(desk.root))))
    where = ("--", f":(literal){path}")
    if kind == "write":
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        target.write_bytes(value)
    elif kind == "remove":
        target.unlink()
    elif kind == "chmod" and not target.is_symlink():
        target.chmod(value)
    elif kind == "link":
        target.unlink(missing_ok=True)
        target.symlink_to(value)
    elif kind == "rename":
        target.rename(desk.root / value)
    elif kind == "add":
        desk.repo.raw("add", *where)
    elif kind == "force":
        desk.repo.raw("add", "-f", *where)
    elif kind == "uncache":
        desk.repo.raw("rm", "-q", "-r", "--cached", *where)
    elif kind == "intend":
        desk.repo.raw("add", "-N", *where)


def begun(desk: Desk, tree: list[Any], acts: list[Any]) -> None:
    """A repository of its own for each example, with a submodule, ignored files and a stash."""
    shutil.rmtree(desk.root)
    desk.root.mkdir()
    desk.repo.git("init", "-q", "--initial-branch=main")
    desk.repo.config("user.name", "Ada")
    desk.repo.config("user.email", "ada@example.org")
    (desk.root / ".gitignore").write_text("*.log\n")
    does(desk, tree)
    head = desk.repo.commit({"kept": "kept\n"})
    desk.repo.git("update-index", "--add", "--cacheinfo", f"160000,{head},sub")
    desk.repo.git("commit", "-q", "-m", "with a submodule")
    (desk.root / "kept").write_text("stashed\n")
    desk.repo.git("stash", "-q")
    does(desk, acts)


def whole(desk: Desk) -> dict[str, Any]:
    told = desk.repo.git("ls-files", "-s", "-v", "-z").split("\0")[:-1]
    return {
        "head": desk.repo.sha(),
        "branch": desk.repo.git("symbolic-ref", "HEAD"),
        "index": {line.split("\t", 1)[1]: line.split("\t", 1)[0] for line in told},
        "files": desk.files(),
        "stash": desk.repo.git("stash", "list", "--format=%H"),
    }


def expected(desk: Desk, paths: list[str]) -> tuple[str, dict[str, str]]:
    """The tree and the index that plain git makes of the same: an index of its own for each."""
    told = b"".join(os.fsencode(path) + b"\0" for path in paths)
    feed = ("update-index", "--add", "--replace", "--remove", "-z", "--stdin")
    index = desk.root / ".git/index"
    for n, where in enumerate((str(desk.root / ".git/of-head"), str(desk.root / ".git/copy"))):
        if n:
            shutil.copy2(index, where)
        else:
            desk.repo.git("read-tree", "HEAD", GIT_INDEX_FILE=where)
        desk.repo.raw(*feed, stdin=told, GIT_INDEX_FILE=where)
    tree = desk.repo.git("write-tree", GIT_INDEX_FILE=str(desk.root / ".git/of-head"))
    lines = desk.repo.git("ls-files", "-s", "-v", "-z", GIT_INDEX_FILE=where).split("\0")[:-1]
    return tree, {line.split("\t", 1)[1]: line.split("\t", 1)[0] for line in lines}


def raw_paths(taken: list[Any]) -> list[str]:
    both = ([file.old_path] if file.status == "renamed" else [] for file in taken)
    olds = [path for some in both for path in some]
    return [*olds, *(file.path for file in taken)]


@settings(max_examples=ring(fast=12, slow=400), deadline=None, suppress_health_check=SLOW)
@given(tree=first, acts=steps, draw=st.data())
def test_a_commit_of_some_files_is_what_plain_git_makes(
    desk: Desk, tree: list[Any], acts: list[Any], draw: Any
):
    begun(desk, tree, acts)
    found = looks.look(**PLACE)
    if not found.files:
        return
    taken = draw.draw(st.lists(st.sampled_from(found.files), min_size=1, unique=True))
    before = whole(desk)
    made, index = expected(desk, raw_paths(taken))

    desk.commit(*(shown_path(file.path) for file in taken))

    after = whole(desk)
    assert desk.repo.git("rev-parse", "HEAD^{tree}", "HEAD^") == f"{made}\n{before['head']}"
    assert after["index"] == index
    assert {**after, "head": "", "index": ""} == {**before, "head": "", "index": ""}
    assert desk.locks == []
    gone = {file.path for file in taken}
    assert not gone & {file.path for file in looks.look(**PLACE).files}


@settings(max_examples=ring(fast=8, slow=200), deadline=None, suppress_health_check=SLOW)
@given(tree=first, acts=steps, draw=st.data())
def test_a_discard_is_as_head_has_it_and_its_undo_as_it_was(
    desk: Desk, tree: list[Any], acts: list[Any], draw: Any
):
    begun(desk, tree, acts)
    found = looks.look(**PLACE)
    if not found.files:
        return
    file = draw.draw(st.sampled_from(found.files))
    before = whole(desk)

    try:
        done = desk.discard(shown_path(file.path))
    except Conflict as error:
        refused = error.code
    else:
        refused = ""
    if refused:
        assert refused in {"in_the_way", "changed"}  # a folder, or a link, in its place
        assert whole(desk) == before
        return

    displaced.settle()
    after = whole(desk)
    own = set(raw_paths([file]))
    for part in ("index", "files"):
        changed = {key for key, _ in before[part].items() ^ after[part].items()}
        assert changed <= own
    assert {**after, "index": "", "files": ""} == {**before, "index": "", "files": ""}
    assert not own & set(desk.paths())
    desk.undo(done["id"])
    displaced.settle()
    assert whole(desk) == before
    assert desk.locks == []


@pytest.mark.parametrize("act", few(["commit", "discard", "undo"], 2))
def test_killed_at_any_point_it_is_as_before_or_as_after(desk: Desk, act: str):
    """At calls all over its way, and behind the start of its last process."""
    seen = set()
    calls = 0
    points = ring(fast=6, slow=100)
    for point in range(points + 2):
        begun(desk, [("write", "a", b"one\n"), ("write", "b", b"one\n")], [])
        for path in ("a", "b", "c"):
            (desk.root / path).write_text("mine\n")
        desk.repo.git("add", "a", "b")
        done = desk.discard("a")["id"] if act == "undo" else ""
        acts = {
            "commit": lambda: desk.commit("a", "c"),
            "discard": lambda: desk.discard("a"),
            "undo": lambda: desk.undo(done),  # noqa: B023 - done within this turn of the loop
        }
        before = whole(desk)
        at = calls * point // points if 0 < point < points else 0
        told = killed(acts[act], at=at, handed=point == points, sent=point == points + 1)
        calls = calls or told
        assert desk.locks == []
        if whole(desk) == before:
            seen.add("before")
        else:
            seen.add("after")
            _is_after(desk, act, before["head"])
    assert seen == {"before", "after"}


def _is_after(desk: Desk, act: str, head: str) -> None:
    text = (desk.root / "a").read_text()
    if act == "commit":
        assert (desk.repo.sha("HEAD^"), desk.status()) == (head, ["M  b"])
    elif act == "discard":
        assert (desk.repo.sha(), text, desk.status()) == (head, "one\n", ["M  b", "?? c"])
    else:
        assert (desk.repo.sha(), text) == (head, "mine\n")
        assert desk.status() == ["M  a", "M  b", "?? c"]


def killed(act: Any, *, at: int, handed: bool, sent: bool) -> int:
    """Do it in a process that is killed with -9 at its n-th call, or when the handover was started
    or `sent` its job; how many calls it made. What it leaves running has ended then."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        counted = 0

        def count(frame: FrameType, event: str, _arg: object) -> None:
            nonlocal counted
            counted += event in ("call", "c_call")
            if at and counted >= at:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            _watched(theirs, handed=handed, sent=sent)
            sys.setprofile(count)
            act()
        finally:
            sys.setprofile(None)
            os.write(theirs, b"%d" % counted)
            os._exit(0)
    os.close(theirs)
    told = b""
    while piece := os.read(ours, 100):  # until the last that holds it has ended
        told += piece
    os.close(ours)
    os.waitpid(child, 0)
    return int(told or 0)


def _watched(pipe: int, *, handed: bool, sent: bool) -> None:
    """The handover holds the pipe as long as it runs."""

    def popen(*args: Any, **more: Any) -> Any:
        made: Any = subprocess.Popen(*args, **more, pass_fds=(pipe,))
        if handed:
            os.kill(os.getpid(), signal.SIGKILL)

        def communicate(data: bytes) -> None:
            made.stdin.write(data)
            made.stdin.close()
            os.kill(os.getpid(), signal.SIGKILL)

        if sent:
            made.communicate = communicate
        return made

    vars(handover)["subprocess"] = SimpleNamespace(Popen=popen, PIPE=subprocess.PIPE)
