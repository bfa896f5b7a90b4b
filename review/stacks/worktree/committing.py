"""Commit chosen files of the work tree, prepared in index files of our own.

HEAD's branch and the index change together or not at all, the index for exactly these paths. No
hook, filter or signature is used: docs/design/review.md#committing-and-discarding.
"""

from __future__ import annotations

import os
import re
from typing import Any, TypedDict

from config.errors import Conflict, Invalid
from config.git import command
from config.git.command import GitError
from config.git.entries import Entry
from config.git.index import Index, user_index
from config.git.shadow import Shadow
from review import events
from review.git.commits import Changed, shown_path
from review.stacks.worktree import looks, repositories, taking_over
from review.stacks.worktree.looks import Look

LONGEST = 65_536  # characters of a message
IDENTITY = ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT")
WHO = ("-c", "user.useConfigOnly=true", "-c", "i18n.commitEncoding=UTF-8")


class Committed(TypedDict):
    """`branch` is null while HEAD is detached."""

    sha: str
    branch: str | None
    subject: str
    files: list[str]


def commit(
    project: str, repo: str, *, files: Any = None, message: Any = None, look: Any = None
) -> Committed:
    """Commit these files as they are now; None means all that differ from HEAD. With `look`, only
    if they have not changed since that look.

    Invalid for a bad message or file. Conflict with a code: blocked, moved, changed, nothing,
    unmerged, filtered, locked, no_identity, not_writable.
    """
    text = clean_message(message)
    with repositories.held(project, repo) as mine:
        found = looks.look(project, repo)
        if found.blocked:
            raise Conflict(found.blocked, code="blocked")
        taken = repositories.choose_files(found, files)
        looks.refuse_changed(found.repository, found.commit, look, taken)
        _refuse_strangers(mine)
        repositories.refuse_filtered(mine, repositories.touched_paths(taken))
        making = _Making(mine, found, taken, text)
        repositories.handed_over(mine, making.prepare)
    taking_over.settle(project, repo)
    looks.forget(project, repo)
    events.project(project, "worktree")
    return {
        "sha": making.sha,
        "branch": found.branch,
        "subject": text.partition("\n")[0],
        "files": [shown_path(file.path) for file in taken],
    }


def clean_message(message: Any) -> str:
    """The message as git would keep it: no blanks at line ends, no two empty lines in a row."""
    if not isinstance(message, str) or not message.strip():
        raise Invalid('"message" is required: say in a line what the commit does')
    if len(message) > LONGEST or "\0" in message:
        raise Invalid(f'"message" must be text of at most {LONGEST} characters')
    lines = [line.rstrip() for line in re.split(r"\r\n?|\n", message)]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n") + "\n"


class _Making:
    """What is prepared for one commit; prepared again if the index changed meanwhile."""

    def __init__(self, mine: Shadow, found: Look, taken: list[Changed], text: str) -> None:
        self.mine, self.found, self.text = mine, found, text
        self.paths = repositories.touched_paths(taken)
        self.wanted = _entries(taken)
        self.sha = ""

    def prepare(self) -> dict[str, Any]:
        copy = Index(self.found.view, "copy")
        was = copy.copy()
        held, torn = copy.entries(set(self.paths))
        repositories.refuse_torn(torn)
        copy.feed(set(self.paths) - repositories.ignored_paths(self.found.view, self.paths, held))
        held, _ = copy.entries(set(self.paths))
        for path, entry in self.wanted.items():
            if held.get(path) != entry:
                text = f"{shown_path(path)} has changed meanwhile; look again"
                raise Conflict(text, code="changed")
        self.sha = self._commit()
        place = str(user_index(self.mine))
        index = {"path": place, "new": str(copy.path), "was": was}
        return {"index": index, "files": [], "ref": self._move()}

    def _commit(self) -> str:
        head = self.found.pointers.head
        tree = Index(self.found.view, "tree")
        tree.read(head)
        tree.set(self.wanted)
        made = tree.tree()
        above = ["-p", head] if head else []
        asked = (*WHO, "commit-tree", made, *above, "-F", "-")
        zone = {"TZ": os.environ["TZ"]} if "TZ" in os.environ else {}
        told = self.mine.theirs(*asked, stdin=self.text.encode(), more=zone)
        return told.decode().strip()

    def _move(self) -> dict[str, Any]:
        """The command that moves HEAD, and the branch that it names, from where they were seen."""
        head = self.found.pointers.head
        kind = "commit" if head else "commit (initial)"
        subject = self.text.partition("\n")[0]
        none = "0" * len(self.sha)
        asked = ("update-ref", "-m", f"{kind}: {subject}", "HEAD", self.sha, head or none)
        env = command.environment(self.mine.root) | self.mine.environ
        return {"argv": [*command.ARGV, *WHO, *asked], "env": env}


def _entries(taken: list[Changed]) -> dict[str, Entry | None]:
    """The new index entry of each path, None for a path that is removed."""
    wanted: dict[str, Entry | None] = {}
    for file in taken:
        if file.status == "renamed" and file.old_path:
            wanted[file.old_path] = None
    for file in taken:
        gone = file.status == "deleted"
        wanted[file.path] = None if gone else Entry(file.new_mode or "", file.new_oid or "")
    return wanted


def _refuse_strangers(mine: Shadow) -> None:
    """Conflict if git does not know who commits: it would make up a name."""
    try:
        for name in IDENTITY:
            mine.theirs(*WHO, "var", name)
    except GitError as error:
        if error.kind != "failed":
            raise
        raise Conflict(
            "git does not know who you are: set user.name and user.email, for example with "
            'git config --global user.name "Ada Lovelace"',
            code="no_identity",
        ) from None
