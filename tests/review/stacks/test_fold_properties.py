"""A fold loses nothing: on random stacks, and killed at any step."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from config.errors import Conflict
from config.git import command
from review import caches
from review.git import staying
from review.stacks.folding import fold as folding
from tests.promises.rings import ring, seeded
from tests.review.repos import Repo
from tests.review.stacks.world import Payments

LINES = 40
FILES = ("a", "b")


class Stack:
    """A branch of random commits and fixups over two files, and what must not change of it."""

    def __init__(self, pay: Payments, rng: random.Random) -> None:
        self.pay, self.repo, self.rng = pay, pay.repo, rng
        self.texts = {name: [f"{name}{n}" for n in range(LINES)] for name in FILES}
        self.repo.commit(self._files(), "Base")
        self.repo.branch("topic")
        self.subjects: list[str] = []
        for number in range(rng.randint(2, 7)):
            self._commit(number)

    def _files(self) -> dict[str, str]:
        return {name: "\n".join(lines) + "\n" for name, lines in self.texts.items()}

    def _commit(self, number: int) -> None:
        rng = self.rng
        fixup = bool(self.subjects) and rng.random() < 0.5
        lines = self.texts[rng.choice(FILES)]
        at = rng.randrange(len(lines))
        match rng.random():
            case chance if chance < 0.6:
                lines[at] = f"changed by {number}"
            case chance if chance < 0.8:
                lines.insert(at, f"added by {number}")
            case _:
                del lines[at]
        if fixup:
            act = rng.choice(("fixup!", "squash!", "amend!", "fixup! fixup!"))
            subject = f"{act} {rng.choice(self.subjects)}"
        else:
            subject = rng.choice((f"Commit {number}", "Commit"))
            self.subjects.append(subject)
        self.repo.commit(self._files(), subject, body=rng.choice(("", "Words.")))
        if rng.random() < 0.2:
            self.repo.git("branch", f"lower{number}")

    def disturb(self) -> None:
        """Work in the tree, in the index and in the stash."""
        if self.rng.random() < 0.5:
            self.repo.write({"a": "stashed\n"})
            self.repo.git("stash")
        if self.rng.random() < 0.7:
            self.repo.write({"b": "at work\n", "new": "new\n"})
        if self.rng.random() < 0.5:
            self.repo.git("add", "-A")

    def fixups(self) -> bool:
        return bool(self.pay.shown()["stacks"][0].get("fixups"))

    def untouched(self) -> dict[str, Any]:
        """Work tree, index, HEAD and stash, byte for byte."""
        git = self.repo.path / ".git"
        work = [path for path in self.repo.path.iterdir() if path.is_file()]
        stash = git / "logs/refs/stash"
        return {
            "files": {path.name: path.read_bytes() for path in work},
            "index": (git / "index").read_bytes(),
            "HEAD": (git / "HEAD").read_bytes(),
            "stash": stash.read_bytes() if stash.exists() else b"",
        }

    def branches(self) -> dict[str, str]:
        told = self.repo.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads")
        return dict(line.split(" ") for line in told.split("\n"))

    def reached(self) -> set[str]:
        """Every object that a ref leads to."""
        return {
            line.split(" ")[0]
            for line in self.repo.git("rev-list", "--objects", "--all").split("\n")
        }


@pytest.fixture
def rng() -> random.Random:
    return seeded()


def test_folding_random_stacks_loses_nothing(pay: Payments, rng: random.Random, tmp_path: Path):
    done = {"folded": 0, "refused": 0}
    for number in range(ring(fast=12, slow=2000)):
        stack = renewed(pay, rng, tmp_path / str(number))
        if not stack.fixups():
            continue
        tree = stack.repo.git("rev-parse", "topic^{tree}")
        stack.disturb()
        before, refs, objects = stack.untouched(), stack.branches(), stack.reached()
        told, why = folded()
        if told is None:
            assert why == "fold_conflict"
            assert (stack.untouched(), stack.branches()) == (before, refs)
            done["refused"] += 1
            continue
        assert stack.untouched() == before
        assert stack.repo.git("rev-parse", "topic^{tree}") == tree
        assert objects <= stack.reached(), "what was reachable is"
        assert not stack.fixups()
        folding.undo("pay", "api", told["id"])
        assert (stack.untouched(), stack.branches()) == (before, refs)
        done["folded"] += 1
    assert done["folded"], done


def folded() -> tuple[folding.Folded | None, str]:
    """What the fold told, or the word of its refusal."""
    try:
        return folding.fold("pay", "api", 1), ""
    except Conflict as error:
        return None, error.code


def renewed(pay: Payments, rng: random.Random, folder: Path) -> Stack:
    caches.clear()
    made = Payments(pay.root, Repo(folder / "api"))
    return Stack(made, rng)


def test_a_fold_that_is_killed_at_any_step_leaves_a_repository_that_can_be_folded(
    pay: Payments, tmp_path: Path
):
    pay.repo.commit({"a": "1\n2\n3\n4\n5\n", "b": "b\n"}, "Base")
    pay.repo.branch("topic")
    pay.repo.commit({"a": "one\n2\n3\n4\n5\n"}, "First")
    pay.repo.git("branch", "lower")
    pay.repo.commit({"b": "bee\n"}, "Second")
    pay.repo.commit({"a": "ONE\n2\n3\n4\n5\n"}, "fixup! First")
    tips = {pay.repo.sha("topic"), pay.repo.sha("lower")}
    ended = False
    for step in range(1, 40):
        (pay.repo.path / "b").write_text(f"at work {step}\n")
        index = (pay.repo.path / ".git/index").read_bytes()

        ended = _killed(step)

        assert (pay.repo.path / ".git/index").read_bytes() == index
        assert pay.repo.git("status", "--short") == " M b"
        assert pay.repo.git("fsck", "--no-dangling") == ""
        assert not list((pay.repo.path / ".git").rglob("*.lock"))
        assert tips <= set(pay.repo.git("rev-list", "--all", "--reflog").split("\n"))
        if ended:
            break
    assert ended, "the fold that was not killed"
    told = pay.repo.git("log", "--reverse", "--format=%s", "main..topic").split("\n")
    assert told == ["First", "Second"]
    assert pay.repo.sha("lower") == pay.repo.sha("topic~1")


def _killed(step: int) -> bool:
    """Fold in a process that is killed before its n-th git command; whether it came to its end."""
    staying.close()  # a child would read what its parent asked for
    pid = os.fork()
    if pid == 0:
        left = step
        whole = command.run

        def run(*args: Any, **given: Any) -> bytes:
            nonlocal left
            left -= 1
            if not left:
                os.kill(os.getpid(), 9)
            return whole(*args, **given)

        command.run = run
        try:
            folding.fold("pay", "api", 1)
        except Conflict as error:  # the one before was killed behind its last step
            os._exit(0 if error.code == "nothing_to_fold" else 1)
        except BaseException:
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert status in (0, -9), status
    caches.clear()
    return status == 0
