"""What a running turn may do with the review of the repository that it works in.

Each function takes the turn's directory and returns plain values; the wall decides what it reaches.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypedDict

from django.conf import settings

from config.errors import Invalid, NotFound, TooLarge
from config.jsonio import clean
from review.git import objects
from review.git.commits import Commit, shown_path
from review.git.diffs import diff
from review.stacks import changes
from review.stacks import repo as repos
from review.stacks.asking import wall
from review.stacks.asking.since import since
from review.stacks.asking.states import STATES
from review.stacks.asking.wall import ThreadOnCommit
from review.stacks.values import Item, Repo
from review.threads import asked, asking, records

MOST_DIFF = 400_000  # characters of one answer
LISTED, SAID = 100, 300  # threads, and characters of the last comment of each


class CommitRef(TypedDict):
    """The commit that something belongs to; WORKTREE for what is not committed."""

    project: str
    repo: str
    commit: str
    title: str


class Row(CommitRef):
    """A thread in a list."""

    thread: str
    state: asked.State
    path: str | None
    line: int | None
    said_last: str
    by: str | None


@wall.within
def list_threads(
    directory: Path, *, commit: str | None, state: str, project: str | None
) -> dict[str, Any]:
    """The threads of the repository or of one commit, at most a hundred."""
    if state not in STATES:
        raise Invalid(f'"state" is one of {", ".join(STATES)}')
    found = (
        wall.of_commit(directory, commit, project)
        if commit
        else list(wall.iter_threads(directory, project))
    )
    wanted = [one for one in found if _in_state(one, state)]
    rows = [_row(one) for one in wanted[:LISTED]]
    return {"threads": rows, "more": max(0, len(wanted) - LISTED)}


@wall.within
def read_thread(directory: Path, *, thread: str, project: str | None) -> dict[str, Any]:
    """One thread with the lines it is about, and what changed in them since an agent was asked."""
    found = wall.thread(directory, thread, project)
    record: dict[str, Any] = {
        **_place(found.repo, found.target.stem, found.title),
        **records.thread(found.target, thread),
    }
    if found.thread.asked is None:
        return record
    slug, repo = found.repo.project.slug, found.repo.entry.name
    try:
        return record | {"since_asked": since(slug, repo, found.target.stem, thread)}
    except NotFound:  # the commit that was asked about is gone
        return record


@wall.within
def read_diff(
    directory: Path, *, commit: str, path: str | None, project: str | None
) -> dict[str, Any]:
    """A commit's message and its change as a unified diff, or that of one file."""
    one, item = wall.commit(directory, commit, project)
    assert one.repository is not None
    shown = item.shown_commit
    data = diff.commit_patch(
        one.repository, shown, _find_paths(shown, path) if path is not None else ()
    )
    if len(data) > MOST_DIFF:
        raise TooLarge(
            f"The diff is larger than {MOST_DIFF:,} characters; read one file with `path`"
        )
    return {
        **_place(one, item.commit.sha, item.title),
        "message": clean(f"{shown.subject}\n\n{shown.body}".strip()),
        "diff": clean(objects.text(data)[0]),
    }


def _find_paths(commit: Commit, path: str) -> list[str]:
    """The paths of a file before and after: given only one, git would not see the rename."""
    for names in ((file.path, file.old_path) for file in commit.files):
        named = [name for name in names if name]
        if path in (*named, *map(shown_path, named)):
            return named
    raise NotFound('"path" is not a file changed by this commit')


@wall.within
def list_stacks(directory: Path, *, project: str | None) -> dict[str, Any]:
    """The stacks of the repository, each with its commits bottom to top."""
    return {
        "stacks": [
            {
                "project": one.project.slug,
                "repo": one.entry.name,
                "path": str(one.entry.path),
                "title": stack.title,
                "commits": [_commit_row(one, one.by_sha[sha]) for sha in stack.commits],
            }
            for one in wall.load_repos(directory, project)
            for stack in one.stacks
        ]
    }


@wall.within
def reply(
    directory: Path, *, thread: str, body: str, author: str, project: str | None
) -> dict[str, Any]:
    """Answer a thread."""
    found = wall.thread(directory, thread, project)
    changes.reply(*_names(found), thread, me=author, body=body)
    return _now(directory, found)


@wall.within
def propose_resolved(
    directory: Path, *, thread: str, author: str, project: str | None
) -> dict[str, Any]:
    """Propose a thread as done, or resolve it at once if the project lets agents do that."""
    found = wall.thread(directory, thread, project)
    settle = changes.resolve_thread if _agents_resolve(found) else changes.propose_resolved
    settle(*_names(found), thread, me=author)
    return _now(directory, found)


def _agents_resolve(found: ThreadOnCommit) -> bool:
    said = found.repo.project.agents_resolve
    return bool(settings.SVC.agents_resolve) if said is None else said


def _in_state(found: ThreadOnCommit, state: str) -> bool:
    is_now = asking.state(found.thread)
    return state in ("all", is_now) or (state == "unresolved" and is_now != "resolved")


def _row(found: ThreadOnCommit) -> Row:
    thread, last = found.thread, found.thread.comments[-1]
    return {
        "thread": thread.id,
        "state": asking.state(thread),
        **_place(found.repo, found.target.stem, found.title),
        "path": thread.path,
        "line": thread.line,
        "said_last": clean(last.body[:SAID]),
        "by": last.author,
    }


def _place(one: Repo, sha: str, title: str) -> CommitRef:
    return {
        "project": one.project.slug,
        "repo": one.entry.name,
        "commit": sha,
        "title": clean(title),
    }


def _commit_row(one: Repo, item: Item) -> dict[str, Any]:
    threads, resolved, *_ = records.counts(repos.target(one, item))
    title = {"commit": item.commit.sha, "title": clean(item.title)}
    return {**title, "status": item.status, "threads": threads, "unresolved": threads - resolved}


def _names(found: ThreadOnCommit) -> tuple[str, str, str]:
    return found.repo.project.slug, found.repo.entry.name, found.target.stem


def _now(directory: Path, found: ThreadOnCommit) -> dict[str, Any]:
    """The thread after a write."""
    again = wall.thread(directory, found.thread.id, found.repo.project.slug)
    return {
        "thread": again.thread.id,
        "state": asking.state(again.thread),
        **_place(again.repo, again.target.stem, again.title),
    }
