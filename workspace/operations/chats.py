"""The chat operations: what each name asks of the nouns (workspace.md 7.2, 7.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from config.kernel.errors import Invalid
from workspace import projects
from workspace.access.principals import Principal
from workspace.chats import chats, forks, index, listing, messages
from workspace.chats.chats import Started
from workspace.chats.forks import Failed
from workspace.chats.turns.queue import Queued
from workspace.models import Chat
from workspace.triggers import events

LISTED = 200
READ = 30


@dataclass(frozen=True, slots=True)
class ChatList:
    """A listing, and the one project it was asked for."""

    project: str | None
    found: listing.Listing


@dataclass(frozen=True, slots=True)
class Transcript:
    """The last lines of one chat."""

    chat: Chat
    lines: list[dict[str, Any]]
    total: int


@dataclass(frozen=True, slots=True)
class Archived:
    chat: Chat
    archived: bool
    changed: bool


@dataclass(frozen=True, slots=True)
class Sent:
    project: str
    session_id: str
    queued: Queued


@dataclass(frozen=True, slots=True)
class Forked:
    source: str
    started: Started


@dataclass(frozen=True, slots=True)
class Batch:
    source: str
    model: str | None
    outcomes: Sequence[Started | Failed]


def list_chats(
    principal: Principal,
    *,
    project: str | None = None,
    include_archived: bool = False,
    limit: int = LISTED,
) -> ChatList:
    """Chats of one project, or of all this caller reaches; newest first within a project."""
    every = [projects.get(project)] if project is not None else projects.all()
    reached = [one for one in every if principal.reaches(one.slug)]
    which: listing.Which = "all" if include_archived else "open"
    return ChatList(project, listing.listing(reached, which=which, limit=limit))


def read_chat(
    principal: Principal, *, project: str, session_id: str, limit: int = READ
) -> Transcript:
    """The last `limit` lines of a chat, oldest first."""
    found = projects.get(project)
    lines, total = messages.read_chat(found, session_id, limit=limit)
    return Transcript(index.get(found, session_id), lines, total)


def create_chat(
    principal: Principal,
    *,
    project: str,
    prompt: str | None = None,
    name: str | None = None,
    model: str | None = None,
    preload_context: bool = False,
) -> Started:
    """A new chat; over REST it may start empty."""
    return chats.create(
        principal=principal,
        project=projects.get(project),
        prompt=prompt,
        name=name,
        model=model,
        preload_context=preload_context,
    )


def fork_chat(
    principal: Principal,
    *,
    project: str,
    session_id: str,
    prompt: str | None = None,
    name: str | None = None,
    model: str | None = None,
    turn: str | None = None,
) -> Forked:
    """A new chat that begins with the finished turns of another, up to `turn` when it is given."""
    started = forks.fork(
        principal=principal,
        project=projects.get(project),
        session_id=session_id,
        prompt=prompt,
        name=name,
        model=model,
        turn=turn,
    )
    return Forked(session_id, started)


def send_message(
    principal: Principal, *, project: str, session_id: str, prompt: str, model: str | None = None
) -> Sent:
    """Put a message into the chat's queue; it starts at once when the chat is idle."""
    queued = chats.send(
        principal=principal,
        project=projects.get(project),
        session_id=session_id,
        prompt=prompt,
        model=model,
    )
    return Sent(project, session_id, queued)


def archive_chat(principal: Principal, *, project: str, session_id: str) -> Archived:
    """Set the archived flag; a real change fires onArchive triggers."""
    return _set_archived(principal, project, session_id, archived=True)


def unarchive_chat(principal: Principal, *, project: str, session_id: str) -> Archived:
    return _set_archived(principal, project, session_id, archived=False)


def _set_archived(
    principal: Principal, project: str, session_id: str, *, archived: bool
) -> Archived:
    found = projects.get(project)
    changed = chats.archive(
        principal=principal,
        project=found,
        session_id=session_id,
        archived=archived,
        on_archive=events.chat_archived,
    )
    return Archived(index.get(found, session_id), archived, changed)


def fork_chat_batch(
    principal: Principal,
    *,
    project: str,
    session_id: str,
    prompts: list[str],
    name_prefix: str | None = None,
    model: str | None = None,
) -> Batch:
    """One fork per prompt; only if all fail is the whole call an error."""
    outcomes = forks.batch(
        principal=principal,
        project=projects.get(project),
        session_id=session_id,
        prompts=prompts,
        name_prefix=name_prefix,
        model=model,
    )
    failed = [outcome for outcome in outcomes if isinstance(outcome, Failed)]
    if len(failed) == len(outcomes):
        raise Invalid(f"no fork was started: {failed[0].error}")
    return Batch(session_id, model, outcomes)
