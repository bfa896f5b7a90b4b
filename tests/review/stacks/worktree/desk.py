"""A work tree, and all of its repository that is nobody's to change."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from review.stacks.worktree import committing, discarding, looks
from tests.review.repos import Repo

PLACE = {"project": "pay", "repo": "api"}


@dataclass
class Desk:
    repo: Repo

    @property
    def root(self) -> Path:
        return self.repo.path

    def commit(self, *files: str, message: str = "Say so", **more: Any) -> committing.Committed:
        return committing.commit(files=list(files) or None, message=message, **more, **PLACE)

    def discard(self, path: str, **more: Any) -> discarding.Discarded:
        return discarding.discard(path=path, **more, **PLACE)

    def undo(self, name: str) -> discarding.Discarded:
        return discarding.undo(name=name, **PLACE)

    def look(self) -> looks.Changes:
        return looks.changes(contents="none", **PLACE)

    def paths(self) -> list[str]:
        return [file["path"] for file in self.look()["files"]]

    def index(self) -> list[str]:
        """Every entry with its flags."""
        told = self.repo.git("ls-files", "-s", "-v", "-z")
        return told.split("\0")[:-1]

    def stats(self) -> dict[str, str]:
        """What the index remembers of each file."""
        told = self.repo.git("ls-files", "-s", "--debug").split("\n")
        heads = [n for n, line in enumerate(told) if not line.startswith("  ")]
        ends = [*heads[1:], len(told)]
        return {
            told[n].split("\t")[1]: "\n".join(told[n:end])
            for n, end in zip(heads, ends, strict=True)
        }

    def status(self) -> list[str]:
        told = self.repo.git("status", "--porcelain", "-z", "--no-renames", "-uall")
        return told.split("\0")[:-1]

    def tree(self, revision: str = "HEAD") -> dict[str, str]:
        told = self.repo.git("ls-tree", "-r", "-z", revision).split("\0")[:-1]
        return {line.split("\t")[1]: line.split("\t")[0] for line in told}

    def files(self) -> dict[str, tuple[int, bytes]]:
        """The work tree: modes, contents, links as links."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            name = str(path.relative_to(self.root))
            if name == ".git" or name.startswith(".git/"):
                continue
            if path.is_symlink():
                found[name] = (0, str(path.readlink()).encode(errors="surrogateescape"))
            elif path.is_file():
                found[name] = (path.stat().st_mode, path.read_bytes())
        return found

    @property
    def locks(self) -> list[Path]:
        return list((self.root / ".git").rglob("*.lock"))
