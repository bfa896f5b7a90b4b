"""A repository with a stack of two commits on main, and one thread on the lower one."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from review.stacks import changes
from review.threads.records import Thread
from tests.review.places import put
from tests.review.repos import Repo
from tests.review.stacks.world import Payments

FIRST = "def total(items):\n    return sum(items)\n"


@dataclass
class Desk:
    """`low` adds a.py, `high` adds b.py; `thread` is on line 2 of a.py."""

    pay: Payments
    low: str
    high: str
    thread: str

    @property
    def repo(self) -> Repo:
        return self.pay.repo

    def shown(self) -> Thread:
        """The thread as its commit shows it now."""
        from review.stacks import conversations

        (found,) = [
            one for one in conversations.conversations("pay")["threads"] if one["id"] == self.thread
        ]
        return found

    def rewrite(self, text: str) -> None:
        """Change a.py in the lower commit, and put the upper one on it again."""
        self.repo.git("checkout", "-q", self.low)
        self.low = self.repo.amend({"a.py": text})
        self.repo.git("cherry-pick", self.high)
        self.high = self.repo.sha()
        self.repo.git("checkout", "-q", "-B", "work")


@pytest.fixture
def desk(pay: Payments) -> Desk:
    pay.repo.commit({"README": "x\n"}, "Begin")
    pay.repo.git("checkout", "-q", "-b", "work")
    low = pay.repo.commit({"a.py": FIRST}, "Add the total")
    high = pay.repo.commit({"b.py": "print(1)\n"}, "Print")
    thread = changes.start_thread(
        "pay", "api", low, me="kim", body="Sum in cents, please.", path="a.py", side="RIGHT", line=2
    )
    return Desk(pay, low, high, thread["id"])


@pytest.fixture
def stranger(desk: Desk, home: Path, tmp_path: Path) -> Path:
    """The project `other` with a repository of its own and a thread `t-other`."""
    repo = Repo(tmp_path / "other")
    sha = repo.commit({"c.py": "1\n"}, "Other")
    text = f"title: Other\nrepos: [{{name: web, path: {repo.path}}}]\n"
    put(home / "other/project.yaml", text.encode())
    said = "threads: [{id: t-other, comments: [{author: ann, body: Secret}]}]\n"
    put(home / f"other/reviews/web/{sha}.yaml", said.encode())
    return repo.path


def worktree(repo: Repo, path: Path) -> Path:
    """A further worktree of the repository."""
    subprocess.run(
        ["git", "worktree", "add", "-q", "--detach", str(path)],
        cwd=repo.path, check=True, capture_output=True,
    )  # fmt: skip
    return path
