"""Bring the branch of a chat over to another branch: rebased onto it, or merged with it.

The rebase or merge happens in the chat's own worktree. Then the target is moved forward in one
step; a directory that has it checked out is updated only if no one's changes are in the way. If it
cannot be done, both stay as they were, and the error names the files. See
docs/design/workspace.md#bringing-it-over.
"""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Literal, TypedDict

from config.errors import Conflict, Invalid, Problem
from config.git import owning, shadow
from config.git.command import GitError
from config.storage import files as storage
from config.storage import opening
from workspace.chats.turns import jobs, states
from workspace.models import Turn
from workspace.projects import folders
from workspace.projects.project import Project
from workspace.worktrees import confined, making, place, repository, standing, ties
from workspace.worktrees.place import Tree
from workspace.worktrees.repository import HEADS

log = logging.getLogger(__name__)
How = Literal["rebase", "merge"]
LISTED = 20  # names listed in a sentence


class Brought(TypedDict):
    branch: str
    onto: str
    how: str
    commits: Annotated[int, "that the target did not have"]
    tip: str
    before: Annotated[str, "ref under which the old tip of the branch is kept"]


def bring(
    project: Project,
    session_id: str,
    *,
    onto: str | None = None,
    how: How = "rebase",
    commit: str | None = None,
) -> Brought:
    """Bring the commits of the chat's branch over to `onto`, by default the branch that the
    project's directory has checked out. `commit`: a message; uncommitted changes are first
    committed with it. Conflict with the names if files are in the way; then nothing has changed."""
    tree = making.of_chat(project, session_id)
    place.get_linked(tree)
    try:
        common = repository.find(tree.repository).common
        wanted = _target(tree, onto)
        with storage.lock(shadow.lock_of(tree.top)), storage.lock(making.lock_of(common)):
            _refuse_busy(session_id)
            return _Bringing(tree, wanted, common).bring(how, commit)
    except GitError as error:
        raise Conflict(f"Not brought over: {error.text}", code="not_brought") from None


def _target(tree: Tree, onto: str | None) -> str:
    wanted = (onto or "").strip().removeprefix(HEADS) or standing.target(tree)
    if wanted is None:
        text = "The project's directory is on no branch: say which one it is brought over to"
        raise Invalid([Problem("onto", text, '"main"')])
    if repository.tip(tree.repository, HEADS + wanted) is None:
        raise Invalid([Problem("onto", f"there is no branch {wanted[:200]}", '"main"')])
    if wanted == tree.branch:
        raise Invalid([Problem("onto", "is the branch of the chat itself", '"main"')])
    return wanted


def _refuse_busy(session_id: str) -> None:
    if Turn.objects.filter(chat=session_id, state__in=states.BUSY).exists():
        raise Conflict("A turn is running in this chat; stop it first", code="busy")


