"""Continue a session of Claude Code as a chat.

Its words become lines of the transcript, marked as imported. Claude Code's file is copied to where
the engine keeps its conversations, and the engine forks the copy. If it cannot, it gets the earlier
conversation as text, as with every conversation that it lost.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from django.conf import settings

from config.storage import opening
from config.storage.files import PREFIX, writing
from workspace import ids
from workspace.chats import actions, files, index, transcript
from workspace.chats.actions import Sender, Started
from workspace.chats.files import ChatRecord
from workspace.chats.sessions import claude_code, records
from workspace.chats.sessions.claude_code import Session
from workspace.chats.turns import queue
from workspace.engines import select
from workspace.projects import store
from workspace.projects.project import Project

PROGRAM = "claude-code"
ENGINE = "claude"
ORIGIN = "Begun in Claude Code {}, and continued here. What it keeps of it stays as it is."


def continue_here(
    *,
    principal: Sender,
    project: Project,
    session_id: str,
    prompt: str | None = None,
    name: str | None = None,
    model: str | None = None,
) -> Started:
    """A new chat with the session's history; a prompt continues it at once."""
    text = None if prompt is None else queue.clean_prompt(prompt)
    word = actions.check_model(model)
    session = claude_code.get(store.sound(project).working_dir, session_id)
    resumes = select.probe(ENGINE).available
    record = ChatRecord(
        id=ids.session_id(),
        project=project.slug,
        created=files.now(),
        name=actions.check_name(name) or session.title[:200],
        engine=ENGINE if resumes else "",
        engine_ref={ENGINE: {"session": session.id, "chat": ""}} if resumes else {},
        imported_from={"program": PROGRAM, "session": session.id, "at": files.now()},
        **actions.provenance(principal, project),
    )
    if resumes:
        _lend(project, session)
    _make(project, record, session)
    index.get(project, record.id)
    if text is None:
        return Started(record)
    queued = actions.send(
        principal=principal, project=project, session_id=record.id, prompt=text, model=word
    )
    return Started(record, queued.turn, queued.state, queued.position)


def _make(project: Project, record: ChatRecord, session: Session) -> None:
    """Write the transcript first, then the record that makes the chat visible."""
    path = files.transcript_path(project, record.id)
    try:
        with writing(path.name):
            files.make_folder(project)
            append(path, session)
            read_to = path.stat().st_size  # the person who imports it knows it
        files.create(project, record.with_changes(read_to=read_to))
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def append(path: Path, session: Session) -> None:
    """Append the words of a session to a transcript."""
    try:
        with transcript.Writer(str(path)) as writer:
            for number, turn in enumerate(records.read_turns(session.path)):
                _append_turn(writer, turn, "" if number else ORIGIN.format(session.version))
    except transcript.StorageError as error:
        raise OSError(*getattr(error.__cause__, "args", ())) from error


def _append_turn(writer: transcript.Writer, turn: records.Turn, notice: str) -> None:
    """Tokens and cost that Claude Code reported are left out: our sums count our own turns only."""
    number = ids.turn_id()
    begun, ended = ({"ts": at["ts"]} if "ts" in at else {} for at in (turn.first, turn.last))
    model = turn.model or None
    writer.append("turn_start", number, engine=ENGINE, model=model, imported=True, **begun)
    if notice:
        told = {"level": "info", "code": "imported", "text": notice}
        writer.append("notice", number, **told, imported=True, **begun)
    for kind, fields in [*turn.before(), *turn.records]:
        writer.append(kind, number, **fields, imported=True)
    status, reason = ("stopped", "user") if turn.stopped else ("ok", None)
    writer.append("turn_end", number, status=status, reason=reason, imported=True, **ended)


def _lend(project: Project, session: Session) -> None:
    """Copy Claude Code's file to where the engine looks; the engine never writes to the copy."""
    folder = Path(settings.DATA_DIR) / "engines" / ENGINE / project.slug / session.path.parent.name
    target = folder / session.path.name
    draft = folder / f"{PREFIX}{ids.ulid()}"
    with writing(target.name):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            with (
                opening.reading(session.path) as source,
                draft.open("xb") as copy,
            ):
                os.fchmod(copy.fileno(), 0o600)
                shutil.copyfileobj(source, copy)
                os.fsync(copy.fileno())
            draft.rename(target)
        finally:
            draft.unlink(missing_ok=True)
