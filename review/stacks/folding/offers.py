"""What a page may offer: fixups that could be folded, a fold that could be undone. Runs nothing."""

from __future__ import annotations

from collections import Counter
from typing import TypedDict

from review.files import times
from review.git.refs import HEADS
from review.git.rewriting import autosquash, keeping
from review.stacks.values import Repo


class LastFold(TypedDict):
    id: str
    branch: str
    at: str | None


def branch_of(found: Repo) -> tuple[str, str] | None:
    """The local branch that the range ends at, full name and sha; None where it is none."""
    if found.range is None or found.refs is None:
        return None
    head = found.range.head
    ref = found.refs.head_ref if head == "HEAD" else found.refs.full_name(head)
    sha = found.refs.shas.get(ref or "")
    return (ref, sha) if ref and sha and ref.startswith(HEADS) else None


def fixups(found: Repo) -> Counter[int]:
    """How many commits fold into each stack, by its number."""
    there = branch_of(found)
    if there is None or not any(autosquash.act_of(one.commit.subject) for one in found.items):
        return Counter()
    by_sha = {sha: item.commit for sha, item in found.by_sha.items()}
    folds = autosquash.folds(autosquash.chain(by_sha, there[1]))
    return Counter(found.by_sha[fold.target].stack for fold in folds)


def last_fold(found: Repo) -> LastFold | None:
    """The newest fold after which the branch has not moved."""
    there = branch_of(found)
    if there is None or found.refs is None or not found.refs.ours:
        return None
    for fold, moves in reversed(keeping.moves(found.refs.ours).items()):
        for move in moves:
            if (move.ref, move.after) == there:
                at = keeping.time_of(fold)
                return {"id": fold, "branch": move.branch, "at": times.of(at) if at else None}
    return None
