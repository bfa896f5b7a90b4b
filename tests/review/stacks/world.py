"""A projects directory with hand-written files and real repositories, for tests of stacks."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml

from review import projects
from review.stacks import details, values
from review.stacks import repo as repos
from tests.review.repos import Repo


class Payments:
    """The project `pay` with one repo `api`, written by hand as a user would."""

    def __init__(self, root: Path, repo: Repo) -> None:
        self.root = root
        self.repo = repo
        self._mined: dict[str, bytes] = {}
        self.describe()

    def describe(self, **keys: Any) -> None:
        """Write project.yaml; `stacks`, `range` and `trunk` go to the one repo."""
        entry = {"name": "api", "path": str(self.repo.path)}
        entry |= {key: keys.pop(key) for key in ("range", "trunk", "stacks") if key in keys}
        self.put("project.yaml", {"title": "Payments", "repos": [entry], **keys})

    def put(self, name: str, value: Mapping[str, Any] | str) -> Path:
        """Write a file below the project, as YAML unless it is text already."""
        path = self.root / "pay" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = value if isinstance(value, str) else yaml.safe_dump(dict(value), sort_keys=False)
        path.write_text(text)
        return path

    def review(self, sha: str, *bodies: str, **keys: Any) -> Path:
        """A review file with one general thread for each body, the least a hand would write."""
        threads = [
            {"id": f"t-{sha[:4]}-{n}", "comments": [{"author": "ann", "body": body}]}
            for n, body in enumerate(bodies)
        ]
        return self.put(f"reviews/api/{sha}.yaml", {"threads": threads, **keys})

    def pr(self, sha: str, **keys: Any) -> Path:
        return self.put(f"prs/api/{sha}.yaml", keys)

    def mine(self, wanted: Callable[[str, list[str]], bool]) -> list[str]:
        """Children of main, made until `wanted` says of a sha and those before that it is enough.

        Hashed here and not stored: a process each would take minutes.
        """
        tree, parent = self.repo.git("rev-parse", "main^{tree}", "main").split()
        found: list[str] = []
        for number in range(100_000):
            body = (
                f"tree {tree}\nparent {parent}\nauthor A <a@b> 1767600000 +0000\n"
                f"committer A <a@b> 1767600000 +0000\n\nn{number}\n"
            ).encode()
            sha = hashlib.sha1(b"commit %d\0" % len(body) + body).hexdigest()
            self._mined[sha] = body
            enough = wanted(sha, found)
            found.append(sha)
            if enough:
                return found
        raise AssertionError("no such sha")

    def store(self, sha: str) -> None:
        """Store a commit that was mined."""
        made = self.repo.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=self._mined[sha])
        assert made == sha

    def age(self) -> None:
        """Make all files a minute old: a stat tells the next change of such a file for sure."""
        for folder in (self.root, self.repo.path / ".git"):
            for path in folder.rglob("*"):
                if path.is_file():
                    os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 60))

    def load(self, *, counts: bool = True) -> values.Repo:
        project = projects.get("pay")
        return repos.load(project, projects.repo(project, "api"), counts=counts)

    def shown(self) -> dict[str, Any]:
        """The one repo of the project detail, as JSON."""
        found: dict[str, Any] = self.project()["repos"][0]
        return found

    def project(self) -> dict[str, Any]:
        made: dict[str, Any] = json.loads(json.dumps(details.project("pay")))
        return made

    def commits(self) -> dict[str, dict[str, Any]]:
        """The commits of the project detail by subject."""
        return {one["subject"]: one for one in self.shown()["commits"]}

    def stacks(self) -> list[list[str]]:
        """The subjects of each stack, bottom to top."""
        shown = self.shown()
        subjects = {one["sha"]: one["subject"] for one in shown["commits"]}
        return [[subjects[sha] for sha in stack["commits"]] for stack in shown["stacks"]]
