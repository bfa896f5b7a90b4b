"""Where the turns of a chat work: its own worktree, else the directory of its project.

The worktree is `<data>/worktrees/<chat>`. Everything that acts for a chat asks here. See
docs/design/workspace.md#a-worktree-for-a-chat.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

from django.conf import settings

from config.errors import Conflict
from config.git.command import GitError
from workspace.chats.files import ChatRecord
from workspace.engines.base import Linked
from workspace.projects import store
from workspace.projects.project import Project
from workspace.worktrees import ties

PREFIX = "svc/"
GONE = "The worktree of this chat is not there: make it again from its branch"
ASTRAY = "The worktree of this chat no longer belongs to its repository: make it again"
LINK = "In the worktree of this chat is a link where its directory belongs: take {} away"


@dataclass(frozen=True, slots=True)
class Tree:
    """The worktree in the record of a chat. `repository`: the user's work tree; `below`: the
    project's directory within the worktree; `base`: the branch it began from."""

    chat: str
    branch: str
    repository: Path
    below: str = ""
    base: str = ""

    @property
    def top(self) -> Path:
        return home() / self.chat

    @property
    def dir(self) -> Path:
        return self.top / self.below if self.below else self.top

    def wire(self) -> dict[str, Any]:
        """The mapping in the record; keys without a value are left out."""
        whole = {
            "branch": self.branch,
            "base": self.base,
            "repository": str(self.repository),
            "below": self.below,
        }
        return {key: value for key, value in whole.items() if value}


def home() -> Path:
    return Path(os.path.realpath(settings.DATA_DIR)) / "worktrees"


def of(record: ChatRecord) -> Tree | None:
    """The worktree that the record names, whether it exists or not; None if it names none."""
    return of_file(record.id, {"worktree": record.worktree})


def of_file(chat: str, record: Mapping[str, Any]) -> Tree | None:
    """The same as `of`, for a record as its file holds it."""
    told = record.get("worktree")
    if not isinstance(told, Mapping):
        return None
    branch, repository, below = (
        str(told.get(key) or "") for key in ("branch", "repository", "below")
    )
    if not branch.startswith(PREFIX) or not repository.startswith("/"):
        return None
    inside = not below.startswith("/") and ".." not in below.split("/")
    return Tree(
        chat, branch, Path(repository), below if inside else "", str(told.get("base") or "")
    )


def apart(project: Project, record: ChatRecord) -> bool:
    """Whether the chat's turns work elsewhere than in the project's own directory."""
    return of(record) is not None or project.place.apart


def working_dir(project: Project, record: ChatRecord) -> Path:
    """The directory of a chat's turns, whether it exists or not."""
    tree = of(record)
    return tree.dir if tree else project.working_dir


def workable(project: Project, record: ChatRecord) -> Path:
    """The real directory in which a turn of the chat is about to work. Conflict with the reason if
    it cannot work there now."""
    tree = of(record)
    if tree is None:
        return store.workable(project)
    get_linked(tree)
    _refuse_links(tree)
    if not tree.dir.is_dir():
        raise Conflict(f"This worktree has no {tree.below}: another branch was checked out there")
    return Path(os.path.realpath(tree.dir))


def _refuse_links(tree: Tree) -> None:
    """Conflict if there is a link on the way to the directory: a turn could have put it there to
    get access to another place. See docs/design/trust.md#a-worktree-of-a-chat."""
    below = takewhile(lambda level: level != home(), (tree.dir, *tree.dir.parents))
    for level in below:
        if level.is_symlink():
            raise Conflict(LINK.format(level.relative_to(tree.top)), code="no_worktree")


def get_linked(tree: Tree) -> Linked:
    """Where git keeps the worktree's own files and those shared by all. Conflict if the worktree
    does not exist, or if it and its repository do not name each other."""
    if not os.path.lexists(tree.top / ".git"):
        raise Conflict(GONE, code="no_worktree")
    try:
        found, users = ties.get_linked(tree.top), ties.get_linked(tree.repository)
    except GitError as error:
        raise Conflict(f"{ASTRAY} ({error.text})", code="no_worktree") from None
    if found.own == found.common or found.common != users.common:
        raise Conflict(ASTRAY, code="no_worktree")
    return found
