"""Lists of chats: which rows, in which order, starting where.

One stat per file; only changed files are parsed (promise S3).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Literal

from config.errors import Invalid, Problem
from config.logs import timestamp
from workspace.chats import counts, index
from workspace.models import Chat
from workspace.projects.project import Project

Which = Literal["open", "archived", "all"]


@dataclass(frozen=True, slots=True)
class Listing:
    """One page: its rows, how many chats match in all, how many archived ones were left out."""

    rows: list[Chat]
    matching: int
    omitted: int
    next: str | None


def listing(
    among: Iterable[Project],
    *,
    which: Which = "open",
    text: str = "",
    limit: int = 100,
    before: str = "",
    only: Collection[str] | None = None,
) -> Listing:
    """Chats of the projects, newest first; with `only`, those with these ids."""
    found: list[Chat] = []
    projects, omitted = [*among], 0
    for project in projects:
        rows = _matching(index.entries(project), text)
        if only is not None:
            rows = [row for row in rows if row.id in only]
        if which != "all":
            wanted = which == "archived"
            shown = [row for row in rows if row.archived == wanted]
            omitted += len(rows) - len(shown)
            rows = shown
        found += rows
    if len(projects) > 1:  # the chats of one project are sorted already
        found.sort(key=index.age, reverse=True)
    rest = _after(found, before) if before else found
    page = rest[:limit]
    following = _cursor(page[-1]) if len(rest) > limit else None
    return Listing(page, len(found), omitted if which == "open" else 0, following)


def _matching(rows: list[Chat], text: str) -> list[Chat]:
    if not text:
        return rows
    needle = text.casefold()
    return [row for row in rows if needle in f"{row.name}\n{row.preview}".casefold()]


def _cursor(row: Chat) -> str:
    return f"{timestamp(row.updated)}_{row.id}"


def _after(rows: list[Chat], before: str) -> list[Chat]:
    """The rows older than the cursor. A chat that moved up since then is on no page twice."""
    moment, _, session_id = before.partition("_")
    place = (counts.moment(moment), session_id)
    if not session_id or place[0] == counts.EPOCH:
        raise Invalid([Problem("before", "must be the `next` of the page before")])
    return [row for row in rows if index.age(row) < place]
