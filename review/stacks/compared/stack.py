"""A stack as one diff: from the parent of its lowest commit to its top."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

from config.errors import NotFound
from config.jsonio import clean
from review import projects
from review.git import ancestry, ranges
from review.git.commits import Commit
from review.git.log import history
from review.git.ranges import Range
from review.git.repository import Repository
from review.stacks import repo as repos
from review.stacks.compared import comparison
from review.stacks.compared.comparison import MOST, Pair
from review.stacks.contents import files as texts
from review.stacks.values import Repo, Stack


class StackDiff(TypedDict):
    """`base` is null if the stack begins with a root commit. `others`: commits of other stacks
    between its own, which the diff includes. `trunk`: whether the diff also includes what a merge
    among these commits brought in from the trunk."""

    n: int
    title: str | None
    color: str
    base: str | None
    tip: str
    commits: list[str]
    others: list[str]
    trunk: bool
    additions: int
    deletions: int
    truncated: bool
    files: list[texts.Record]


@dataclass(frozen=True, slots=True)
class Span:
    repository: Repository
    stack: Stack
    commits: tuple[str, ...]
    base: Commit | None
    tip: Commit
    others: tuple[str, ...]
    trunk: bool = False

    @property
    def pair(self) -> Pair:
        return comparison.pair_of(self.repository, self.base, self.tip, whole=True, based=False)


def whole(project: str, repo: str, n: str, *, contents: Any = "all") -> StackDiff:
    """The files that a stack changes as a whole; as many as asked for with texts, at most 200."""
    asked = texts.parse_wanted(contents)
    found = span(project, repo, n)
    pair = found.pair
    listed = pair.commit.files
    most = min(MOST, asked if isinstance(asked, int) else len(listed) if asked == "all" else 0)
    shown = pair.files
    records = list(shown.whole(listed[:most])) if most else []
    return {
        "n": found.stack.n,
        "title": clean(found.stack.title) if found.stack.title else None,
        "color": found.stack.color,
        "base": found.base.sha if found.base else None,
        "tip": found.tip.sha,
        "commits": list(found.commits),
        "others": list(found.others),
        "trunk": found.trunk,
        "additions": sum(file.additions or 0 for file in listed),
        "deletions": sum(file.deletions or 0 for file in listed),
        "truncated": len(listed) > most,
        "files": [*records, *(shown.bare(file) for file in listed[most:])],
    }


def file(project: str, repo: str, n: str, path: str | None) -> texts.Record:
    """One file of the stack's diff, with its contents."""
    pair = span(project, repo, n).pair
    (record,) = pair.files.whole([pair.file(path)])
    return record


def span(project: str, repo: str, n: str) -> Span:
    """The span of a stack. NotFound if it is unknown or none of its commits is in the range."""
    listed = projects.get(project)
    found = repos.load(listed, projects.repo(listed, repo), counts=True)
    if found.errors:
        raise NotFound(f"Repo {repo} cannot be read: {found.errors[0]}", code="unreadable")
    stack = next((one for one in found.stacks if str(one.n) == n), None)
    if stack is None:
        raise NotFound(f"No such stack: {clean(n[:64])}")
    return _span(found, stack)


def _span(found: Repo, stack: Stack) -> Span:
    assert found.repository is not None, "a repo without errors was opened"
    order = [item.commit.sha for item in found.items]
    span = found.range
    assert span is not None, "a repo without errors has a range"
    inside = ancestry.reachable(found.repository, stack.commits, [span.head_sha])
    if span.base_sha:
        inside -= ancestry.reachable(found.repository, stack.commits, [span.base_sha])
    mine = [sha for sha in order if sha in inside and sha in stack.commits]
    if not mine:
        raise NotFound("No commit of this stack is in the range: it has no single diff")
    first, tip = found.by_sha[mine[0]].commit, found.by_sha[mine[-1]].commit
    between = order[order.index(mine[0]) : order.index(mine[-1]) + 1]
    others = tuple(sha for sha in between if sha not in stack.commits and sha in found.by_sha)
    merged = any(len(found.by_sha[sha].commit.parents) > 1 for sha in between)
    below, trunk = first.parent, False
    if merged and below:
        below, trunk = _above(found.repository, span, below, tip.sha)
    base = history.commit(found.repository, below) if below else None
    return Span(found.repository, stack, tuple(mine), base, tip, others, trunk)


def _above(repository: Repository, span: Range, below: str, tip: str) -> tuple[str, bool]:
    """The base to compare a stack with merges with, and whether its diff then includes what they
    brought in from the trunk. The base is the trunk commit that the tip contains, if that descends
    from `below`; else it is `below`."""
    merged = ranges.merge_base(repository, span.base_sha, tip) if span.base_sha else None
    common = ranges.merge_base(repository, merged, below) if merged else None
    if merged is None or common == merged:  # `below` has it all already
        return below, False
    return (merged, False) if common == below else (below, True)
