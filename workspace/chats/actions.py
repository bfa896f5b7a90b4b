"""Operations on chats: create, send, rename, archive, list.

Provenance and the spawn limit are decided here, once, at creation, from the identity of the caller;
never from what an agent says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.utils.module_loading import import_string

from config.errors import Conflict, Invalid, Problem
from config.storage import locks
from workspace import ids
from workspace.chats import files, index, titles
from workspace.chats.files import ChatRecord
from workspace.chats.turns import queue, repeating
from workspace.engines import select
from workspace.models import Run, Turn
from workspace.projects import schema, store
from workspace.projects.project import CHANGELOG, CHARACTERS_PER_TOKEN, OVERVIEW, Project
from workspace.worktrees import leaving, making
from workspace.worktrees.leaving import WorktreeLeft


class Sender(Protocol):
    """What these operations need to know about their caller (access/principals.py)."""

    @property
    def kind(self) -> str: ...
    @property
    def client(self) -> str: ...
    @property
    def clients(self) -> tuple[str, ...]: ...
    @property
    def chain(self) -> tuple[str, ...]: ...
    @property
    def spawn_cap(self) -> int | None: ...
    @property
    def mode_cap(self) -> str | None: ...
    def sender(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Started:
    """A chat and the state of its first message; without one `turn` is None and `state` ""."""

    chat: ChatRecord
    turn: Turn | None = None
    state: str = ""
    position: int = 0
    repeated: bool = False  # the message had already arrived under the same key


@dataclass(frozen=True, slots=True)
class Archived:
    """Whether the flag changed, and what became of the chat's worktree if it has one. `problem`:
    why the worktree could not be restored."""

    changed: bool
    left: WorktreeLeft | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Firing:
    """What a trigger's firing decides about the chat it makes and its turn."""

    trigger: str
    origin: str  # scheduled or hook
    sender: Mapping[str, Any]
    client: str = ""
    clients: tuple[str, ...] = ()  # whose scopes bound the turn
    chain: tuple[str, ...] = ()  # the triggers whose firings led to it, its own last
    message: str | None = None  # the prompt, preceded by the event line
    spawn_limit: int | None = None
    tools: list[str] | None = None
    mode: str | None = None
    network: str = ""  # at most; the project's when blank
    mode_cap: str | None = None
    max_turns: int | None = None
    waits: bool = False  # its questions wait for a person, instead of being denied
    run: Run | None = None
    event: Mapping[str, Any] | None = None
    archived: bool = False


def create(
    *,
    principal: Sender,
    project: Project,
    prompt: str | None = None,
    name: str | None = None,
    model: str | None = None,
    preload_context: bool = False,
    mode: str | None = None,
    on_ask: str | None = None,
    worktree: bool = False,
    key: str = "",
) -> Started:
    """Create a chat, with a first message when there is a prompt. With `worktree` its turns work in
    a worktree of their own, on a branch named after it. The same `key` gives the same chat."""
    text = None if prompt is None else queue.clean_prompt(prompt)
    model = check_model(model)
    fields = provenance(principal, project) | {"permission_mode": check_mode(project, mode)}
    fields |= {"name": check_name(name), "worktree": worktree}
    if key := queue.clean_key(key):
        session_id = ids.of_key(key, project.slug, queue.whose(principal.sender()))
        record = _once(project, text, session_id, **fields)
    else:
        record = _make(project, text, ids.session_id(), **fields)
    if text is None:
        return Started(record)
    with first_message(project, record):
        queued = send(
            principal=principal,
            project=project,
            session_id=record.id,
            prompt=text,
            model=model,
            message=_with_documents(project, text) if preload_context else None,
            on_ask=on_ask,
            key=key,
        )
    return Started(record, queued.turn, queued.state, queued.position, queued.repeated)


@contextmanager
def first_message(project: Project, record: ChatRecord) -> Iterator[None]:
    """Remove the new chat if the database refuses its first message: the client gets the error and
    sends it again. Keep the chat if it has a worktree or may already have a turn."""
    try:
        yield
    except (OperationalError, InterfaceError):
        with suppress(OperationalError, InterfaceError):
            if not record.worktree and not Turn.objects.filter(chat=record.id).exists():
                files.unmake(project, record.id)
        raise


