"""Which commit belongs to which stack, and the warnings of each stack.

Pure functions of the entries of project.yaml, the listed commits and a way to find a listed sha. No
commit is ever dropped: a commit that no entry lists goes to the rest stack.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from review.projects.entries import PALETTE, StackEntry

COLORS = tuple(PALETTE.values())
NOWHERE: Mapping[str, str] = MappingProxyType({})


@dataclass(slots=True)
class Draft:
    """A stack being built. `entry` is None for the implicit rest stack and for a chat's
    `branch`."""

    n: int
    entry: StackEntry | None
    branch: str | None = None
    commits: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def color(self) -> str:
        """`#rrggbb`; the default depends on the stack's number."""
        named = self.entry.color if self.entry else None
        return named or COLORS[(self.n - 1) % len(COLORS)]

    @property
    def warning(self) -> str | None:
        return "; ".join(self.warnings) or None


def assemble(
    entries: Sequence[StackEntry],
    order: Sequence[str],
    find: Callable[[str], str | None],
    branches: Mapping[str, str] = NOWHERE,
) -> list[Draft]:
    """The stacks of the entries, then the implicit rest stack if commits are left for it, then one
    per chat's branch, with those of its commits that no entry lists.

    `order` holds every commit, oldest first; each stack keeps this order. `find` returns the commit
    that a listed text means, or None. `branches` maps commits to branches of chats.
    """
    drafts = [Draft(n, entry) for n, entry in enumerate(entries, 1)]
    taken: dict[str, Draft] = {}
    for draft in drafts:
        _claim(draft, find, taken)
    rests = [draft for draft in drafts if draft.entry and draft.entry.commits is None]
    for draft in rests[1:]:
        draft.warnings.append(f"stack {rests[0].n} already takes every commit that no stack lists")
    beside = {sha: branches[sha] for sha in order if sha in branches and sha not in taken}
    left = [sha for sha in order if sha not in taken and sha not in beside]
    if left and not rests:
        rests = [Draft(len(drafts) + 1, None)]
        drafts += rests
    taken |= dict.fromkeys(left, rests[0]) if rests else {}
    for branch in dict.fromkeys(beside.values()):
        drafts.append(Draft(len(drafts) + 1, None, branch))
        taken |= {sha: drafts[-1] for sha, name in beside.items() if name == branch}
    for sha in order:
        taken[sha].commits.append(sha)
    return drafts


def _claim(draft: Draft, find: Callable[[str], str | None], taken: dict[str, Draft]) -> None:
    """Give the stack the commits its entry lists, unless an earlier stack has them."""
    listed = draft.entry.commits if draft.entry else None
    gone: list[str] = []
    for text in listed or ():
        sha = find(text)
        if sha is None:
            gone.append(text[:7])
        elif taken.setdefault(sha, draft) is not draft:
            draft.warnings.append(f"{text[:7]} is already in stack {taken[sha].n}")
    if listed and gone:
        are = "is" if len(gone) == 1 else "are"
        draft.warnings.insert(
            0,
            f"{len(gone)} of {len(listed)} commits {are} no longer in the range: {', '.join(gone)}",
        )
