"""Whatever is in a work tree, a turn and a person did to it, and wherever an undo is killed: the
files of others, the index, HEAD, refs and stash are byte for byte as they were."""

from __future__ import annotations

import os
import shutil
import signal
import stat as modes
import sys
from pathlib import Path
from tempfile import mkdtemp
from types import FrameType
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from config.git import shadow
from config.storage import displaced
from config.storage import files as shared
from tests.promises.rings import ring
from tests.workspace.trees.desk import At, Desk
from workspace.trees import undo

pytestmark = [pytest.mark.django_db, pytest.mark.process]

NAMES = ("a", "b", "d", "d/x", "d/y", "d/e/f", "g/h", "ü", os.fsdecode(b"\xff"), "n\n\t\"", "-x",
         ":(top)", "t.log", "d/u.log", "w*", "b/c")  # fmt: skip
CONTENTS = (b"", b"one\n", b"two\n", b"\xff\0\r\n", b"three\n" * 40)
name, content = st.sampled_from(NAMES), st.sampled_from(CONTENTS)
step = st.one_of(
    st.tuples(st.just("write"), name, content),
    st.tuples(st.just("write"), name, content),
    st.tuples(st.just("remove"), name, st.none()),
    st.tuples(st.just("chmod"), name, st.sampled_from((0o755, 0o644, 0o640))),
    st.tuples(st.just("link"), name, st.sampled_from(("a", "d", "/nowhere", "../x"))),
    st.tuples(st.just("rename"), name, name),
)
steps = st.lists(step, max_size=8)
git_steps = st.lists(st.tuples(st.sampled_from(("add", "force", "commit")), name), max_size=4)
State = dict[str, tuple[int, bytes]]


def does(desk: Desk, acts: list[tuple[str, str, Any]]) -> None:
    """Do what can be done of it."""
    for kind, path, value in acts:
        target = desk.root / path
        try:
            if kind == "write":
                if target.is_dir() and not target.is_symlink():
                    shutil.rmtree(target)
                desk.put(path, value)
            elif kind == "remove":
                desk.remove(path)
            elif kind == "chmod" and not target.is_symlink():
                target.chmod(value)
            elif kind == "link":
                desk.remove(path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.symlink_to(value)
            elif kind == "rename":
                target.rename(desk.root / value)
        except OSError:
            continue


def prepared(desk: Desk, acts: list[tuple[str, str]]) -> None:
    for kind, path in acts:
        if kind == "commit":
            desk.repo.git("commit", "-q", "--allow-empty", "-m", "x")
        elif kind == "force" and os.path.lexists(desk.root / path):
            desk.repo.raw("add", "-f", "--", f":(literal){path}")
        elif not path.endswith(".log") and os.path.lexists(desk.root / path):  # those are ignored
            desk.repo.raw("add", "--", f":(literal){path}")


def plain(state: State) -> dict[str, tuple[str, bytes]]:
    """As git sees it."""
    found = {}
    for path, (mode, data) in state.items():
        kind = "link" if modes.S_ISLNK(mode) else "program" if mode & 0o100 else "file"
        found[path] = (kind, data)
    return found


def killed(turn: At, way: undo.Way, after: int) -> None:
    """A child that does it and is killed with -9 at its `after`-th call."""
    record = turn.record
    assert record
    child = os.fork()
    if child == 0:
        left = after

        def count(frame: FrameType, event: str, _arg: object) -> None:
            nonlocal left
            left -= event in ("call", "c_call")
            if left <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            with shared.lock(shadow.lock_of(Path(record.root))):
                turning = undo._Turning(record, way)
                sys.setprofile(count)
                turning.run()
        finally:
            sys.setprofile(None)
            os._exit(0)
    os.waitpid(child, 0)


def whole(now: State, *allowed: State) -> None:
    """Each path holds what one of these states has there; nothing else is there but drafts."""
    seen = plain({path: held for path, held in now.items() if ".svc-tmp-" not in path})
    states = [plain(state) for state in allowed]
    for path in {*seen, *(path for state in states for path in state)}:
        assert seen.get(path) in [state.get(path) for state in states], path


@given(steps, git_steps, steps, steps, steps, st.integers(1, 6000), st.sampled_from((0, 1)))
@settings(
    max_examples=ring(fast=8, slow=3000),
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
def test_nothing_but_the_turns_own_is_changed_wherever_it_is_killed(
    start, staged, later, agent, person, after, by_tools
):
    from django.conf import settings as svc

    folder = Path(mkdtemp())
    kept, svc.DATA_DIR = svc.DATA_DIR, folder / "data"
    try:
        _held(Desk(folder / "work"), start, staged, later, agent, person, after, by_tools)
    finally:
        displaced.settle()
        svc.DATA_DIR = kept
        shutil.rmtree(folder)


def _held(desk, start, staged, later, agent, person, after, by_tools) -> None:
    does(desk, start)
    prepared(desk, staged)
    does(desk, later)
    users, before = desk.users(), desk.state()
    turn = desk.at_work()
    if by_tools:
        turn.writes("a", "by a tool\n")
    turn.runs(lambda root: does(desk, agent)).ends()
    left = desk.state()
    does(desk, person)
    now = desk.state()
    assert desk.users() == users
    if turn.record is None:
        return
    changed = {
        path for path in {*before, *left} if plain(before).get(path) != plain(left).get(path)
    }

    killed(turn, "undo", after)
    whole(desk.state(), before, now)
    done = turn.undo()

    end = desk.state()
    assert desk.users() == users
    assert not [path for path in end if ".svc-tmp-" in path]
    taken = {path for path in changed if plain(end).get(path) != plain(now).get(path)}
    for path in {*now, *end} - taken:
        assert end.get(path) == now.get(path), path
    for path in taken:
        assert plain(end).get(path) == plain(before).get(path), path
        assert plain(now).get(path) == plain(left).get(path), path
    if now == left and not done.kept:
        out = {path for path in changed if path.endswith(".log")}
        assert {path for path in changed - out if path not in taken} == set()

    killed(turn, "redo", after)
    whole(desk.state(), end, now)
    if turn.record.undone is not None:
        turn.redo()
    assert plain(desk.state()) == plain(now)
    assert desk.users() == users
