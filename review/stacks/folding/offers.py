"""What a page may offer: fixups that could be folded, a fold that could be undone. Runs no git."""

from __future__ import annotations

from collections import Counter
from typing import TypedDict

from review.files import times
from review.git.commits import Commit
from review.git.refs import HEADS
from review.git.rewriting import autosquash, keeping
from review.stacks.values import Repo, Stack


class LastFold(TypedDict):
    id: str
    branch: str
    at: str | None


def branch_of(found: Repo, stack: Stack | None = None) -> tuple[str, str] | None:
    """Full name and sha of the local branch that the stack ends at: a chat's branch for its own
    stack, else the one that the range ends at. None if that is no local branch."""
    if found.range is None or found.refs is None:
        return None
    head = found.range.head
    if stack is not None and stack.branch:
        ref: str | None = HEADS + stack.branch
    else:
        ref = found.refs.head_ref if head == "HEAD" else found.refs.full_name(head)
    sha = found.refs.shas.get(ref or "")
    return (ref, sha) if ref and sha and ref.startswith(HEADS) else None


def chain(found: Repo, tip: str) -> list[Commit]:
    """The commits up to `tip` that can be rewritten, oldest first; none that landed unchanged."""
    own = {sha: item.commit for sha, item in found.by_sha.items() if not item.fixed}
    return autosquash.chain(own, tip)


def fixups(found: Repo) -> Counter[int]:
    """How many commits fold into each stack, by its number."""
    if not any(autosquash.act_of(one.commit.subject) for one in found.items):
        return Counter()
    counted: Counter[int] = Counter()
    for stack in found.stacks:
        if there := branch_of(found, stack):
            folds = autosquash.folds(chain(found, there[1]))
            counted[stack.n] = sum(fold.target in stack.commits for fold in folds)
    return counted


def last_fold(found: Repo) -> LastFold | None:
    """The newest fold whose branch has not moved since, or None."""
    if found.refs is None or not found.refs.ours:
        return None
    tips = {branch_of(found), *(branch_of(found, stack) for stack in found.stacks)}
    for fold, moves in reversed(keeping.moves(found.refs.ours).items()):
        for move in moves:
            if (move.ref, move.after) in tips:
                at = keeping.time_of(fold)
                return {"id": fold, "branch": move.branch, "at": times.of(at) if at else None}
    return None
