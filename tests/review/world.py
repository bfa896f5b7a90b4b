"""One project `pay` with one real repository `api`, and its review files, for tests by noun."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from review import files
from review.git import repository
from review.git.log import history
from review.threads.carry.traces import Match, Trace
from review.threads.target import Target
from tests.review.places import put
from tests.review.repos import Repo


@dataclass
class World:
    home: Path
    repo: Repo

    def target(self, sha: str, match: Match | None = None, landed: str | None = None) -> Target:
        """One commit as reviews see it."""
        opened = repository.open_repository(self.repo.path)
        commit = history.commit(opened, sha)
        shown = history.commit(opened, landed) if landed else commit
        trace = Trace(sha, commit.subject, commit.author_email, commit.authored)
        return Target("pay", "api", opened, commit, shown, match, trace)

    def file(self, sha: str, kind: str = "reviews") -> Path:
        return self.home / "pay" / kind / "api" / f"{sha}.yaml"

    def put(self, sha: str, text: str, kind: str = "reviews") -> Path:
        return put(self.file(sha, kind), text.encode())

    def text(self, sha: str, kind: str = "reviews") -> str:
        return self.file(sha, kind).read_bytes().decode()

    def version(self, sha: str, kind: str = "reviews") -> tuple[int, int, bytes]:
        """Changes with every write, also of the same bytes."""
        path = self.file(sha, kind)
        return path.stat().st_ino, path.stat().st_mtime_ns, path.read_bytes()

    def backups(self, sha: str, kind: str = "reviews") -> list[str]:
        """The texts put aside for a file, oldest first."""
        folder = files.state_dir() / "backups" / "pay" / kind / "api" / f"{sha}.yaml"
        return [path.read_bytes().decode() for path in sorted(folder.glob("*"))]

    def tree(self) -> dict[Path, bytes]:
        """Every byte below the projects directory."""
        return {path: path.read_bytes() for path in self.home.rglob("*") if path.is_file()}
