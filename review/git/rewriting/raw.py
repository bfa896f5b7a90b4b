"""Commit objects as bytes: whatever is not to change stays, including unknown headers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from config.git.command import GitError
from review.git import catfile
from review.git.repository import Repository

UNSIGNED = (b"gpgsig", b"gpgsig-sha256", b"mergetag")  # they sign or vouch for the old object


@dataclass(frozen=True, slots=True)
class Raw:
    """`headers` are in order, without tree and parents; a multi-line header is one item."""

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
        """The same commit's object with another tree, parent and committer, unsigned."""
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
    """Read these commits. GitError if one is missing."""
    found = []
    for sha, told in catfile.contents(repository, shas):
        if told is None or told[0] != "commit":
            raise GitError("failed", f"Commit {sha} is missing from the repository")
        found.append(parse(sha, told[1]))
    return found


def parse(sha: str, data: bytes) -> Raw:
    """Parse the data of a commit object."""
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
    """Write a commit object and return its sha."""
    told = repository.run("hash-object", "-t", "commit", "-w", "--stdin", stdin=data)
    return told.decode().strip()
