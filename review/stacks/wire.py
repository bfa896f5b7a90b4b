"""Repos, stacks and commits as clients read them. Values in, plain dicts out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Annotated, NotRequired, TypedDict

from config.jsonio import clean
from review.git.commits import Commit
from review.stacks import values
from review.stacks.branches import Branch
from review.stacks.folding import offers
from review.stacks.prs.pr_files import Landed, ProposedRecord
from review.stacks.status import Github, Status
from review.stacks.values import Item
from review.threads.verdicts import Given

Counts = tuple[int, int, int, int]  # threads, resolved, unresolved, viewed

SHORT = 7


class Range(TypedDict):
    text: str | None
    base: str | None
    head: str | None
    base_sha: str | None
    head_sha: str | None


class Candidate(TypedDict):
    sha: str
    by: str


class Orphan(TypedDict):
    sha: str
    subject: str | None
    threads: int
    unresolved: int
    file: str | None
    candidates: list[Candidate]
    drafted: NotRequired[bool]
    reason: NotRequired[str]


class Stack(TypedDict):
    n: int
    title: str | None
    color: str
    description: str | None
    description_html: NotRequired[str]
    commits: list[str]
    warning: str | None
    weight: int
    follow_on: NotRequired[bool]
    branch: NotRequired[Annotated[str, "of the chat whose commits these are"]]
    chat: NotRequired[Annotated[str, "its address"]]
    fixups: NotRequired[int]  # number of commits that fold into these, if any


class Progress(TypedDict):
    threads: int
    resolved: int
    files: int
    viewed: int


class Diff(TypedDict):
    additions: int
    deletions: int
    files: int


class CommitItem(TypedDict):  # as the project detail lists it
    sha: str
    short: str
    subject: str
    author: str
    authored: str
    parents: list[str]
    additions: int
    deletions: int
    files: int
    position: int
    stack: int
    pr_title: str | None
    unresolved: int
    branch: Branch | None
    github: Github | None
    status: Status
    progress: Progress
    proposed: ProposedRecord | None
    verdicts: list[Given]
    landed: NotRequired[Landed | None]
    tip: NotRequired[str | None]
    parent: NotRequired[str | None]
    diff: NotRequired[Diff | None]


class Repo(TypedDict):
    name: str
    path: str
    range: Range
    trunk: str | None
    missing: bool
    errors: list[str]
    warnings: list[str]
    orphaned: list[Orphan]
    stacks: list[Stack]
    commits: list[CommitItem]
    folded: NotRequired[offers.LastFold]  # the fold that can be undone, if there is one


class Person(TypedDict):
    name: str
    email: str


class CommitStack(TypedDict):
    n: int
    title: str | None
    color: str
    position: int
    count: int


class Neighbour(TypedDict):
    repo: str
    sha: str
    short: str
    title: str


class CommitHead(TypedDict):
    """The first part of the commit detail; files, stack, neighbours and review are added to it."""

    sha: str
    short: str
    subject: str
    body: str
    author: Person
    authored: str
    committed: str
    parents: list[str]
    parent: str | None
    branch: Branch | None
    github: Github | None
    status: Status
    progress: Progress
    landed: Landed | None
    tip: str | None


def shorts(shas: Sequence[str]) -> dict[str, str]:
    """Each sha shortened so that it names only one of these, but to at least 7 characters."""
    ordered = sorted(shas)
    length = SHORT
    for one, other in itertools.pairwise(ordered):
        while one != other and one[:length] == other[:length]:
            length += 1
    return {sha: sha[:length] for sha in ordered}


def repo(found: values.Repo, commits: Iterator[CommitItem]) -> Repo:
    span, fixups = found.range, offers.fixups(found)
    record: Repo = {
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
        "orphaned": [orphan(one) for one in found.orphans],
        "stacks": [stack(one, fixups[one.n]) for one in found.stacks],
        "commits": list(commits),
    }
    folded = offers.last_fold(found)
    return record | {"folded": folded} if folded else record


def orphan(one: values.Orphan) -> Orphan:
    record: Orphan = {
        "sha": one.sha,
        "subject": one.subject,
        "threads": len(one.conversations),
        "unresolved": one.unresolved,
        "file": one.file,
        "candidates": candidates(one),
    }
    if one.drafted:
        record["drafted"] = True
    return record | {"reason": one.reason} if one.reason else record


def candidates(one: values.Orphan) -> list[Candidate]:
    return [{"sha": found.sha, "by": found.by} for found in one.candidates]


def stack(one: values.Stack, fixups: int = 0) -> Stack:
    record: Stack = {
        "n": one.n,
        "title": one.title,
        "color": one.color,
        "description": one.description,
        "commits": list(one.commits),
        "warning": one.warning,
        "weight": one.weight or 0,  # a repo that is shown was read with its counts
    }
    if one.branch:
        record["branch"] = one.branch
    if one.follow_on:
        record["follow_on"] = True
    if fixups:
        record["fixups"] = fixups
    return record


def item_record(
    item: Item, short: str, counts: Counts, verdicts: Sequence[Given] = ()
) -> CommitItem:
    commit = item.commit
    record: CommitItem = {
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
        "progress": progress(item.shown_commit, counts),
        "proposed": proposed_record(item),
        "verdicts": list(verdicts),
    }
    if item.landed:
        there = item.landed.commit
        record["landed"] = landed_record(item.landed)
        record["tip"] = there.sha if there else None
        record["parent"] = there.parent if there else None
        record["diff"] = _diff(there) if there else None
    return record


def proposed_record(item: Item) -> ProposedRecord | None:
    """The PR record of a gone commit that may have become this one; a person may take it over."""
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


def progress(shown: Commit, counts: Counts) -> Progress:
    threads, resolved, _, viewed = counts
    files = len(shown.files)
    return {"threads": threads, "resolved": resolved, "files": files, "viewed": viewed}


def landed_record(landing: values.Landing) -> Landed:
    return {"sha": landing.sha, "at": landing.at, "by": landing.by}


def commit(item: Item, short: str, counts: Counts) -> CommitHead:
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
        "progress": progress(item.shown_commit, counts),
        "landed": landed_record(item.landed) if item.landed else None,
        "tip": there.sha if there else None,
    }


def place(item: Item, stack: values.Stack) -> CommitStack:
    """The stack of a commit, with its position from the bottom."""
    return {
        "n": stack.n,
        "title": stack.title,
        "color": stack.color,
        "position": item.position,
        "count": len(stack.commits),
    }


def neighbour(found: values.Repo, item: Item, short: str) -> Neighbour:
    return {
        "repo": found.entry.name,
        "sha": item.commit.sha,
        "short": short,
        "title": clean(item.title),
    }


def _diff(commit: Commit) -> Diff:
    return {
        "additions": commit.additions,
        "deletions": commit.deletions,
        "files": len(commit.files),
    }


def _text(found: values.Repo) -> str | None:
    """The range as written, of a repo that could not be read."""
    wanted = found.entry.range
    if wanted is None or isinstance(wanted, str):
        return wanted
    return f"{wanted.get('base') or ''}..{wanted.get('head') or ''}"
