"""Which branches under review moved between two looks at the refs of a repository."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from config import signals
from config.errors import NotFound
from review import projects
from review.git.refs import HEADS, REMOTES, Refs
from review.stacks import repo as repos
from review.stacks.values import Repo


class Move(NamedTuple):
    """A branch by its full name; `before` is empty for a new one, `after` for a deleted one."""

    ref: str
    before: str
    after: str


def moves(before: Refs, now: Refs) -> Iterator[Move]:
    """The local and remote branches that point elsewhere than before."""
    for ref in sorted(before.shas.keys() | now.shas.keys()):
        was, is_ = before.shas.get(ref, ""), now.shas.get(ref, "")
        if was != is_ and ref.startswith((HEADS, REMOTES)):
            yield Move(ref, was, is_)


def tell(slug: str, name: str, moved: list[Move]) -> None:
    """Send a signal for each one under review: the branch whose commits are the range, and local
    ones whose tip is among these. A deleted branch counts as it was last known."""
    try:
        project = projects.get(slug)
        entry = projects.repo(project, name)
    except NotFound:
        return
    known = [repos.get_cached(project, entry), repos.load(project, entry)]
    for move in moved:
        if any(_under_review(repo, move) for repo in known if repo is not None):
            branch = move.ref.removeprefix(HEADS).removeprefix(REMOTES)
            happening = signals.BranchMoved(entry.path, slug, name, branch, move.before, move.after)
            signals.tell(signals.branch_moved, happening)


def _under_review(repo: Repo, move: Move) -> bool:
    if repo.refs is None or repo.range is None:
        return False
    head = repo.range.head
    ref = repo.refs.settled.head_ref if head == "HEAD" else repo.refs.full_name(head)
    tip = move.after or move.before
    return move.ref == ref or (move.ref.startswith(HEADS) and tip in repo.by_sha)
