"""Branches of chats (`svc/*`): what agents commit in their own worktrees, beside the range.

Each branch is a stack after the others, while it has commits that neither the range nor the trunk
has. See docs/design/review.md#stacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from review.git import ancestry, ranges
from review.git.commits import Commit
from review.git.log import history
from review.git.ranges import Range
from review.git.refs import HEADS, Refs
from review.git.repository import Repository

PREFIX = "svc/"
MOST = 50  # branches that are looked at, by name


def read(
    repository: Repository, pointers: Refs, span: Range, commits: Sequence[Commit], *, counts: bool
) -> dict[str, list[Commit]]:
    """The commits of each branch that no other list contains, oldest first. GitError."""
    found: dict[str, list[Commit]] = {}
    known = {commit.sha for commit in commits}
    for name in branches(pointers, span):
        tip = pointers.shas[HEADS + name]
        own = [one for one in _own(repository, span, tip, counts=counts) if one.sha not in known]
        if own:
            found[name] = own
            known |= {one.sha for one in own}
    return found


def branches(pointers: Refs, span: Range) -> list[str]:
    """The branches to look at, by name: neither the one checked out nor the head of the range."""
    full = sorted(name for name in pointers.shas if name.startswith(HEADS + PREFIX))
    return [
        name.removeprefix(HEADS)
        for name in full[:MOST]
        if name != pointers.head_ref and pointers.shas[name] != span.head_sha
    ]


def _own(repository: Repository, span: Range, tip: str, *, counts: bool) -> list[Commit]:
    base = ranges.merge_base(repository, span.head_sha, tip)
    if base is None or base == tip:
        return []
    beside = replace(span, base_sha=base, head_sha=tip, warnings=(), limit=None)
    commits = history.commits(repository, beside, counts=counts)[0]
    landed = ancestry.reachable(repository, {one.sha for one in commits}, span.trunk_shas)
    return [one for one in commits if one.sha not in landed]
