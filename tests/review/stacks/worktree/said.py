"""A reviewer of what is not committed, on a branch whose commits are under review."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from review.stacks import changes, conversations
from review.stacks.worktree import committing, reviewed
from review.threads import records
from tests.review.places import put
from tests.review.repos import Repo
from tests.review.stacks.worktree.desk import PLACE

ME = "ann"
LINES = [f"line {n} of the file" for n in range(1, 31)]
Lines = dict[str, tuple[str | None, str | None, int | None, str]]


class Said:
    def __init__(self, repo: Repo, home: Path) -> None:
        self.repo, self.home = repo, home

    def thread(
        self, path: str | None = None, line: int | None = None, side: str | None = None
    ) -> str:
        made = changes.start_thread(
            **PLACE, sha="WORKTREE", me=ME, body="Why?", path=path, line=line, side=side
        )
        return made["id"]

    def commit(self, *names: str) -> str:
        return committing.commit(**PLACE, files=list(names) or None, message="Say so")["sha"]

    def review(self, sha: str = "WORKTREE") -> dict[str, Any]:
        return dict(records.review(reviewed.at(**PLACE, sha=sha)))

    def lines(self, sha: str = "WORKTREE") -> Lines:
        return {
            one["id"]: (one["path"], one["side"], one["line"], one["placement"])
            for one in self.review(sha)["threads"]
        }

    def marks(self, sha: str = "WORKTREE") -> tuple[list[str], list[str]]:
        found = self.review(sha)
        return found["viewed"], found["viewed_stale"]

    def everywhere(self) -> dict[str, list[str]]:
        """Where each thread is shown, by all that the project lists."""
        found = defaultdict(list)
        for one in conversations.conversations("pay")["threads"]:
            found[one["id"]].append(one["sha"])
        return dict(found)


def made(home: Path, path: Path) -> Said:
    repo = Repo(path)
    repo.config("user.name", "Ada")
    repo.config("user.email", "ada@example.org")
    repo.commit({"a.py": edited({}), "b.py": "b\n"}, "Base")
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit({"start.py": "start\n"}, "Start")
    text = f"repos: [{{name: api, path: {repo.path}, range: main..HEAD}}]\n"
    put(home / "pay" / "project.yaml", text.encode())
    return Said(repo, home)


def edited(changed: Mapping[int, str]) -> str:
    return "".join(f"{changed.get(n, line)}\n" for n, line in enumerate(LINES, 1))


def ids(found: Mapping[str, Any]) -> list[str]:
    return [one["id"] for one in found["threads"]]
