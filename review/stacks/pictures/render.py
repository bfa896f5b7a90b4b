"""Pictures of stacks: the project detail drawn as SVG, and that SVG as PNG.

A picture is made only from the JSON of the project detail. It has its own paper, so that it reads
the same in a README on a white or a black page; where the page reports that it is dark, the paper
turns dark too. A PNG cannot change and is always light.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import resvg_py

from config.errors import Invalid
from config.fonts import metrics
from review import caches
from review.stacks.pictures import drawing as pen
from review.stacks.pictures import foreign
from review.stacks.pictures.sheet import MINUS, SCALES, Columns, Part, Row, Sheet, Stack, count

ZOOM = 2
MOST_ROWS = 200  # a PNG of so many takes about 50 MB while it is drawn
COLOUR = re.compile(r"#[0-9a-fA-F]{6}")
SCOPES = ("project", "repo", "stack")
CACHED = 64

Detail = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PNG:
    """A picture as an image; `missing` are the characters that no font of this machine has."""

    data: bytes
    missing: str


_drawn: caches.Memory[bytes, PNG] = caches.Memory(CACHED)


def svg(
    project: Detail,
    *,
    scope: str = "project",
    repo: str | None = None,
    sha: str | None = None,
    scale: str = "sqrt",
    title: bool = True,
    narrow: bool = False,
) -> str:
    """The picture of `scope`, with commit `sha` of `repo` marked. Invalid for a bad scope or scale.

    `title=False` drops the project's title and the line of counts; `narrow` makes it 320 wide
    instead of 680, without the numbers of each commit. Of more than 200 commits, the 200 around the
    marked one are drawn, and the others counted.
    """
    if scope not in SCOPES:
        raise Invalid('"scope" must be project, repo or stack')
    if scale not in SCALES:
        raise Invalid('"scale" must be sqrt or linear')
    whole = _make_parts(project, scope, repo, sha)
    summary, parts = _summary(whole), _limit_rows(whole)
    rows = [row for part in parts for stack in part.stacks for row in stack.rows]
    sheet = Sheet(Columns.of(rows, scale, narrow=narrow))
    if title:
        sheet.heading(str(project["title"]), summary)
    _draw(sheet, parts)
    return sheet.document(f"{project['title']}: {' '.join(text for text, _ in summary)}")


def png(picture: str) -> PNG:
    """The SVG as a PNG of twice its size, cached by the SVG's hash."""
    key = hashlib.sha256(picture.encode()).digest()
    drawn = _drawn.get(key)
    if drawn is None:
        whole, missing = foreign.place_runs(picture, _png_bytes)
        drawn = _drawn.put(key, PNG(_png_bytes(whole), missing))
    return drawn


def _png_bytes(picture: str) -> bytes:
    return resvg_py.svg_to_bytes(
        svg_string=picture,
        zoom=ZOOM,
        font_files=[str(path) for path in metrics.FILES],
        skip_system_fonts=not metrics.lacking(picture),
    )


def _make_parts(project: Detail, scope: str, repo: str | None, sha: str | None) -> list[Part]:
    chosen = [one for one in project["repos"] if scope == "project" or one["name"] == repo]
    return [_part(one, scope, sha if one["name"] == repo else None) for one in chosen]


def _part(repo: Detail, scope: str, sha: str | None) -> Part:
    commits = {commit["sha"]: commit for commit in repo["commits"]}
    listed = [stack for stack in repo["stacks"] if scope != "stack" or sha in stack["commits"]]
    stacks = (
        Stack(
            title=stack["title"],
            colour=stack["color"] if COLOUR.fullmatch(stack["color"]) else pen.LIGHT["idle"],
            follow_on=bool(stack.get("follow_on")),
            rows=tuple(
                _row(commits[one], one == sha)
                for one in reversed(stack["commits"])
                if one in commits
            ),
        )
        for stack in listed
    )
    base = (repo.get("range") or {}).get("base") if scope != "stack" else None
    error = next(iter(repo["errors"]), None)
    return Part(repo["name"], base, error, tuple(stack for stack in stacks if stack.rows))


def _row(commit: Detail, current: bool) -> Row:
    counts = commit.get("diff") or commit  # a landed commit shows what landed
    return Row(
        title=pen.clean(commit["pr_title"] or commit["subject"]) or commit["short"],
        status=commit["status"],
        additions=counts["additions"] or 0,
        deletions=counts["deletions"] or 0,
        current=current,
        judged=_verdict_text(commit.get("verdicts") or ()),
    )


def _verdict_text(verdicts: Sequence[Detail]) -> tuple[str, str]:
    """The verdicts in words, with their colour: changes outweigh approval, stale ones say so."""
    for word, said, role in (
        ("changes", "changes asked", "delink"),
        ("approve", "approved", "addink"),
    ):
        given = [one for one in verdicts if one["verdict"] == word]
        if given and all(one["changed"] for one in given):
            return f"{said}, changed since", "ink3"
        if given:
            return said, role
    return "", ""


def _limit_rows(parts: list[Part]) -> list[Part]:
    """At most MOST_ROWS rows: those around the current one, else the first ones."""
    rows = [row for part in parts for stack in part.stacks for row in stack.rows]
    if len(rows) <= MOST_ROWS:
        return parts
    current = next((place for place, row in enumerate(rows) if row.current), 0)
    first = max(0, min(current - MOST_ROWS // 2, len(rows) - MOST_ROWS))
    return list(_window(parts, first, first + MOST_ROWS))


def _window(parts: Iterable[Part], first: int, end: int) -> Iterator[Part]:
    place = 0
    for part in parts:
        start, stacks = place, []
        for stack in part.stacks:
            kept = stack.rows[max(0, first - place) : max(0, end - place)]
            stacks += [replace(stack, rows=kept)] if kept else []
            place += len(stack.rows)
        above = min(place, max(first, start)) - start
        below = place - max(start, min(end, place))
        yield replace(part, stacks=tuple(stacks), above=above, below=below)


def _summary(parts: Iterable[Part]) -> list[tuple[str, str]]:
    """The line of counts, as (words, role of their colour)."""
    stacks = [stack for part in parts for stack in part.stacks]
    rows = [row for stack in stacks for row in stack.rows]
    counts = f"{count(len(rows), 'commit')} · {count(len(stacks), 'stack')} ·"
    return [
        (counts, "ink3"),
        (f"+{sum(row.additions for row in rows):,}", "addink"),
        (f"{MINUS}{sum(row.deletions for row in rows):,}", "delink"),
    ]


def _draw(sheet: Sheet, parts: Sequence[Part]) -> None:
    if not parts:
        sheet.note("No repos in this project", "ink3")
    for part in parts:
        if len(parts) > 1:
            sheet.repo(part.name)
        if part.error:
            sheet.note(part.error, "warn")
        elif not (part.stacks or part.above or part.below):
            sheet.note("No commits in the range", "ink3")
        if part.above:
            sheet.note(f"{count(part.above, 'more commit')} above", "ink3")
        named = len(part.stacks) > 1 or any(stack.title for stack in part.stacks)
        for stack in part.stacks:
            sheet.stack(stack, named=named)
        if part.below:
            sheet.note(f"{count(part.below, 'more commit')} below", "ink3")
        sheet.end_of_repo(part.base if part.stacks and not part.below else None)
