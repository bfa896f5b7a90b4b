"""What apply and fold work on: the branch that a repo's range ends at, under a lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime

from config.errors import Conflict, NotFound
from config.git import command
from config.git.command import GitError
from config.storage import files as storage
from review import projects, reviewer
from review.git import objects, ranges
from review.git.commits import Commit
from review.git.refs import HEADS
from review.git.repository import Repository
from review.git.rewriting import worktrees
from review.git.rewriting.keeping import Move
from review.git.rewriting.worktrees import Worktree
from review.stacks import repo as repos
from review.stacks.folding import offers
from review.stacks.values import Repo, Stack


@dataclass(frozen=True, slots=True)
class Ground:
    """`ref` is the branch's full name, `chain` its commits that can be rewritten, oldest first."""

    found: Repo
    repository: Repository
    ref: str
    tip: str
    chain: Sequence[Commit]
    trees: Sequence[Worktree]

    @property
    def branch(self) -> str:
        return self.ref.removeprefix(HEADS)


@contextmanager
def held(project: str, repo: str, choose: Callable[[Repo], Stack | None]) -> Iterator[Ground]:
    """The current ground of the chosen stack, under a lock of the repository. NotFound, Conflict,
    GitError."""
    listed = projects.get(project)
    entry = projects.repo(listed, repo)
    before = repos.load(listed, entry)
    if before.repository is None:
        raise NotFound(_unread(before), code="unreadable")
    with storage.lock(f"rewrite:{before.repository.common_dir}"):
        found = repos.load(listed, entry)
        yield _ground(found, choose(found))


def _ground(found: Repo, stack: Stack | None) -> Ground:
    if found.repository is None or found.range is None or found.refs is None:
        raise NotFound(_unread(found), code="unreadable")
    there = offers.branch_of(found, stack)
    if there is None:
        raise Conflict(
            f"The range of repo {found.entry.name} ends at {ranges.name_text(found.range.head)}, "
            "which is not a local branch; give it a range that ends at a branch, or check one out.",
            code="no_branch",
        )
    ref, tip = there
    trees = worktrees.list_all(found.repository)
    if why := worktrees.why_held(trees, [ref]):
        raise Conflict(why, code="under_way")
    return Ground(found, found.repository, ref, tip, offers.chain(found, tip), trees)


def _unread(found: Repo) -> str:
    why = found.errors[0].rstrip(".") if found.errors else "it cannot be read"
    return f"Repo {found.entry.name} cannot be changed: {why}."


def check_moves(ground: Ground, moves: Sequence[Move]) -> None:
    """Conflict if a move would disturb an operation in progress, or change a work tree's files."""
    if why := worktrees.why_held(ground.trees, [move.ref for move in moves]):
        raise Conflict(why, code="under_way")
    shas = {sha for move in moves for sha in (move.before, move.after)}
    trees = objects.roots(ground.repository, sorted(shas))
    out = {tree.ref: tree for tree in ground.trees if tree.ref}
    for move in moves:
        if move.ref in out and trees.get(move.before) != trees.get(move.after):
            raise Conflict(
                f"Branch {move.branch} is checked out in {out[move.ref].named}, and its files "
                "would change there; check out another branch in that directory first.",
                code="checked_out",
            )


def committer(repository: Repository) -> bytes:
    """The committer line for new commits there: the user's identity, else the reviewer's."""
    try:
        return command.run(repository.path, "var", "GIT_COMMITTER_IDENT").strip()
    except GitError as error:
        if error.kind == "timeout":
            raise
    name = "".join(char for char in reviewer.me().name if char not in "<>\n\r\0").strip()
    return f"{name or 'svc'} <svc@localhost> {int(datetime.now(UTC).timestamp())} +0000".encode()
