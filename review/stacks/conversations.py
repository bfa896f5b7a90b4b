"""Every thread of a project where it stands now, and what of its files cannot be read (15.15)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from config.kernel.jsonio import clean, visible
from review import files, projects
from review.reviews import records, shown, threads_text
from review.reviews.target import Target
from review.stacks import repo, states, unread, wire
from review.stacks.values import Item, Repo

Record = dict[str, Any]
NONE = "No threads.\n"


def conversations(
    slug: str, *, unresolved_only: bool = False, html: bool = False, mount: str = ""
) -> Record:
    """`{threads, orphaned, unreadable}` in the order of reading.

    Each thread as on its commit, with `repo`, `sha`, `short` and `title` of that. `orphaned`: the
    reviews no commit stands for, or whose repository cannot be read (`reason`), with their
    threads. `unreadable`: `{repo, sha, file, error}`.
    """
    found = _reviewed(slug)
    shape: dict[str, Any] = {"html": html, "mount": mount}
    return {
        "threads": [
            {**where, **thread}
            for one in found
            for where, target in _discussed(one, unresolved_only=unresolved_only)
            for thread in _threads(target, unresolved_only=unresolved_only, **shape)
        ],
        "orphaned": [
            {"repo": one.entry.name, **orphan.record}
            | {"threads": records.stranded(orphan.conversations, **shape)}
            for one in found
            for orphan in one.orphans
        ],
        "unreadable": [bad for one in found for bad in _unreadable(one)],
    }


def markdown(slug: str, *, unresolved_only: bool = False) -> str:
    """The threads of all commits as Markdown, commit by commit."""
    found = _reviewed(slug)
    told = [
        threads_text.markdown(target, unresolved_only=unresolved_only)
        for one in found
        for _where, target in _discussed(one, unresolved_only=unresolved_only)
    ]
    return "\n".join([*told, *map(_left_out, filter(_hidden, found))]) or NONE


def _hidden(one: Repo) -> bool:
    """Whether threads cannot be shown because the repository cannot be read."""
    return bool(one.errors and one.orphans)


def _left_out(one: Repo) -> str:
    threads = sum(len(orphan.conversations) for orphan in one.orphans)
    left = sum(orphan.unresolved for orphan in one.orphans)
    return (
        f"Repo {one.entry.name} cannot be read ({visible(clean(one.errors[0]))}): "
        f"{threads} threads, "
        f"{left} unresolved, are not shown.\n"
    )


def _reviewed(slug: str) -> list[Repo]:
    """The repos of the project of which there is any review file."""
    found = projects.get(slug)
    with_files = [entry for entry in found.repos if states.stems(slug, entry.name)]
    return [repo.load(found, entry) for entry in with_files]


def _items(one: Repo) -> Iterator[Item]:
    """Its commits stack by stack, bottom to top."""
    return (one.by_sha[sha] for stack in one.stacks for sha in stack.commits)


def _discussed(one: Repo, *, unresolved_only: bool = False) -> Iterator[tuple[Record, Target]]:
    """The commits with threads: where each is, and how reviews see it."""
    shorts = wire.shorts([item.commit.sha for item in one.items])
    for item in _items(one):
        target = repo.target(one, item)
        threads, resolved, _, _ = records.counts(target)
        if threads - (resolved if unresolved_only else 0):
            sha = item.commit.sha
            where = {"repo": one.entry.name, "sha": sha, "short": shorts[sha]}
            yield where | {"title": clean(item.title)}, target


def _threads(target: Target, **asked: Any) -> list[Record]:
    found: list[Record] = records.review(target, **asked)["threads"]
    return found


def _unreadable(one: Repo) -> Iterator[Record]:
    if one.errors:
        yield from unread.broken(one)
    for item in _items(one):
        yield from _broken(one, item)


def _broken(one: Repo, item: Item) -> Iterator[Record]:
    where = {"repo": one.entry.name, "sha": item.commit.sha}
    review = shown.shown(repo.target(one, item))
    if review.parse_error and review.file:
        yield where | {"file": str(review.file), "error": review.parse_error}
    if item.pr.parse_error and item.pr_source:
        slug, name = one.project.slug, one.entry.name
        stem = files.name_of(slug, "prs", name, item.pr_source) or item.pr_source
        file = files.path(slug, "prs", name, f"{stem}.yaml")
        yield where | {"file": str(file), "error": item.pr.parse_error}
