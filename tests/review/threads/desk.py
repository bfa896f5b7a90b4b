"""A reviewer at a real repository: files, git and the chain from project.yaml to the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from review import projects
from review.stacks import repo as repos
from review.stacks.values import Repo
from review.threads import commenting, records
from tests.review.places import put
from tests.review.world import World

ME = "ann"
LINES = [f"line {n} of the file" for n in range(1, 41)]


class Desk:
    """A reviewer at a project whose repo lists `main..topic`."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.git = world.repo
        self.git.commit({"a.py": text(LINES), "b.py": text(LINES), "c.py": text(LINES)}, "Base")
        self.git.branch("topic")
        put(
            world.home / "pay" / "project.yaml",
            f"repos: [{{name: api, path: {world.repo.path}, range: main..topic}}]\n".encode(),
        )

    def listed(self) -> Repo:
        project = projects.get("pay")
        return repos.load(project, projects.repo(project, "api"))

    def target(self, sha: str):
        listed = self.listed()
        return repos.target(listed, repos.find(listed, sha))

    def review(self, sha: str) -> dict[str, Any]:
        return dict(records.review(self.target(sha)))

    def comment(self, sha: str, body: str, path: str | None = None, line: int | None = None) -> str:
        place = {"path": path, "line": line, "side": "RIGHT"} if path else {}
        return commenting.create(self.target(sha), body=body, author=ME, **place)

    def reply(self, sha: str, tid: str, body: str) -> str:
        return commenting.reply(self.target(sha), tid, body=body, author=ME)

    def moves_on(self, files: Mapping[str, str]) -> list[str]:
        """main gets a commit, topic is rebased onto it."""
        self.git.checkout("main")
        self.git.commit(files, "Mainline moves")
        self.git.checkout("topic")
        return self.git.rebase("main")


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def changed(at: int, to: str, lines: list[str] = LINES) -> str:
    return text([*lines[: at - 1], to, *lines[at:]])


def ids(review: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    return [(one["id"], [c["id"] for c in one["comments"]]) for one in review["threads"]]


def bodies(review: Mapping[str, Any]) -> list[str]:
    return [comment["body"] for one in review["threads"] for comment in one["comments"]]


def source(review: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    return (review["matched_from"], review["matched_by"], review["carried_over"])
