"""The JSON shapes of repos, stacks and commits (contract 8). Values in, plain dicts out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from config.kernel.jsonio import clean
from review.git.commits import Commit
from review.stacks.values import Item, Repo, Stack

Counts = tuple[int, int, int, int]  # threads, resolved, unresolved, viewed

SHORT = 7


def shorts(shas: Sequence[str]) -> dict[str, str]:
    """Each sha cut so far that it names one of these alone, to 7 characters at least."""
    ordered = sorted(shas)
    length = SHORT
    for one, other in itertools.pairwise(ordered):
        while one != other and one[:length] == other[:length]:
            length += 1
    return {sha: sha[:length] for sha in ordered}


def repo(found: Repo, commits: Iterator[dict[str, Any]]) -> dict[str, Any]:
    span = found.range
    return {
        "name": found.entry.name,
        "path": str(found.entry.path),
        "range": {
            "text": span.text if span else _text(found),
            "base": span.base if span else None,
            "head": span.head if span else None,
            "base_sha": span.base_sha if span else None,
            "head_sha": span.head_sha if span else None,
        },
        "trunk": span.trunk if span else found.entry.trunk,
        "missing": found.missing,
        "errors": list(found.errors),
        "warnings": list(found.warnings),
        "orphaned": [orphan.record for orphan in found.orphans],
        "stacks": [stack(one) for one in found.stacks],
        "commits": list(commits),
    }


def stack(one: Stack) -> dict[str, Any]:
    shown = {
        "n": one.n,
        "title": one.title,
        "color": one.color,
        "description": one.description,
        "commits": list(one.commits),
        "warning": one.warning,
        "weight": one.weight,
    }
    return shown | ({"follow_on": True} if one.follow_on else {})


def listed(item: Item, short: str, counts: Counts) -> dict[str, Any]:
    """A commit in the project detail."""
    commit = item.commit
    shown = {
        "sha": commit.sha,
        "short": short,
        "subject": clean(commit.subject),
        "author": clean(commit.author_name),
        "authored": commit.authored,
        "parents": list(commit.parents),
        "additions": commit.additions,
        "deletions": commit.deletions,
        "files": len(commit.files),
        "position": item.position,
        "stack": item.stack,
        "pr_title": clean(item.title),
        "unresolved": counts[2],
        "branch": item.branch,
        "github": item.github,
        "status": item.status,
        "progress": progress(item, counts),
        "proposed": proposed(item),
    }
    return shown | (landed(item) if item.landed else {})


def proposed(item: Item) -> dict[str, Any] | None:
    """The PR record of a gone commit that may have become this one: a person takes it over."""
    if item.proposal is None:
        return None
    pr = item.proposal.pr
    return {
        "sha": item.proposal.sha,
        "by": item.proposal.by,
        "title": clean(pr.title) if pr.title else None,
        "branch": pr.branch,
        "number": (pr.github or {}).get("number"),
        "status": pr.status,
    }


def progress(item: Item, counts: Counts) -> dict[str, int]:
    threads, resolved, _, viewed = counts
    files = len(item.shown_commit.files)
    return {"threads": threads, "resolved": resolved, "files": files, "viewed": viewed}


def landed(item: Item) -> dict[str, Any]:
    """What a landed commit adds: where it landed and what is diffed; null where that is gone."""
    assert item.landed is not None
    commit = item.landed.commit
    return {
        "landed": item.landed.record,
        "tip": commit.sha if commit else None,
        "parent": commit.parent if commit else None,
        "diff": _diff(commit) if commit else None,
    }


def commit(item: Item, short: str, counts: Counts) -> dict[str, Any]:
    """The commit detail down to `progress`; files, stack and neighbours come from elsewhere."""
    commit, there = item.commit, item.landed.commit if item.landed else None
    return {
        "sha": commit.sha,
        "short": short,
        "subject": clean(commit.subject),
        "body": clean(commit.body),
        "author": {"name": clean(commit.author_name), "email": clean(commit.author_email)},
        "authored": commit.authored,
        "committed": commit.committed,
        "parents": list(commit.parents),
        "parent": item.shown_commit.parent,
        "branch": item.branch,
        "github": item.github,
        "status": item.status,
        "progress": progress(item, counts),
        "landed": item.landed.record if item.landed else None,
        "tip": there.sha if there else None,
    }


def place(item: Item, stack: Stack) -> dict[str, Any]:
    """The stack of a commit, with its position from the bottom."""
    return {
        "n": stack.n,
        "title": stack.title,
        "color": stack.color,
        "position": item.position,
        "count": len(stack.commits),
    }


def neighbour(found: Repo, item: Item, short: str) -> dict[str, str]:
    return {
        "repo": found.entry.name,
        "sha": item.commit.sha,
        "short": short,
        "title": clean(item.title),
    }


def _diff(commit: Commit) -> dict[str, int]:
    return {
        "additions": commit.additions,
        "deletions": commit.deletions,
        "files": len(commit.files),
    }


def _text(found: Repo) -> str | None:
    """The range as written, of a repo that could not be read."""
    wanted = found.entry.range
    if wanted is None or isinstance(wanted, str):
        return wanted
    return f"{wanted.get('base') or ''}..{wanted.get('head') or ''}"