def open_for(firing: Firing, *, project: Project, prompt: str, model: str = "") -> ChatRecord:
    """Create the chat of a firing, named after the prompt that `fire` will send; check both."""
    check_model(model)
    return _make(
        project,
        queue.clean_prompt(prompt, most=queue.FIRED_MAX),
        ids.session_id(),
        origin=firing.origin,
        trigger=firing.trigger,
        client=firing.client,
        spawn_limit=spawn_limit(project, None, firing.spawn_limit),
        archived=firing.archived,
        archived_at=files.now() if firing.archived else "",
    )


def _once(project: Project, prompt: str | None, session_id: str, **fields: Any) -> ChatRecord:
    """Return the chat of this id, creating it if needed. Conflict if it existed and was deleted."""
    with locks.lock(f"chat {session_id}"):
        if files.exists(project.slug, session_id):
            return files.read(project, session_id)
        if Turn.objects.filter(chat=session_id).exists():
            text = "the chat started with this Idempotency-Key is deleted; send another key"
            raise Conflict(text, code="key_reused")
        return _make(project, prompt, session_id, **fields)


def _make(
    project: Project, prompt: str | None, session_id: str, *, worktree: bool = False, **fields: Any
) -> ChatRecord:
    store.sound(project)
    if prompt is not None:
        connection.ensure_connection()  # no chat without a database: its message needs a row
    record = ChatRecord(id=session_id, project=project.slug, created=files.now(), **fields)
    if worktree:
        record = in_worktree(project, record, record.name or titles.title(prompt or ""))
    else:
        record = files.create(project, record)
    if prompt is None:
        index.get(project, record.id)
    else:
        index.suggest_title(project, record.id, prompt)
    return record


def in_worktree(
    project: Project, record: ChatRecord, words: str, *, start: str = "HEAD"
) -> ChatRecord:
    """Create a worktree and write the new record that names it: both or neither."""
    with making.new_tree(project, record.id, words, start=start) as tree:
        made = files.create(project, record.with_changes(worktree=tree.wire()))
    review: Callable[[str, Path], None] = import_string(settings.SVC_UNDER_REVIEW)
    review(project.slug, tree.repository)
    return made


def provenance(principal: Sender, project: Project) -> dict[str, Any]:
    """Origin, depth, parent, client and spawn limit: docs/design/workspace.md#provenance."""
    found: dict[str, Any] = {"spawn_limit": spawn_limit(project, principal.spawn_cap)}
    if principal.kind == "agent":
        here = principal.sender()
        parent = {"project": here["project"], "sessionId": here["sessionId"]}
        depth = depth_of(principal) + 1
        return found | {
            "origin": "spawned",
            "depth": depth,
            "parent": parent,
            "client": principal.client,
        }
    if principal.kind == "client":
        return found | {"origin": "spawned", "depth": 1, "client": principal.client}
    return found


def depth_of(principal: Sender) -> int:
    """Spawn depth of the caller's own chat; only a running turn has one, all others have 0."""
    return int(getattr(principal, "depth", 0))


def spawn_limit(project: Project, cap: int | None, asked: int | None = None) -> int:
    """The limit for a new chat: the requested one or the project's, at most the starter's cap."""
    limit = project.max_spawn_depth if asked is None else asked
    return limit if cap is None else max(0, min(limit, cap))


def send(
    *,
    principal: Sender,
    project: Project,
    session_id: str,
    prompt: str,
    model: str | None = None,
    message: str | None = None,
    on_ask: str | None = None,
    key: str = "",
) -> queue.Queued:
    """Put a message of this caller into the chat's queue. `on_ask`: deny or wait, for the questions
    of a turn that is not attended. A repeated `key` returns the message sent before."""
    return queue.send(
        project=project,
        chat=session_id,
        prompt=prompt,
        message=message,
        model=check_model(model),
        waits=on_ask == "wait",
        key=key,
        **_by(principal, files.read(project, session_id)),
    )


def again(*, principal: Sender, project: Project, session_id: str, turn: str) -> queue.Queued:
    """Run a finished turn once more, in the name of this caller."""
    return repeating.again(
        project=project,
        chat=session_id,
        turn=turn,
        **_by(principal, files.read(project, session_id)),
    )


