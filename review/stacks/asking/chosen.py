"""The threads that a person chose: one, or those of a commit, a stack, a repo or a project."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from config.errors import Invalid, NotFound, printable
from review import files, projects
from review.stacks import repo as repos
from review.stacks.values import Item, Repo, Stack
from review.stacks.worktree import reviewed
from review.threads import commit_review
from review.threads.schema import Thread
from review.threads.target import Target

MOST = 100  # threads of one message


@dataclass(frozen=True, slots=True)
class Choice:
    """A person's choice: fields left blank mean all. `threads` limits it to those threads."""

    project: str
    repo: str | None = None
    sha: str | None = None
    stack: int | None = None
    threads: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OnCommit:
    """The chosen threads of one commit, or of what is not committed (then in no stack)."""

    repo: Repo
    title: str
    stack: int | None
    target: Target
    threads: tuple[Thread, ...]


def find_threads(choice: Choice) -> list[OnCommit]:
    """The chosen threads, commit by commit, bottom to top. Resolved threads are included only if
    named. NotFound if a named thread is not there; Invalid if there is no thread or too many."""
    found = list(_choose(choice))
    missing = set(choice.threads) - {one.id for each in found for one in each.threads}
    if missing:
        raise NotFound(f"No such thread: {printable(min(missing))}")
    count = sum(len(one.threads) for one in found)
    if not count:
        raise Invalid("No open thread there: nothing to ask an agent about", code="nothing_open")
    if count > MOST:
        raise Invalid(
            f"{count} threads are too many for one message (at most {MOST}); ask about a stack or "
            "a commit",
            code="too_many",
        )
    return found


def _choose(choice: Choice) -> Iterator[OnCommit]:
    for one in _repos(choice):
        for title, stack, target in _places(one, choice):
            threads = tuple(
                thread
                for thread in commit_review.of(target).review.conversations
                if (thread.id in choice.threads if choice.threads else not thread.resolved)
            )
            if threads:
                yield OnCommit(one, title, stack, target, threads)


def _places(one: Repo, choice: Choice) -> Iterator[tuple[str, int | None, Target]]:
    """Yield each chosen commit, then what is not committed."""
    left = reviewed.find_discussed(one)  # first, so that commits take over their threads
    if choice.sha != files.WORKTREE:
        for item in _items(one, choice):
            yield item.title, item.stack, repos.target(one, item)
    if left and (choice.sha == files.WORKTREE or (choice.sha is None and choice.stack is None)):
        yield reviewed.TITLE, None, left


def _repos(choice: Choice) -> Sequence[Repo]:
    found = projects.get(choice.project)
    if choice.repo is not None:
        return [repos.load(found, projects.repo(found, choice.repo))]
    if choice.sha is not None or choice.stack is not None:
        raise Invalid('"repo" is required with "sha" and "stack"')
    return [repos.load(found, entry) for entry in found.repos if not entry.errors]


def _items(one: Repo, choice: Choice) -> Sequence[Item]:
    if choice.sha is not None:
        return [repos.find(one, choice.sha)]
    stacks = one.stacks if choice.stack is None else [_stack(one, choice.stack)]
    return [one.by_sha[sha] for stack in stacks for sha in stack.commits]


def _stack(one: Repo, n: int) -> Stack:
    found = next((stack for stack in one.stacks if stack.n == n), None)
    if found is None:
        raise NotFound(f"No such stack: {n}")
    return found
