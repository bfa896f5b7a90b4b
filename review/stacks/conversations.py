"""Every thread of a project at its current place, and the files that cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NotRequired, TypedDict

from config.jsonio import clean, visible
from review import files, projects, reviewer
from review.stacks import repo, states, unread, wire
from review.stacks.unread import Unreadable
from review.stacks.values import Item, Orphan, Repo
from review.stacks.worktree import reviewed
from review.threads import commit_review, drafts, export, records
from review.threads.target import Target

NONE = "No threads.\n"


class Where(TypedDict):
    repo: str
    sha: str
    short: str
    title: str


class ProjectThread(Where, records.Thread):
    pass


class StrandedReview(TypedDict):
    """`drafts`: the comments there that the requesting person has not sent."""

    repo: str
    sha: str
    subject: str | None
    unresolved: int
    file: str
    reason: NotRequired[str]
    candidates: list[wire.Candidate]
    threads: list[records.Thread]
    drafts: list[records.Thread]


class Conversations(TypedDict):
    threads: list[ProjectThread]
    more: int
    orphaned: list[StrandedReview]
    unreadable: list[Unreadable]


Discussed = tuple[Where, Target, int]  # place, target, number of threads


def conversations(
    project: str,
    *,
    unresolved_only: bool = False,
    limit: int | None = None,
    html: bool = False,
    mount: str = "",
    drafts_of: str | None = None,
) -> Conversations:
    """All threads of the project, in reading order.

    Each thread is as shown on its commit, with the place of the commit. `more` counts the threads
    left out after the first `limit`. `orphaned`: the reviews that no commit stands for, or whose
    repository cannot be read (`reason`), with their threads and the drafts of the person
    `drafts_of`.
    """
    found = _reviewed_repos(project)
    threads: list[ProjectThread] = []
    count = 0
    for where, target, wanted in _everywhere(found, unresolved_only=unresolved_only):
        count += wanted
        left = None if limit is None else limit - len(threads)
        if left != 0:
            said = records.review(
                target, html=html, mount=mount, unresolved_only=unresolved_only, limit=left
            )
            threads += [{**where, **thread} for thread in said["threads"]]
    return {
        "threads": threads,
        "more": count - len(threads),
        "orphaned": [
            _stranded_record(one, orphan, drafts_of, html=html, mount=mount)
            for one in found
            for orphan in _orphans(one)
        ],
        "unreadable": [bad for one in found for bad in _unreadable(one)],
    }


def unanswered_threads(project: str, repo: str = "") -> list[ProjectThread]:
    """The unresolved threads whose last comment is a person's and that no chat was asked to work
    on, in reading order; of one repo if it is named. NotFound for an unknown project or repo."""
    if repo:
        projects.repo(projects.get(project), repo)
    return [
        {**where, **thread}
        for one in _reviewed_repos(project)
        if not repo or one.entry.name == repo
        for where, target, _ in _iter_discussed(one, unresolved_only=True)
        for thread in records.review(target, unresolved_only=True)["threads"]
        if not reviewer.is_agent(thread["comments"][-1]["author"]) and thread["state"] != "asked"
    ]


def markdown(slug: str, *, unresolved_only: bool = False) -> str:
    """The threads of all commits as Markdown, commit by commit."""
    found = _reviewed_repos(slug)
    told = [
        export.markdown(target, unresolved_only=unresolved_only)
        for one in found
        for _where, target, _ in _iter_discussed(one, unresolved_only=unresolved_only)
    ]
    return "\n".join([*told, *map(_left_out, filter(_hidden, found))]) or NONE


def _orphans(one: Repo) -> list[Orphan]:
    return [*one.orphans, *reviewed.list_stranded(one)]


def _hidden(one: Repo) -> bool:
    """Whether threads cannot be shown because the repository cannot be read."""
    return bool(one.errors and _orphans(one))


def _left_out(one: Repo) -> str:
    orphans = _orphans(one)
    threads = sum(len(orphan.conversations) for orphan in orphans)
    left = sum(orphan.unresolved for orphan in orphans)
    return (
        f"Repo {one.entry.name} cannot be read ({visible(clean(one.errors[0]))}): "
        f"{threads} threads, "
        f"{left} unresolved, are not shown.\n"
    )


def _reviewed_repos(slug: str) -> list[Repo]:
    """The repos of the project that have any review file."""
    found = projects.get(slug)
    with_files = [
        entry
        for entry in found.repos
        if states.stems(slug, entry.name) or files.has_worktree(slug, entry.name)
    ]
    return [repo.load(found, entry) for entry in with_files]


def _items(one: Repo) -> Iterator[Item]:
    """The repo's commits, stack by stack, bottom to top."""
    return (one.by_sha[sha] for stack in one.stacks for sha in stack.commits)


