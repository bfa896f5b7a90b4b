"""Forks: a chat that starts as a copy of another chat's finished turns.

The bytes are copied, so every id, offset and seq of an inherited line equals the source's. See
docs/design/workspace.md#forks.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from config.errors import Conflict, Invalid, SvcError
from config.storage import opening
from config.storage.files import PREFIX, writing
from workspace import ids
from workspace.chats import actions, files, index, transcript
from workspace.chats.actions import Sender, Started
from workspace.chats.files import ChatRecord
from workspace.chats.turns import queue
from workspace.models import Chat
from workspace.projects import store
from workspace.projects.project import Project
from workspace.worktrees import place

MOST_FORKS = 20
PIECE = 1 << 20
FIRED = ("scheduled", "hook")


@dataclass(frozen=True, slots=True)
class FailedPrompt:
    """A prompt of a batch that did not start a chat, and why."""

    prompt: str
    error: str


def fork(
    *,
    principal: Sender,
    project: Project,
    session_id: str,
    prompt: str | None = None,
    name: str | None = None,
    model: str | None = None,
    turn: str | None = None,
) -> Started:
    """Create a chat with the source's finished turns; with a prompt it continues from there.

    `turn` is the last one to copy. Conflict if the chat has no such finished turn.
    """
    text = None if prompt is None else queue.clean_prompt(prompt)
    word = actions.check_model(model)
    own_name = actions.check_name(name)
    shown = index.get(store.sound(project), session_id)
    source = files.sound(index.record(shown))
    record = ChatRecord(
        id=ids.session_id(),
        project=project.slug,
        created=files.now(),
        name=own_name or f"Fork of {shown.name}"[:200],
        engine=source.engine,
        model=source.model,
        permission_mode=source.permission_mode,
        **_provenance(principal, project, source),
    )
    record = _copy(project, source, shown, record, turn)
    if text is None:
        return Started(record)
    queued = actions.send(
        principal=principal,
        project=project,
        session_id=record.id,
        prompt=text,
        message=_first_message(shown, text),
        model=word,
    )
    return Started(record, queued.turn, queued.state, queued.position)


def _first_message(source: Chat, prompt: str) -> str:
    name = " ".join(source.name.split())
    return (
        f'This chat is a fork of "{name}" ({source.id}); the messages above are inherited '
        f"history. Your task now:\n\n{prompt}"
    )


def _provenance(principal: Sender, project: Project, source: ChatRecord) -> dict[str, Any]:
    """The parent, origin, depth, client and spawn limit of a fork, depending on who makes it."""
    limit = actions.spawn_limit(project, principal.spawn_cap)
    found: dict[str, Any] = {
        "parent": {"project": project.slug, "sessionId": source.id},
        "spawn_limit": min(limit, source.spawn_limit),
        "client": principal.client,
        "origin": "spawned",
    }
    if principal.kind == "agent":
        return found | {"depth": max(source.depth, actions.depth_of(principal) + 1)}
    if principal.kind == "client":
        return found | {"depth": max(1, source.depth)}
    origin = "human" if source.origin in FIRED else source.origin
    return found | {"depth": source.depth, "origin": origin}


def _copy(
    project: Project, source: ChatRecord, shown: Chat, record: ChatRecord, turn: str | None
) -> ChatRecord:
    """Write the transcript first and the record last: the fork appears only when it is complete."""
    path = str(files.transcript_path(project, source.id))
    offset, seq = transcript.last_turn_end(path, turn)
    if turn is not None and not offset:
        raise Conflict(f"turn {turn[:100]} is not a finished turn of this chat")
    origin = {"sessionId": source.id, "at": files.now(), "offset": offset, "seq": seq}
    if offset:
        target = files.transcript_path(project, record.id)
        with writing(target.name):
            copy_bytes(Path(path), target, offset)
    record = record.with_changes(forked_from=origin)
    with index.inheriting(project, shown, record.id):
        if tree := place.of(source):
            record = actions.in_worktree(project, record, record.name, start=tree.branch)
        else:
            files.create(project, record)
    return record


def copy_bytes(source: Path, target: Path, count: int) -> None:
    """Copy the first `count` bytes to a new file, which is synced before it gets its name."""
    draft = target.with_name(f"{PREFIX}{ids.ulid()}")
    try:
        with opening.reading(source, within=transcript.root(str(source)), buffering=0) as read:
            write = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            try:
                _copy_range(read.fileno(), write, count)
                os.fsync(write)
            finally:
                os.close(write)
        draft.rename(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


def _copy_range(source: int, target: int, count: int) -> None:
    """Share blocks if the file system can; else the kernel copies, or this process does."""
    done = 0
    while done < count:
        step = _copy_some(source, target, count - done)
        if step == 0:
            raise OSError("the source became shorter while it was copied")
        done += step


def _copy_some(source: int, target: int, most: int) -> int:
    if hasattr(os, "copy_file_range"):
        with suppress(OSError):  # some kernels, containers and file systems cannot
            return os.copy_file_range(source, target, most)
    return os.write(target, os.read(source, min(most, PIECE)))


def batch(
    *,
    principal: Sender,
    project: Project,
    session_id: str,
    prompts: list[str],
    name_prefix: str | None = None,
    model: str | None = None,
) -> list[Started | FailedPrompt]:
    """One fork per prompt. All are checked first; one that fails later is reported in its place."""
    checked = _check_batch(prompts)
    actions.check_model(model)
    prefix = actions.check_name(name_prefix, "name_prefix", 200 - len(f" {len(checked)}"))
    files.read(project, session_id)
    made: list[Started | FailedPrompt] = []
    for number, prompt in enumerate(checked, 1):
        try:
            made.append(
                fork(
                    principal=principal,
                    project=project,
                    session_id=session_id,
                    prompt=prompt,
                    name=f"{prefix} {number}" if prefix else None,
                    model=model,
                )
            )
        except SvcError as error:
            made.append(FailedPrompt(prompt, error.text))
        except OSError as error:
            made.append(FailedPrompt(prompt, f"the chat could not be copied: {error.strerror}"))
    return made


def _check_batch(prompts: list[str]) -> list[str]:
    if not prompts:
        raise Invalid("`prompts` is required (one prompt per line, or a JSON array of strings).")
    if len(prompts) > MOST_FORKS:
        raise Invalid(
            f"`prompts` holds {len(prompts)} entries; at most {MOST_FORKS} forks per call."
        )
    for number, prompt in enumerate(prompts, 1):
        if not prompt.strip():
            raise Invalid(f"`prompts` entry {number} is empty.")
    return [queue.clean_prompt(prompt, "prompts") for prompt in prompts]
