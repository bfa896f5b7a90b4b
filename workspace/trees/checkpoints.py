"""Keep a turn's tree before it begins and after it ends; called by its worker.

A failure here never fails a turn: what cannot be kept is a notice in its chat. A turn that changed
nothing leaves nothing behind. See docs/design/workspace.md#checkpoints.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from django.conf import settings

from config.errors import SvcError
from config.git import shadow, snapshot
from config.git.command import GitError
from config.git.shadow import Shadow
from config.storage import files
from workspace.chats import files as chats
from workspace.chats import transcript
from workspace.chats.turns import endings
from workspace.engines import catalogue, policy
from workspace.engines.base import Job
from workspace.models import Turn
from workspace.projects import store
from workspace.trees import changes, records
from workspace.trees.records import Record
from workspace.worktrees import place

log = logging.getLogger(__name__)

CODE = "checkpoint"
LOGGED = ("runbook", "builtin", "claude")  # engines whose every call passes the gate
DAY_S = 86_400
LISTED = 3  # names listed in a notice
MOST_NAMES = 2000  # per record


def may_edit(job: Job) -> bool:
    """Whether a turn could change a file: not in plan mode, and not without a tool that writes."""
    if job.mode == "plan" or job.engine is None:
        return False
    if job.engine not in LOGGED:
        return True
    return any(catalogue.kind(tool) in ("E", "X") or _foreign(tool) for tool in policy.expand(job))


def _foreign(tool: str) -> bool:
    """Whether it is a tool of another MCP server, whose effects are not known."""
    return tool.startswith("mcp__") and not tool.startswith(catalogue.OURS)


def begin(turn: Turn, job: Job) -> Job:
    """Keep the tree before the turn. Return the job with what to note and which notices to show."""
    if not settings.SVC.checkpoint_days or not may_edit(job):
        return job
    root = Path(os.path.realpath(job.cwd))
    try:
        with files.lock(shadow.lock_of(root)):
            record, notices = _begin(turn, job, root)
    except Exception as error:
        log.warning("no checkpoint: %r", error, extra={"turn": turn.id})
        return job._replace(notices=(("warn", CODE, _refusal(error)),))
    keep = {
        "folder": str(records.folder_of(turn.chat, turn.id)),
        "root": str(root),
        "sha256": record is not None and record.sha256,
        "copies": record is None or not record.git,
    }
    return job._replace(keep=keep, notices=notices)


Notices = tuple[tuple[str, str, str], ...]


def _begin(turn: Turn, job: Job, root: Path) -> tuple[Record | None, Notices]:
    repository = shadow.open_at(root)
    if repository is None:
        return None, ()  # only the copies made by its file tools are kept
    record = Record(
        turn.project, turn.chat, turn.id, str(root), git=True, sha256=repository.sha256,
        logged=job.engine in LOGGED, began=records.now(),
    )  # fmt: skip
    try:
        found = snapshot.take(repository)
        message = f"Before turn {turn.id} of chat {turn.chat}"
        commit = snapshot.keep(repository, record.refs[0], found.tree, message)
    except (GitError, OSError) as error:
        # other turns must know that this one may have changed anything
        records.write(record)
        return record, (("warn", CODE, _refusal(error)),)
    record = records.update(
        record, commit=commit, before=found.tree, left=tuple(found.left), rules=(found.rules, "")
    )
    return record, _too_large(record)


def _too_large(record: Record) -> Notices:
    """A notice about files that a person would expect an undo to restore, and that it would not."""
    names = [name for name in record.left if not name.endswith("/")]
    if not names:
        return ()
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    listed = f"{', '.join(names[:LISTED])}{more}"
    text = f"Not kept by this turn's checkpoint, too large or unreadable: {listed}."
    return (("info", CODE, text.encode(errors="replace").decode()),)


def _refusal(error: Exception) -> str:
    match error:
        case OSError(errno=int(number)):
            reason = os.strerror(number)
        case SvcError() | GitError():
            reason = error.text
        case _:
            reason = "a defect; the log has it"
    return f"The edits of this turn cannot be undone: no checkpoint was made ({reason})."


def end(turn: Turn, job: Job) -> None:
    """Keep the tree as the turn left it, or drop everything if it changed nothing."""
    if job.keep is None:
        return
    try:
        record = records.find(turn.chat, turn.id)
        root = Path(job.keep["root"])
        with files.lock(shadow.lock_of(root)):
            if record is None:
                _end_copies(turn, job, root)
            elif record.before is None:
                records.update(record, ended=records.now())
            else:
                _end_tree(record)
    except Exception as error:
        log.warning("no tree after a turn: %r", error, extra={"turn": turn.id})
        end_lost(turn)
        _tell(turn, _refusal(error))


def _end_copies(turn: Turn, job: Job, root: Path) -> None:
    record = Record(
        turn.project, turn.chat, turn.id, str(root), git=False,
        logged=job.engine in LOGGED, began=records.now(), ended=records.now(),
    )  # fmt: skip
    if record.folder.exists():
        _count_or_drop(records.write(record), None)


def _end_tree(record: Record) -> None:
    repository = changes.shadow_of(record)
    found = snapshot.take(repository)
    if found.tree == record.before:
        snapshot.drop(repository, record.refs)
        records.remove(record)
        return
    message = f"After turn {record.turn} of chat {record.chat}"
    snapshot.keep(repository, record.refs[1], found.tree, message, record.commit)
    record = records.update(
        record,
        after=found.tree,
        rules=(record.rules[0], found.rules),
        hidden=_shorten([*filter(_lies_there(record), found.left), *found.ignored]),
        ended=records.now(),
    )
    _count_or_drop(record, repository)


def _lies_there(record: Record) -> Callable[[str], bool]:
    """Whether a name that is in no tree is a nested repository or a file; a folder in a file's
    place is neither."""
    return lambda name: name.endswith("/") or Path(record.root, name).is_file()


def _shorten(names: Sequence[str]) -> tuple[str, ...]:
    """The names; if there are very many, their top-level folders instead."""
    if len(names) <= MOST_NAMES:
        return tuple(names)
    return tuple(dict.fromkeys(re.sub("/.*", "/", name, flags=re.DOTALL) for name in names))


def _count_or_drop(record: Record, repository: Shadow | None) -> None:
    """Store how many files are the turn's own; drop the record if nothing differs."""
    found = changes.of(record, others(record))
    count = sum(1 for change in found if not change.why)
    if found:
        records.update(record, count=count)
        return
    if repository is not None:
        snapshot.drop(repository, record.refs)
    records.remove(record)