class _Bringing:
    """One attempt, under the locks of the worktree and of its repository."""

    def __init__(self, tree: Tree, onto: str, common: Path) -> None:
        self.tree, self.onto, self.common = tree, onto, common
        self.at = self._checked_out()
        self.target = self._tip(onto)
        self.began = self.committed = self._tip(tree.branch)

    def _checked_out(self) -> Path | None:
        """Where the target is checked out, None if nowhere. A turn may have forged this path:
        Conflict unless it is a worktree of the repository that may be written."""
        at = self.tree.repository
        if repository.head_branch(at) == self.onto:
            return at
        found = repository.worktrees(at).get(self.onto)
        if found is None or found == at:
            return None
        known, ours = ties.of(found), found.parent == place.home()
        refused = not ours and folders.Wall.now().refusal(found)
        if known is None or known.common != str(self.common) or refused:
            raise Conflict(f"{self.onto} is checked out at {found}, which is not there now")
        return found

    def bring(self, how: How, commit: str | None) -> Brought:
        tree = self.tree
        self._refuse_unfit(commit)
        before = making.keep(tree, self.began)
        try:
            if commit:
                self._commit(commit)
            self._refuse_losing()
            self._combine(how)
            new = self._tip(tree.branch)
            count = self._read("rev-list", "--count", f"{self.target}..{new}").decode().strip()
            self._move(new)
        except BaseException:
            self._restore()
            raise
        return {
            "branch": tree.branch,
            "onto": self.onto,
            "how": how,
            "commits": int(count),
            "tip": new,
            "before": before,
        }

    def _refuse_unfit(self, commit: str | None) -> None:
        tree = self.tree
        if found := standing.problem(tree, place.get_linked(tree)):
            raise Conflict(found, code="not_brought")
        changed = standing.changed_files(tree.top)
        if changed and not commit:
            text = f"Not committed in the worktree: {_names_text(changed)}; commit it first"
            raise _in_the_way(text, changed)
        if self.onto in _underway(self.common):
            raise Conflict(f"A rebase of {self.onto} is in progress; finish it first", code="busy")

    def _commit(self, message: str) -> None:
        if standing.changed_files(self.tree.top):
            self._act("add", "--all")
            self._act("commit", "-q", "--no-verify", "--cleanup=strip", "-m", message)
            self.committed = self._tip(self.tree.branch)

    def _refuse_losing(self) -> None:
        """Conflict if git would overwrite ignored files of the worktree by those of the target."""
        asked = ("diff-tree", "-r", "--name-only", "-z", "--no-renames")
        coming = repository.names(self._read(*asked, self.committed, self.target))
        tracked = {*repository.names(self._read("ls-files", "-z"))}
        names = [n for n in coming if n not in tracked and _is_file(self.tree.top / n)]
        if names:
            text = (
                f"The worktree has ignored files where {self.onto} has files of its own: "
                f"{_names_text(names)}; move them away first"
            )
            raise _in_the_way(text, names)

    def _combine(self, how: How) -> None:
        """Rebase onto the target or merge. Conflict with the names if the same lines changed."""
        if how == "rebase":
            args = ("rebase", "-q", "--merge", "--no-fork-point", "--empty=drop", self.target)
            self._without_conflict(args, "rebase")
            return
        self._act("checkout", "-q", "--detach", self.target)
        said = f"Merge branch '{self.tree.branch}' into {self.onto}"
        self._without_conflict(("merge", "-q", "--no-ff", "-m", said, self.committed), "merge")
        new = self._read("rev-parse", "HEAD").decode().strip()
        self._act("checkout", "-q", "-B", self.tree.branch, new)

    def _without_conflict(self, args: tuple[str, ...], word: str) -> None:
        try:
            self._act(*args)
        except GitError as error:
            told = repository.names(self._read("ls-files", "--unmerged", "-z"))
            with suppress(GitError):
                self._act(word, "--abort")
            paths = dict.fromkeys(line.partition("\t")[2] for line in told)
            names = [path.encode(errors="replace").decode() for path in paths]
            if not names:
                raise error from None
            text = (
                f"{self.tree.branch} and {self.onto} changed the same lines: {_names_text(names)}"
            )
            raise _in_the_way(text, names) from None

    def _move(self, new: str) -> None:
        """Move the target forward to `new`, with the files of the directory that has it checked
        out. Conflict if that would lose anyone's changes."""
        if self.at is None:
            said = f"svc: {self.tree.branch} brought over"
            asked = ("update-ref", "-m", said, HEADS + self.onto, new, self.target)
            repository.run(self.tree.repository, *asked, writes=True)
            return
        self._refuse_filtered(self.at, new)
        with storage.lock(shadow.lock_of(self.at)):
            if repository.head_branch(self.at) != self.onto or self._tip(self.onto) != self.target:
                raise Conflict(f"{self.onto} was moved meanwhile; try again", code="not_brought")
            self._refuse_overwriting(self.at, new)
            how = ("--ff-only", "--no-autostash", "--no-overwrite-ignore")
            repository.run(
                self.at, "merge", "-q", *how, new, writes=True, kept=self._left_alone(new)
            )

    def _refuse_overwriting(self, at: Path, new: str) -> None:
        """Conflict where git would refuse too, with all names; also for files that git ignores."""
        coming = self._coming(new)
        names = {*standing.changed_files(at, untracked=False)} & {*coming}
        tracked = {*repository.names(confined.read(at, "ls-files", "-z"))}
        names |= {name for name in coming if name not in tracked and _is_file(at / name)}
        if names:
            text = (
                f"{at} has changes of its own in: {_names_text(sorted(names))}; commit or undo them"
            )
            raise _in_the_way(text, sorted(names))

    def _coming(self, new: str) -> list[str]:
        """Files that change in the target."""
        asked = ("diff-tree", "-r", "--name-only", "-z", "--no-renames", self.target, new)
        return repository.names(self._read(*asked))

    def _left_alone(self, new: str) -> set[str]:
        """Names that stay read-only, because nothing that is brought over is in them."""
        return {*confined.OURS} - {name.partition("/")[0] for name in self._coming(new)}

    def _refuse_filtered(self, at: Path, new: str) -> None:
        """Conflict if files would get into the user's directory without the filter they need."""
        own = repository.own_filters(at)
        if not own:
            return
        asked = b"".join(os.fsencode(name) + b"\0" for name in self._coming(new))
        told = confined.read(self.tree.top, "check-attr", "-z", "--stdin", "filter", stdin=asked)
        parts = repository.names(told)
        names = [path for path, _, value in zip(*[iter(parts)] * 3, strict=True) if value in own]
        if names:
            text = (
                "A filter of the repository's own configuration is not run here: "
                f"{_names_text(names)}; run git merge {self.tree.branch} in {at} yourself"
            )
            raise _in_the_way(text, names)

    def _restore(self) -> None:
        """Restore the worktree; what this attempt committed is uncommitted again."""
        branch = self.tree.branch
        try:
            if repository.head_branch(self.tree.top) != branch:
                self._act("checkout", "-q", "--force", branch)
            if self._tip(branch) != self.committed:
                self._act("reset", "-q", "--hard", self.committed)
            if self.committed != self.began:
                self._act("reset", "-q", "--mixed", self.began)
        except GitError as error:
            log.warning("a worktree is not as it was: %s", error, extra={"chat": self.tree.chat})

    def _tip(self, branch: str) -> str:
        found = repository.tip(self.tree.repository, HEADS + branch)
        if found is None:
            raise GitError("revision", f"there is no branch {branch} any more")
        return found

    def _read(self, *args: str) -> bytes:
        return confined.read(self.tree.top, *args)

    def _act(self, *args: str) -> bytes:
        return repository.run(self.tree.top, *args, writes=True, kept=(), environ=jobs.identity())


def _is_file(path: Path) -> bool:
    """Whether a file or a link is there; git itself reports what would be lost in a directory."""
    return os.path.lexists(path) and (path.is_symlink() or not path.is_dir())


def _underway(common: Path) -> set[str]:
    """Branches being rebased in any worktree; HEAD is detached while that lasts."""
    found = set()
    for place_of in (common, *sorted((common / "worktrees").glob("*"))):
        for name in ("rebase-merge/head-name", "rebase-apply/head-name"):
            with suppress(OSError):
                told = opening.contents(place_of / name, limit=owning.LONGEST)
                found.add(os.fsdecode(told).strip().removeprefix(HEADS))
    return found


def _names_text(names: list[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{', '.join(names[:LISTED])}{more}"


def _in_the_way(text: str, names: list[str]) -> Conflict:
    return Conflict(text, code="not_brought", extra={"files": names[: standing.MOST]})