def _everywhere(found: Iterable[Repo], *, unresolved_only: bool) -> Iterator[Discussed]:
    for one in found:
        yield from _iter_discussed(one, unresolved_only=unresolved_only)


def _iter_discussed(one: Repo, *, unresolved_only: bool = False) -> Iterator[Discussed]:
    """Yield the commits with threads, then what is not committed."""
    uncommitted = reviewed.find_discussed(
        one, unresolved_only=unresolved_only
    )  # lets commits take over
    shorts = wire.shorts([item.commit.sha for item in one.items])
    here = repo.reviewed_shas(one)
    for item in (item for item in _items(one) if item.commit.sha in here):
        target = repo.target(one, item)
        if count := _count(target, unresolved_only):
            sha = item.commit.sha
            title = clean(item.title)
            yield {
                "repo": one.entry.name, "sha": sha, "short": shorts[sha], "title": title,
            }, target, count  # fmt: skip
    if uncommitted is not None:
        sha = files.WORKTREE
        yield {
            "repo": one.entry.name, "sha": sha, "short": sha, "title": reviewed.TITLE,
        }, uncommitted, _count(uncommitted, unresolved_only)  # fmt: skip


def _count(target: Target, unresolved_only: bool) -> int:
    threads = commit_review.of(target).review.conversations
    return sum(not (unresolved_only and one.resolved) for one in threads)


def _stranded_record(
    one: Repo, orphan: Orphan, author: str | None, *, html: bool, mount: str
) -> StrandedReview:
    where = (one.project.slug, one.entry.name, orphan.drafted)
    mine = [draft.thread for draft in drafts.of_gone(*where, author)] if author else []
    record: StrandedReview = {
        "repo": one.entry.name,
        "sha": orphan.sha,
        "subject": orphan.subject,
        "unresolved": orphan.unresolved,
        "file": orphan.file,
        "candidates": wire.candidates(orphan),
        "threads": records.stranded_threads(orphan.conversations, html=html, mount=mount),
        "drafts": [
            thread | {"draft": True}
            for thread in records.stranded_threads(mine, html=html, mount=mount)
        ],
    }
    return record | {"reason": orphan.reason} if orphan.reason else record


def _unreadable(one: Repo) -> Iterator[Unreadable]:
    if one.errors:
        yield from unread.broken(one)
    here = repo.reviewed_shas(one)
    for item in _items(one):
        if item.commit.sha in here:
            yield from _broken(one, item)
        yield from _broken_record(one, item)
    slug, name = one.project.slug, one.entry.name
    found = files.read(slug, "reviews", name, f"{files.WORKTREE}.yaml")
    if found is not None and found.error:
        yield {
            "repo": name, "sha": files.WORKTREE, "file": str(found.path), "error": found.error,
        }  # fmt: skip


def _broken(one: Repo, item: Item) -> Iterator[Unreadable]:
    name, sha = one.entry.name, item.commit.sha
    review = commit_review.of(repo.target(one, item))
    if review.parse_error and review.file:
        yield {
            "repo": name, "sha": sha, "file": str(review.file), "error": review.parse_error,
        }  # fmt: skip


def _broken_record(one: Repo, item: Item) -> Iterator[Unreadable]:
    name, sha = one.entry.name, item.commit.sha
    if item.pr.parse_error and item.pr_source:
        slug = one.project.slug
        stem = files.name_of(slug, "prs", name, item.pr_source) or item.pr_source
        file = files.path(slug, "prs", name, f"{stem}.yaml")
        yield {"repo": name, "sha": sha, "file": str(file), "error": item.pr.parse_error}
