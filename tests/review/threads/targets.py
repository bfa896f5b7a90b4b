"""Commits of real repositories as the review part sees them, for tests."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from review.git.commits import Commit
from review.git.log import history
from review.git.repository import open_repository
from review.threads.carry.traces import Match, Trace
from review.threads.placement import placing
from review.threads.placement.placing import Placed
from review.threads.schema import Comment, Thread
from review.threads.target import Target


def commit(path: Path, sha: str) -> Commit:
    return history.commit(open_repository(path), sha)


def target(
    path: Path,
    sha: str,
    *,
    match: Match | None = None,
    trace: Trace | None = None,
    slug: str = "pay",
) -> Target:
    """Commit `sha` of the repository at `path`, as the repo `api` of a project lists it."""
    found = commit(path, sha)
    return Target(
        slug=slug,
        repo="api",
        repository=open_repository(path),
        commit=found,
        shown_commit=found,
        match=match,
        trace=trace or Trace(sha),
    )


def thread(
    on: Target,
    path: str | None = None,
    line: int | None = None,
    *,
    start: int | None = None,
    side: str = "RIGHT",
    start_side: str | None = None,
    tid: str = "t-1",
) -> Thread:
    """A thread as it is written on a commit."""
    return Thread(
        id=tid,
        path=path,
        side=side if path else None,
        line=line,
        start_line=start,
        start_side=(start_side or side) if start else None,
        resolved=False,
        resolved_by=None,
        resolved_at=None,
        author=None,
        created_at="2026-11-20T10:00:00.000Z",
        anchor=placing.anchor(on, path, side, line, start, start_side),
        comments=(Comment(f"c-{tid}", "you", "Why?", "2026-11-20T10:00:00Z", None),),
    )


def placed(on: Target, one: Thread) -> Placed:
    return placing.place(on, [one])[0]


def where(found: Placed) -> tuple[str, bool, int | None, int | None]:
    """Placement, whether outdated, first and last line."""
    return (found.placement, found.outdated, found.start_line, found.line)


def text(lines: Sequence[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
