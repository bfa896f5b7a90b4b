"""The chat operations: what each name asks of the nouns (workspace.md 7.2, 7.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from config.kernel.errors import Invalid
from workspace import projects
from workspace.access.principals import Principal
from workspace.chats import chats, forks, index, listing, messages
from workspace.chats.chats import Started
from workspace.chats.forks import Failed
from workspace.chats.turns.queue import Queued
from workspace.models import Chat, Turn
from workspace.triggers import events

LISTED = 50
READ = 30
LIVE = ("running", "queued", "held")


@dataclass(frozen=True, slots=True)
class ChatList:
    """A listing, the one project it was asked for, and what is live of all turns."""

    project: str | None
    found: listing.Listing
    running: set[str]
    waiting: Mapping[str, int]
    fields: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Transcript:
    """Some lines of one chat; `full`: with their whole texts."""

    chat: Chat
    lines: messages.Lines
    full: bool


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
    running: bool = False,
    before: str = "",
    after: str = "",
    limit: int = LISTED,
    fields: Sequence[str] = (),
    wait_seconds: int = 0,
) -> ChatList:
    """Chats of one project, or of all this caller reaches; newest first."""
    every = [projects.get(project)] if project is not None else projects.all()
    reached = [one for one in every if principal.reaches(one.slug)]
    which: listing.Which = "all" if include_archived else "open"
    # The live turns of the instance are few; naming hundreds of chats would cost more (S3).
    live = Turn.objects.filter(state__in=LIVE).order_by()
    states = list(live.values_list("chat", "state"))
    now = {chat for chat, state in states if state == "running"}
    waiting = Counter(chat for chat, state in states if state != "running")
    only = now | set(waiting) if running else None
    found = listing.listing(reached, which=which, limit=limit, before=before, only=only)
    return ChatList(project, found, now, waiting, fields)


def read_chat(
    principal: Principal,
    *,
    project: str,
    session_id: str,
    limit: int = READ,
    before: int | None = None,
    after: int | None = None,
    full: bool = False,
    wait_seconds: int = 0,
) -> Transcript:
    """The last `limit` lines of a chat, those before an offset, or the first after one."""
    if before is not None and after is not None:
        raise Invalid("send `before` or `after`, not both.")
    found = projects.get(project)
    lines = messages.read_chat(found, session_id, limit=limit, before=before, after=after)
    return Transcript(index.get(found, session_id), lines, full)


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
