"""Asking an agent about threads: the message, where it may go, and sending it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from config.errors import Conflict, Invalid, SvcError
from config.storage import opening
from config.web.asking import Desk, Sent, Wish
from review import events, reviewer
from review.files import times
from review.git.repository import LONGEST, Repository
from review.stacks import repo as repos
from review.stacks.asking import message as messages
from review.stacks.asking.chosen import Choice, OnCommit, find_threads
from review.threads import asking, commit_review
from review.threads.asked import Asked
from review.threads.asking import Chat

Desks = Callable[[Sequence[Path]], list[Desk]]
Send = Callable[..., Sent]
NAME = 80  # characters of a new chat's name


class Meant(TypedDict):
    """One of the threads that the message is about."""

    repo: str
    sha: str
    thread: str


class Suggested(TypedDict):
    """Where the last message about this stack went, or the only possible place."""

    project: str
    chat: str | None


class Offer(TypedDict):
    """The message as it would be sent, and the projects it can go to (`desks`); if there is none, a
    project that works in `folder` can be created."""

    message: str
    threads: list[Meant]
    desks: list[Desk]
    suggested: Suggested | None
    folder: str


class Unmarked(TypedDict):
    sha: str
    error: str


class Answer(Sent):
    """Where the message went. `unmarked`: commits whose review file could not record it."""

    threads: list[Meant]
    unmarked: list[Unmarked]


@dataclass(frozen=True, slots=True)
class Letter:
    """What a person sends: the message as they edited it (None = as offered), and where to.

    With `make`, it goes to a new project that works in the repository's folder."""

    message: str | None = None
    project: str | None = None
    chat: str | None = None
    make: bool = False


def offer(choice: Choice, desks: Desks) -> Offer:
    """What a person sees before anything is sent."""
    found = find_threads(choice)
    places = desks(_folders(found))
    return {
        "message": messages.message(found),
        "threads": _targets(found),
        "desks": places,
        "suggested": _suggest_chat(found, places),
        "folder": str(found[0].repo.entry.path),
    }


def ask(choice: Choice, letter: Letter, desks: Desks, send: Send) -> Answer:
    """Send the message, and note on each thread who was asked."""
    found = find_threads(choice)
    text = messages.message(found) if letter.message is None else letter.message
    at = times.now_exact()
    sent = send(_wish(found, letter, desks), text, name=_name(found))
    unmarked = list(_mark_asked(found, Chat(sent["project"], sent["chat"]), at))
    return {**sent, "threads": _targets(found), "unmarked": unmarked}


def letter(given: dict[str, Any]) -> Letter:
    """Read the letter from a request body. The message of Invalid names the field."""
    words = {name: given.get(name) for name in ("message", "project", "chat")}
    for name, value in words.items():
        if not isinstance(value, str | None):
            raise Invalid(f'"{name}" must be text')
    make = given.get("make")
    if not isinstance(make, bool | None):
        raise Invalid('"make" must be true or false')
    if words["chat"] and not words["project"]:
        raise Invalid('"project" is required with "chat"')
    return Letter(**words, make=bool(make))


def _wish(found: Sequence[OnCommit], letter: Letter, desks: Desks) -> Wish:
    if letter.project is not None:
        return Wish(letter.project, letter.chat)
    folder = found[0].repo.entry.path
    if letter.make:
        return Wish(folder=folder)
    places = desks(_folders(found))
    suggested = _suggest_chat(found, places)
    if suggested is not None:
        return Wish(suggested["project"], suggested["chat"])
    if places:
        slugs = ", ".join(one["project"] for one in places)
        raise Conflict(
            f'Several projects work there ({slugs}); say which as "project"', code="choose"
        )
    raise Conflict(
        f'No project works in {folder}; send "make": true to make one that does',
        code="no_project",
    )


def _suggest_chat(found: Sequence[OnCommit], places: Sequence[Desk]) -> Suggested | None:
    """The chat on whose branch these commits are, else the chat that was last asked about one of
    these stacks, if it can still be continued, else the only project there is. None otherwise."""
    branches = {stack.branch for one in found for stack in one.repo.stacks if stack.n == one.stack}
    for place in places:
        for chat in place["chats"]:
            if branches == {chat.get("branch", "")}:
                return {"project": place["project"], "chat": chat["id"]}
    open_chats = {(one["project"], chat["id"]) for one in places for chat in one["chats"]}
    asked = [
        one for one in _asked_before(found) if (one.project, one.chat) in open_chats and one.project
    ]
    if asked:
        last = max(asked, key=lambda one: times.exact(one.at))
        return {"project": last.project or "", "chat": last.chat}
    return {"project": places[0]["project"], "chat": None} if len(places) == 1 else None


def _asked_before(found: Sequence[OnCommit]) -> Iterator[Asked]:
    """Earlier questions to agents about these threads, or anywhere in these commits' stacks."""
    yield from (thread.asked for one in found for thread in one.threads if thread.asked)
    stacks = {(id(one.repo), one.stack): one.repo for one in found}
    for (_, stack), repo in stacks.items():
        for item in repo.items:
            if item.stack == stack:
                review = commit_review.of(repos.target(repo, item)).review
                yield from (one.asked for one in review.conversations if one.asked)


def _mark_asked(found: Sequence[OnCommit], chat: Chat, at: str) -> Iterator[Unmarked]:
    """Mark the threads as asked; yield the commits whose file cannot be written. The message has
    been sent at this point."""
    for one in found:
        slug, name, sha = one.repo.project.slug, one.repo.entry.name, one.target.stem
        head = one.repo.range.head_sha if one.repo.range else None
        tids = [thread.id for thread in one.threads]
        try:
            asking.mark_asked(one.target, tids, chat, by=reviewer.me().id, at=at, tip=head)
        except SvcError as error:
            yield {"sha": sha, "error": error.text}
        else:
            events.review(slug, name, sha)


def _folders(found: Sequence[OnCommit]) -> list[Path]:
    """Where these commits can be worked on: each repository and its other worktrees."""
    repositories = {one.target.repository.path: one.target.repository for one in found}
    folders = [path for one in repositories.values() for path in (one.path, *_worktrees(one))]
    return [path.resolve() for path in dict.fromkeys(folders)]


def _worktrees(repository: Repository) -> Iterator[Path]:
    """The main worktree and the linked ones, read from git's own files."""
    if repository.common_dir.name == ".git":
        yield repository.common_dir.parent
    with contextlib.suppress(OSError):
        for folder in sorted((repository.common_dir / "worktrees").iterdir()):
            with contextlib.suppress(OSError, UnicodeDecodeError):
                link = opening.contents(folder / "gitdir", limit=LONGEST).decode().strip()
                yield Path(link).parent


def _targets(found: Sequence[OnCommit]) -> list[Meant]:
    return [
        {"repo": one.repo.entry.name, "sha": one.target.stem, "thread": thread.id}
        for one in found
        for thread in one.threads
    ]


def _name(found: Sequence[OnCommit]) -> str:
    """The name of a new chat: the title of the commit it is about, or of the first of several."""
    title = " ".join(found[0].title.split())
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    return f"Review: {title[: NAME - len(more)]}{more}"
