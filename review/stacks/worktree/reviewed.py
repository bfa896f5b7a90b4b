"""Commits and what is not committed, for code that handles both."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from config.errors import Invalid, SvcError
from config.git.command import GitError
from review import files, projects
from review.stacks import repo as repos
from review.stacks.values import Orphan, Repo
from review.stacks.worktree import looks, taking_over
from review.threads import commit_review, reading, schema
from review.threads.target import Target

log = logging.getLogger(__name__)

TITLE = "Not committed"


def at(project: str, repo: str, sha: str) -> Target:
    """A commit, or what is not committed, as reviews see it; commits first take over threads."""
    if sha == files.WORKTREE:
        return taking_over.settled_target(project, repo)
    taking_over.settle(project, repo)
    return repos.target_at(project, repo, sha)


def check_look(target: Target, look: Any, paths: Iterable[Any]) -> None:
    """Conflict if HEAD or one of these files has changed since `look`: a line number may mean
    another line then. Invalid if `look` is given for a commit."""
    if look is None:
        return
    if not target.uncommitted:
        raise Invalid(f'"look" belongs to {files.WORKTREE}; leave it out for a commit')
    differ = looks.by_name(target.shown_commit.files)
    names = [path for path in paths if isinstance(path, str)]
    seen = [differ[name] for name in names if name in differ]
    gone = [name for name in names if name not in differ]
    looks.refuse_changed(target.repository, target.shown_commit, look, seen, gone)


def having(project: str, repo: str, sha: str, thread: str) -> Target:
    """Like `at`, for a thread: if a commit has taken it over, the target is that commit."""
    target = at(project, repo, sha)
    if target.uncommitted and not _has(target, thread):
        found, names = repos.look_up_repo(project, repo), files.names(project, "reviews", repo)
        for item in found.items:
            there = repos.target(found, item)
            if item.commit.sha.startswith(tuple(names)) and _has(there, thread):
                return there
    return target


def _has(target: Target, thread: str) -> bool:
    return any(one.id == thread for one in commit_review.of(target).review.conversations)


def find_discussed(repo: Repo, *, unresolved_only: bool = False) -> Target | None:
    """What is not committed in that repo, if it has a thread; None also if it cannot be looked
    at."""
    slug, name = repo.project.slug, repo.entry.name
    if repo.errors or not read_threads(slug, name, unresolved_only=unresolved_only):
        return None
    try:
        target = taking_over.settled_target(slug, name)
    except (SvcError, GitError) as error:
        log.info("what is not committed is not seen", extra={"repo": name, "why": str(error)})
        return None
    return target if read_threads(slug, name, unresolved_only=unresolved_only) else None


def mark(project: str) -> str:
    """A value that changes with every look that threads are placed on; "" without any."""
    found = projects.get(project)
    loaded = (
        repos.load(found, entry) for entry in found.repos if read_threads(project, entry.name)
    )
    seen = [target.shown_commit.sha for one in loaded if (target := find_discussed(one))]
    return " ".join(seen)


def list_stranded(repo: Repo) -> list[Orphan]:
    """The threads on what is not committed of a repo that cannot be read, as in their file."""
    slug, name = repo.project.slug, repo.entry.name
    threads = read_threads(slug, name) if repo.errors else ()
    if not threads:
        return []
    file = files.path(slug, "reviews", name, f"{files.WORKTREE}.yaml")
    return [Orphan(files.WORKTREE, TITLE, str(file), threads, reason=repo.errors[0])]


def read_threads(
    slug: str, repo: str, *, unresolved_only: bool = False
) -> tuple[schema.Thread, ...]:
    """The threads in the file of the work tree, wherever they are placed."""
    if not files.has_worktree(slug, repo):
        return ()
    found = files.read(slug, "reviews", repo, f"{files.WORKTREE}.yaml")
    etag = found.etag if found and not found.error else ""
    threads = reading.parse_once(found.data if found else None, etag, files.WORKTREE).conversations
    return tuple(one for one in threads if not (unresolved_only and one.resolved))
