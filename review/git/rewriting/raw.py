"""Commit objects as bytes: what is not asked to change stays, unknown headers too."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from config.git.command import GitError
from review.git import catfile
from review.git.repository import Repository

UNSIGNED = (b"gpgsig", b"gpgsig-sha256", b"mergetag")  # they vouch for the old object


@dataclass(frozen=True, slots=True)
class Raw:
    """`headers` in their order, a folded one in one piece, tree and parents left out."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    headers: tuple[bytes, ...]
    message: bytes

    @property
    def encoding(self) -> str:
        said = (line for line in self.headers if line.startswith(b"encoding "))
        return next(said, b"encoding utf-8").split(b" ", 1)[1].decode("ascii", "replace")

    def with_message(self, message: bytes) -> Raw:
        return Raw(self.sha, self.tree, self.parents, self.headers, message)

    def bytes(self, tree: str, parent: str | None, committer: bytes) -> bytes:
        """The object of the same commit with another tree, parent and committer, unsigned."""
        lines = [b"tree " + tree.encode()]
        if parent:
            lines.append(b"parent " + parent.encode())
        for header in self.headers:
            name = header.split(b" ", 1)[0]
            if name == b"committer":
                lines.append(b"committer " + committer)
            elif name not in UNSIGNED:
                lines.append(header)
        return b"\n".join(lines) + b"\n\n" + self.message


def read(repository: Repository, shas: Iterable[str]) -> list[Raw]:
    """These commits. GitError when one is missing."""
    found = []
    for sha, told in catfile.contents(repository, shas):
        if told is None or told[0] != "commit":
            raise GitError("failed", f"Commit {sha} is missing from the repository")
        found.append(parsed(sha, told[1]))
    return found


def parsed(sha: str, data: bytes) -> Raw:
    """What a commit object holds."""
    head, _, message = data.partition(b"\n\n")
    headers: list[bytes] = []
    for line in head.split(b"\n"):
        if line.startswith(b" ") and headers:
            headers[-1] += b"\n" + line
        else:
            headers.append(line)
    tree, parents, rest = "", [], []
    for header in headers:
        name, _, value = header.partition(b" ")
        if name == b"tree":
            tree = value.decode()
        elif name == b"parent":
            parents.append(value.decode())
        else:
            rest.append(header)
    return Raw(sha, tree, tuple(parents), tuple(rest), message)


def store(repository: Repository, data: bytes) -> str:
    """Write a commit object; its sha."""
    told = repository.run("hash-object", "-t", "commit", "-w", "--stdin", stdin=data)
    return told.decode().strip()