def _by(principal: Sender, record: ChatRecord) -> dict[str, Any]:
    """The sender of the message and the limits that follow from it."""
    cap = principal.spawn_cap
    return {
        "sender": principal.sender(),
        "client": principal.client,
        "clients": principal.clients,
        "chain": principal.chain,
        "mode_cap": principal.mode_cap,
        "spawn_limit": record.spawn_limit if cap is None else min(record.spawn_limit, cap),
    }


def fire(
    *, project: Project, chat: str, prompt: str, model: str = "", firing: Firing
) -> queue.Queued:
    """Put a firing's message into a chat: a new one, or the one that `session: resume` owns."""
    return queue.send(
        project=project,
        chat=chat,
        prompt=prompt,
        model=model,
        message=firing.message,
        sender=firing.sender,
        client=firing.client,
        clients=firing.clients,
        chain=firing.chain,
        spawn_limit=firing.spawn_limit,
        tools=firing.tools,
        mode=firing.mode,
        network=firing.network,
        mode_cap=firing.mode_cap,
        max_turns=firing.max_turns,
        waits=firing.waits,
        run=firing.run,
        event=firing.event,
        most=queue.FIRED_MAX,
    )


def rename(*, project: Project, session_id: str, name: str | None) -> ChatRecord:
    """Set the chat's name; None restores the automatic one."""
    store.sound(project)
    return files.update(project, session_id, name=check_name(name) or None)[0]


def set_mode(*, project: Project, session_id: str, mode: str) -> ChatRecord:
    """Set the permission mode of the chat's next messages; blank = the project's."""
    store.sound(project)
    return files.update(project, session_id, permissionMode=mode or None)[0]


def archive(
    *,
    principal: Sender,
    project: Project,
    session_id: str,
    archived: bool,
    on_archive: Callable[[ChatRecord, Sender], None] | None = None,
) -> Archived:
    """Set the archived flag. `on_archive` is called only if the chat was not archived before. A
    clean worktree is removed with it, and restored when the chat is unarchived."""
    store.sound(project)
    record, changed = files.set_archived(project, session_id, archived=archived)
    left = leaving.leave(record) if changed and archived else None
    problem = leaving.come_back(project, record) if changed and not archived else None
    if changed and archived and on_archive is not None:
        on_archive(record, principal)
    index.get(project, session_id)  # so that lists show the change at once
    return Archived(changed, left, problem)


def check_name(name: str | None, field: str = "name", most: int = 200) -> str:
    """Return the name: one line of at most 200 characters. None and blank = no name of its own."""
    try:
        return schema.line(most=most)(name or "")
    except schema.Unfit as error:
        raise Invalid([Problem(field, str(error), '"Fix the build"')]) from None


def check_model(model: str | None) -> str:
    """Return the model word. Invalid if its engine has a closed catalogue that lacks it."""
    try:
        word = schema.model(model or "")
    except schema.Unfit as error:
        raise Invalid([Problem("model", str(error), '"runbook"')]) from None
    valid = select.instead_of(word)
    if valid:
        fault = select.agent_fault(word)
        said = f'model "{word}" cannot run now: {fault}' if fault else f'unknown model "{word}"'
        raise Invalid(f"{said} (valid: {', '.join(valid)}).")
    return word


def check_mode(project: Project, mode: str | None) -> str:
    """Return the permission mode. Invalid if it exceeds the project's; blank = the project's."""
    most = project.permission_mode
    if mode and schema.rights(mode) > schema.rights(most):
        reason = f"the project allows {most} at most; its settings can raise that"
        raise Invalid([Problem("permissionMode", reason, f'"{most}"')])
    return mode or ""


def _with_documents(project: Project, prompt: str) -> str:
    """The prompt after the curated documents that exist, each cut to its budget."""
    budget = project.effective("curation")
    blocks = []
    for name, key in ((OVERVIEW, "overviewMaxTokens"), (CHANGELOG, "changelogMaxTokens")):
        text = (store.document_text(project, name) or "").replace("\0", "\ufffd")
        if text:
            blocks.append(f"## {name}\n\n{text[: budget[key] * CHARACTERS_PER_TOKEN].strip()}\n")
    if not blocks:
        return prompt
    head = "<project-context>\nCurated documents of this project, for context only.\n\n"
    room = queue.FIRED_MAX - len(prompt) - len(head) - 40
    return f"{head}{chr(10).join(blocks)[: max(0, room)]}\n</project-context>\n\n{prompt}"
