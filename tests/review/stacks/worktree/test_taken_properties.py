"""Whatever is edited, committed, amended, taken back and killed: a thread on what is not committed
is shown once, and on no line that says something else."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from config.errors import SvcError
from review.git import objects
from review.stacks import conversations
from review.stacks.worktree import reviewed, taking_over
from review.threads.schema import normal_side
from review.threads.writing import writes
from tests.promises.rings import ring
from tests.review.stacks.worktree import said as saying
from tests.review.stacks.worktree.desk import PLACE
from tests.review.stacks.worktree.said import Said

pytestmark = [pytest.mark.django_db, pytest.mark.process]

PATHS = ("a.py", "b.py", "new.py")
path, line = st.sampled_from(PATHS), st.integers(1, 30)
word = st.sampled_from(("x", "}", "", "line 4 of the file"))
step = st.one_of(
    st.tuples(st.just("change"), path, line, word),
    st.tuples(st.just("insert"), path, line, word),
    st.tuples(st.just("remove"), path, line, word),
    st.tuples(st.just("say"), path, line, st.sampled_from(("LEFT", "RIGHT"))),
    st.tuples(st.just("say"), path, line, st.just("RIGHT")),
    st.tuples(st.just("page"), path, line, word),
    st.tuples(st.just("stage"), path, line, word),
    st.tuples(st.sampled_from(("commit", "amend", "all", "discard", "undo")), path, line, word),
    st.tuples(
        st.sampled_from(("killed", "look", "rename", "delete")), path, st.integers(0, 3), word
    ),
)


class Killed(BaseException):
    """The process ends here."""


@settings(
    max_examples=ring(fast=12, slow=400),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(steps=st.lists(step, min_size=4, max_size=14))
def test_no_thread_is_lost_shown_twice_or_on_a_line_that_says_something_else(
    home: Path, tmp_path: Path, steps: list[tuple[str, str, int, str]]
):
    for folder in (home, tmp_path / "api"):
        shutil.rmtree(folder, ignore_errors=True)
    said = saying.made(home, tmp_path / "api")
    known: list[str] = []
    for act in [*steps, ("all", "a.py", 1, "x")]:
        _do(said, known, *act)
        _check(said, known)


def _do(said: Said, known: list[str], act: str, path: str, n: int, what: str) -> None:
    repo, place = said.repo, said.repo.path / path
    lines = place.read_text().splitlines() if place.is_file() else []
    try:
        match act:
            case "change" | "insert" | "remove":
                cut = {"change": lines[n:], "insert": lines[n - 1 :], "remove": lines[n:]}[act]
                put = [] if act == "remove" else [what]
                repo.write({path: "".join(f"{one}\n" for one in [*lines[: n - 1], *put, *cut])})
            case "say":
                known.append(said.thread(path, n, what))
            case "page":
                said.commit(path)
            case "stage":
                repo.git("add", path)
            case "commit":
                repo.git("commit", "-q", "-m", "By hand")
            case "amend":
                repo.git("commit", "-q", "--amend", "--no-edit")
            case "all":
                repo.git("commit", "-q", "-a", "--allow-empty", "-m", "All by hand")
            case "discard":
                repo.git("checkout", "-q", "HEAD", "--", path)
            case "undo":
                repo.git("reset", "-q", "--soft", "HEAD^")
            case "rename":
                repo.git("mv", "-f", path, "c.py")
            case "delete":
                place.unlink()
            case "killed":
                _killed(said, n)
    except (SvcError, OSError, AssertionError):
        return  # nothing to do it with


def _killed(said: Said, after: int) -> None:
    """A commit by hand, and an end of the process after so many writes of what it takes over."""
    said.repo.git("commit", "-q", "-a", "-m", "Killed")
    left, write = [None] * after, writes.write

    def until(*given: Any, **more: Any) -> bool:
        if not left:
            raise Killed
        left.pop()
        return write(*given, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writes, "write", until)
        try:
            taking_over.settle("pay", "api")
        except Killed:
            return


def _check(said: Said, known: list[str]) -> None:
    found = conversations.conversations("pay")
    gone = [one["id"] for orphan in found["orphaned"] for one in orphan["threads"]]
    shown = [one["id"] for one in found["threads"]]
    assert Counter([*shown, *gone]) == Counter(known), "once"
    for thread in found["threads"]:
        if thread["outdated"] or thread["line"] is None:
            continue
        target = reviewed.at(**PLACE, sha=thread["sha"])
        old = normal_side(thread["side"]) == "LEFT"
        shown_commit = target.shown_commit
        sha = shown_commit.parent if old else shown_commit.sha
        names = {one.path: one.old_path or one.path for one in shown_commit.files}
        inside = names.get(thread["path"] or "", thread["path"]) if old else thread["path"]
        entry = objects.entry(target.repository, sha or "", inside or "")
        assert entry is not None
        data = objects.blob(target.repository, entry.oid)
        assert data is not None
        assert data.decode().splitlines()[thread["line"] - 1] == thread["anchor_text"], thread
