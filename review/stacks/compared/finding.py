"""Search the whole diff of a commit or a stack, whichever files a page has loaded."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, Literal, TypedDict

from config.errors import Invalid
from config.jsonio import clean
from review.git.commits import shown_path
from review.git.diffs import searching
from review.git.diffs.searching import Hit
from review.stacks import repo as repos
from review.stacks.compared import comparison, stack

MOST = 500  # lines of one answer
LONGEST = 200  # characters of the text to look for
SHOWN, BEFORE = 240, 60  # characters shown of a line, and those before the hit


class FoundLine(TypedDict):
    """`line` is its number on `side`; `text` is a part of the line, with the hit at index `at`."""

    path: str
    side: Literal["LEFT", "RIGHT"]
    line: int
    kind: Literal["added", "removed", "same"]
    text: str
    at: int


class Search(TypedDict):
    query: str
    truncated: bool
    lines: list[FoundLine]


def in_commit(project: str, repo: str, sha: str, q: Any) -> Search:
    """The lines of the commit's diff that contain the text `q`."""
    query = _query(q)
    target = repos.target_at(project, repo, sha)
    shown = target.shown_commit
    return _answer(query, searching.search(target.repository, shown.parent, shown.sha, query))


def since(
    project: str, repo: str, sha: str, old: str, q: Any, *, to: str | None = None,
    whole: bool = False,
) -> Search:  # fmt: skip
    """The lines that contain the text `q` in the diff of two versions, whether the author or the
    base changed them; with `whole`, also in files that only the base changes."""
    query = _query(q)
    pair = comparison.two(project, repo, sha, old, to, whole=whole)
    there = pair.old.sha if pair.old else None
    shown = {file.path for file in pair.commit.files}
    hits = searching.search(pair.repository, there, pair.new.sha, query)
    return _answer(query, (hit for hit in hits if hit.file.path in shown))


def in_stack(project: str, repo: str, n: str, q: Any) -> Search:
    """The lines of the stack's diff that contain the text `q`."""
    query = _query(q)
    whole = stack.span(project, repo, n)
    base = whole.base.sha if whole.base else None
    return _answer(query, searching.search(whole.repository, base, whole.tip.sha, query))


def _query(q: Any) -> str:
    if not isinstance(q, str) or not q.strip():
        raise Invalid('"q" is required: the text to look for')
    if len(q) > LONGEST or "\n" in q:
        raise Invalid(f'"q" must be one line of at most {LONGEST} characters')
    return q


def _answer(query: str, hits: Iterable[Hit]) -> Search:
    found = [_line(hit) for hit in islice(hits, MOST + 1)]
    return {"query": query, "truncated": len(found) > MOST, "lines": found[:MOST]}


def _line(hit: Hit) -> FoundLine:
    start = max(0, hit.at - BEFORE)
    return {
        "path": shown_path(hit.file.path),
        "side": "RIGHT" if hit.new else "LEFT",
        "line": hit.new or hit.old,
        "kind": "same" if hit.old and hit.new else "added" if hit.new else "removed",
        "text": clean(hit.text[start : start + SHOWN]),
        "at": hit.at - start,
    }