def others(record: Record) -> list[Record]:
    """Records of all other turns that have a tree."""
    return [one for one in records.every() if one.turn != record.turn and one.git]


def end_lost(turn: Turn) -> None:
    """Record the end of a turn without a second tree: only what its file tools noted is known."""
    try:
        record = records.find(turn.chat, turn.id)
        if record is not None and record.ended is None:
            records.update(record, ended=records.now())
    except SvcError as error:
        log.warning("the end of a turn is not noted: %s", error, extra={"turn": turn.id})


def _tell(turn: Turn, text: str) -> None:
    try:
        with transcript.Writer(endings.transcript_of(turn)) as writer:
            writer.append("notice", turn.id, level="warn", code=CODE, text=text)
    except (SvcError, transcript.Busy, transcript.StorageError) as error:
        log.warning("not told in the chat: %s", error, extra={"turn": turn.id})


def prune() -> None:
    """Drop checkpoints past their retention. Refs of a repository that is gone stay."""
    before = time.time() - (settings.SVC.checkpoint_days or 1) * DAY_S
    old: dict[str, list[Record]] = {}
    for record in records.every():
        if (record.ended or record.began) < before:
            old.setdefault(record.root, []).append(record)
    for root, found in old.items():
        try:
            _forget(Path(root), found)
        except (SvcError, GitError, OSError) as error:
            log.warning("old checkpoints stay: %s", error)


def _forget(root: Path, found: list[Record]) -> None:
    with files.lock(shadow.lock_of(root)):
        repository = shadow.open_at(root) or _find_repository(found[0])
        if repository is not None:
            snapshot.drop(repository, [ref for record in found for ref in record.refs])
        for record in found:
            records.remove(record)


def _find_repository(record: Record) -> Shadow | None:
    """The repository of a chat whose worktree was removed: it holds the refs."""
    try:
        tree = place.of(chats.read(store.get(record.project), record.chat))
    except SvcError:
        return None
    return shadow.open_at(tree.repository) if tree else None
