"""Commits as values: one commit as git reports it against its first parent."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

SUBMODULE = "160000"  # its mode
BYTE = re.compile("[\udc80-\udcff]")  # a byte of a name that is not UTF-8
FileStatus = Literal["added", "modified", "deleted", "renamed", "copied", "mode", "type"]


def shown_path(path: str) -> str:
    """The path as answers and files write it, with a byte that is not UTF-8 as `\\xE9`, so that
    different names stay different."""
    return BYTE.sub(lambda found: f"\\x{ord(found[0]) & 0xFF:02X}", path)


class Changed(NamedTuple):
    """One file that a commit changes. Paths are text with surrogateescape; see `shown_path`.

    `additions` and `deletions` are None for binary files and submodules. Oids and modes are None
    on the side where the file is absent.
    """

    path: str
    old_path: str | None  # renames and copies only
    status: FileStatus
    additions: int | None
    deletions: int | None
    old_oid: str | None
    new_oid: str | None
    old_mode: str | None
    new_mode: str | None

    @property
    def is_submodule(self) -> bool:
        """Whether the path is a submodule on either side."""
        return SUBMODULE in (self.old_mode, self.new_mode)

    @property
    def blobs(self) -> list[str]:
        """Blob ids of its contents, the old one first; a submodule has no blob."""
        sides = ((self.old_oid, self.old_mode), (self.new_oid, self.new_mode))
        return [oid for oid, mode in sides if oid and mode != SUBMODULE]


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit, diffed against `parent` (its first one; None for a root commit).

    Times are RFC 3339 in UTC with `Z`. `body` is the message without the subject line. `counted` is
    false where line counts were not requested or objects are missing: then the counts of all files
    are None, or `files` is empty. A commit at the `edge` of a shallow clone has no parents here,
    and only seems to add every file.
    """

    sha: str
    parents: tuple[str, ...]
    subject: str
    body: str
    author_name: str
    author_email: str
    authored: str
    committed: str
    change_id: str | None
    files: tuple[Changed, ...] = ()
    counted: bool = True
    edge: bool = False

    @property
    def parent(self) -> str | None:
        return self.parents[0] if self.parents else None

    @property
    def additions(self) -> int:
        return sum(file.additions or 0 for file in self.files)

    @property
    def deletions(self) -> int:
        return sum(file.deletions or 0 for file in self.files)
