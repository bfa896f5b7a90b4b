"""The note that a person writes on a stack, kept in project.yaml."""

from __future__ import annotations

from typing import Any, TypedDict

from config.errors import Conflict, NotFound, printable
from config.jsonio import text_or_null
from review import events, projects
from review.projects import UNSET
from review.stacks import repo as repos
from review.stacks.values import Stack


class StackNote(TypedDict):
    n: int
    title: str | None
    description: str | None


def set_note(
    project: str,
    repo: str,
    n: str,
    *,
    description: Any = UNSET,
    title: Any = UNSET,
    was: Any = UNSET,
) -> StackNote:
    """Set the note of a stack; None or blank removes it. If given, `title` must be the stack's
    current title, and `was` its current note.

    NotFound for an unknown stack, Invalid for a value that is not text, Conflict for another title
    or note and for the stack of a chat's branch.
    """
    before = _stack(project, repo, n)
    if before.branch:
        raise Conflict(f"Stack {n} is the branch {before.branch} of a chat: it has no note")
    guard = {} if title is UNSET else {"title": text_or_null("title", title)}
    projects.set_stack_note(
        projects.get(project),
        repo,
        before.n,
        [(one.n, one.title, one.entry_index) for one in _stacks(project, repo)],
        description=text_or_null("description", description),
        was=was,
        **guard,
    )
    if (after := _stack(project, repo, n)).description != before.description:
        events.project(project, "stack")
    return {"n": after.n, "title": after.title, "description": after.description}


def _stacks(slug: str, name: str) -> tuple[Stack, ...]:
    project = projects.get(slug)
    return repos.load(project, projects.repo(project, name)).stacks


def _stack(slug: str, name: str, n: str) -> Stack:
    for one in _stacks(slug, name):
        if str(one.n) == n:
            return one
    raise NotFound(f"No such stack: {printable(n, 20)}")
