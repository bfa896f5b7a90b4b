"""The durable queue of a chat: every message is a row, and the turns of a chat run one at a time.

At most 50 messages wait. A failed or stopped turn holds those that wait; a new message or "resume"
releases them (docs/design/workspace.md#turns-and-the-queue). Nothing here starts a turn itself:
delivery.py delivers the rows to the `turns` cluster.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, NotRequired, TypedDict

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import Q, QuerySet

from config.errors import Conflict, Invalid, NotFound, Problem
from config.logs import timestamp
from config.storage import database, homes
from workspace import ids
from workspace.chats import files
from workspace.chats.turns import endings, jobs, retries
from workspace.chats.turns.delivery import OnChange, announce, deliver, ignore
from workspace.chats.turns.endings import tell
from workspace.chats.turns.states import ACTIVE, AT_REST, BUSY, WAITING
from workspace.models import Run, Turn
from workspace.projects import store
from workspace.projects.project import Project
from workspace.projects.schema import cap_mode

RELEASED: dict[str, Any] = {"state": "queued", "reason": "", "delivered": None}
MOST_WAITING = 50
PROMPT_MAX = 100_000
FIRED_MAX = 300_000  # a prompt file holds up to 256 KiB, plus what we put before it
REUSED = "was sent with this Idempotency-Key and says something else; send another key"
STOP_WAIT_S = 10.0
STOP_LOOK_S = 0.02


@dataclass(frozen=True, slots=True)
class Queued:
    """The result of a message: `state` is started or queued, `position` 0 when started."""

    turn: Turn
    state: str
    position: int
    repeated: bool = False  # it had already arrived under the same key


def clean_prompt(prompt: str, field: str = "prompt", *, most: int = PROMPT_MAX) -> str:
    """The prompt, lone surrogates as U+FFFD. Invalid unless 1 to `most` characters, no NUL."""
    text = prompt.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if not text.strip() or len(text) > most or "\0" in text:
        reason = f"must be 1 to {most} characters without NUL"
        raise Invalid([Problem(field, reason, '"Summarise new issues"')])
    return text


def send(
    *,
    project: Project,
    chat: str,
    prompt: str,
    sender: Mapping[str, Any],
    key: str = "",
    client: str = "",
    clients: Sequence[str] = (),
    chain: Sequence[str] = (),
    message: str | None = None,
    model: str = "",
    tools: list[str] | None = None,
    mode: str | None = None,
    network: str = "",
    mode_cap: str | None = None,
    max_turns: int | None = None,
    spawn_limit: int | None = None,
    waits: bool = False,
    run: Run | None = None,
    event: Mapping[str, Any] | None = None,
    most: int = PROMPT_MAX,
) -> Queued:
    """Append a message to the queue; it starts at once if nothing else waits or runs.

    `message`: what the agent gets instead of the prompt, with words of ours before it. Only what a
    person wrote counts against `most`. `key`: if this sender has sent a message under the key
    already, no second one is added.
    """
    record = files.sound(files.read(store.sound(project), chat))
    text = clean_prompt(prompt, most=most)
    turn = Turn(
        project=project.slug,
        chat=chat,
        state="queued",
        prompt=text,
        message=text if message is None else clean_prompt(message, "message", most=FIRED_MAX),
        model=model,
        sender=dict(sender),
        key=clean_key(key),
        event=dict(event) if event else None,
        client=client,
        clients=[*clients],
        chain=[*chain],
        run=run,
        tools=tools,
        mode=cap_mode(mode or mode_of(project, record), mode_cap),
        network=network,
        max_turns=max_turns or project.max_turns,
        spawn_limit=record.spawn_limit if spawn_limit is None else spawn_limit,
        waits=waits,
        created=datetime.now(UTC),
    )
    with transaction.atomic():
        _hold(project, chat)
        return _find_earlier(turn) or _insert(turn)


def mode_of(project: Project, record: files.ChatRecord) -> str:
    """The permission mode of the chat's messages: its own, as far as the project allows."""
    own = record.permission_mode
    return cap_mode(own, project.permission_mode) if own else project.permission_mode


def hold_chat(chat: str) -> None:
    """Lock the chat until the transaction ends: no one else adds a message to it or deletes it."""
    database.alone("chat", chat)


def _hold(project: Project, chat: str) -> None:
    """Lock queue and project until the transaction ends. NotFound if the chat was deleted."""
    hold_chat(chat)
    database.alone("project", project.slug)  # the project may be on its way to the trash
    if not files.record_path(project, chat).exists():  # deleted in the meantime
        raise files.missing(project.slug, chat)


def _refuse_full(rows: QuerySet[Turn]) -> None:
    if rows.filter(state__in=WAITING).count() >= MOST_WAITING:
        text = f"Queue full: {MOST_WAITING} messages already wait in this chat"
        raise Conflict(text, code="queue_full")


def _insert(turn: Turn) -> Queued:
    rows = Turn.of(turn.project, turn.chat)
    _refuse_full(rows)
    if turn.run_id is None:
        rows.filter(state="held").update(**RELEASED)
    turn.id = _behind(rows.order_by("-id").values_list("id", flat=True).first())
    turn.save(force_insert=True)
    transaction.on_commit(lambda: _begin(turn.project, turn.chat))
    return _position(turn)


def _find_earlier(turn: Turn) -> Queued | None:
    """The result of the message that this sender sent before under the same key; None if there is
    none or it was taken out of the queue. Conflict if it was a different message."""
    if not turn.key:
        return None
    rows = Turn.of(turn.project, turn.chat).filter(key=turn.key).exclude(state="deleted")
    old = next((row for row in rows if whose(row.sender) == whose(turn.sender)), None)
    if old is None:
        return None
    if (old.prompt, old.model, old.waits) != (turn.prompt, turn.model, turn.waits):
        raise Conflict(f"message {old.id} {REUSED}", code="key_reused")
    if old.state not in WAITING:
        return Queued(old, "started", 0, repeated=True)
    return replace(_position(old), repeated=True)


def _position(turn: Turn) -> Queued:
    """The position of a message that has not begun."""
    before = Turn.of(turn.project, turn.chat).filter(state__in=ACTIVE, id__lt=turn.id)
    ahead = list(before.values_list("state", flat=True))
    front_runs = bool({*BUSY} & {*ahead}) or _slot_free(turn.chat)
    position = len(ahead) + (0 if front_runs else 1)
    return Queued(turn, "queued" if position else "started", position)


def whose(sender: Mapping[str, Any]) -> dict[str, Any]:
    """The identity of a sender, without the name of its chat, which may change."""
    return {key: value for key, value in sender.items() if key != "name"}


def clean_key(key: str) -> str:
    """Check a key: at most 255 visible ASCII characters; blank = none. Raises Invalid."""
    if len(key) > 255 or not (key.isascii() and key.isprintable()):
        reason = "must be at most 255 visible characters of ASCII"
        raise Invalid([Problem("Idempotency-Key", reason, '"7f9c24e8b1a04d63"')])
    return key.strip()


def _begin(project: str, chat: str) -> None:
    deliver(project, chat)
    announce()


def _behind(last: str | None) -> str:
    """An id after every id of the chat, even if the clock was set back since."""
    fresh = ids.turn_id()
    return fresh if last is None or fresh > last else ids.following(last)


def _slot_free(chat: str) -> bool:
    """Whether this host runs fewer chats than it may, counting all others of its home."""
    others = Turn.objects.filter(homes.mine(), state__in=("queued", "running")).exclude(chat=chat)
    return others.values("chat").distinct().count() < settings.SVC.running_turns


def rows(*, project: Project, chat: str) -> list[Turn]:
    """The rows of one chat that run or wait, in order."""
    files.read(project, chat)
    return active_rows(project.slug, chat)


def active_rows(project: str, chat: str) -> list[Turn]:
    """Sorted here: for an ORDER BY the database would walk an index past every turn that ended."""
    rows = Turn.of(project, chat).filter(state__in=(*BUSY, *WAITING)).order_by()
    return sorted(rows, key=attrgetter("id"))


class QueueRow(TypedDict):
    id: str
    state: str
    position: int
    prompt: str
    model: str | None
    sender: dict[str, Any]
    createdAt: str
    reason: NotRequired[str | None]
    waiting: NotRequired[retries.Waiting]


def view(turns: list[Turn]) -> list[QueueRow]:
    """Queue rows as REST and the stream show them; a turn that has begun has position 0."""
    waiting = 0
    shown: list[QueueRow] = []
    for turn in turns:
        begun = turn.state in BUSY
        waiting += not begun
        row: QueueRow = {
            "id": turn.id,
            "state": turn.state,
            "position": 0 if begun else waiting,
            "prompt": turn.prompt,
            "model": turn.model or None,
            "sender": turn.sender,
            "createdAt": timestamp(turn.created),
            "reason": turn.reason or None,
        }
        if turn.state == "waiting":
            row["waiting"] = retries.view(turn)
        shown.append(row)
    return shown


def remove(*, project: Project, chat: str, message: str, on_change: OnChange = ignore) -> None:
    """Take a waiting message out of the queue. NotFound, or Conflict if it no longer waits."""
    files.read(project, chat)
    turn = Turn.of(project.slug, chat).filter(id=message[:32]).first()
    if turn is None or turn.state == "deleted":
        raise NotFound(f"Message not found: {message[:100]} in chat {chat}")
    if not withdraw(turn, on_change=on_change):
        raise Conflict(f"message {turn.id} is no longer waiting", code="not_queued")


def cancel(turn: Turn, *, on_change: OnChange = ignore) -> bool:
    """End one turn, waiting or running. False if it had ended already."""
    if withdraw(turn, on_change=on_change) or _stop_unstarted(turn.id, on_change):
        return True
    return _stop_running(turn.id)


def withdraw(turn: Turn, *, on_change: OnChange) -> bool:
    """Take a row that has not begun out of the queue: one conditional update decides the race with
    a claim. The row keeps the reason why it was held, in case it is restored."""
    waiting = Turn.objects.filter(id=turn.id, state__in=WAITING, retry__isnull=True)
    if not waiting.update(state="deleted", finished=datetime.now(UTC)):
        return False
    turn.refresh_from_db()
    tell(on_change, turn)
    deliver(turn.project, turn.chat, again=True)
    return True


def restore(*, project: Project, chat: str, message: str) -> Turn:
    """Put a removed message back into its place. It is held if it was held before or would be held
    by now; no held message is released. NotFound, or Conflict if it was not removed."""
    files.sound(files.read(store.sound(project), chat))
    rows = Turn.of(project.slug, chat)
    with transaction.atomic():
        _hold(project, chat)
        turn = rows.filter(id=message[:32]).first()
        if turn is None:
            raise NotFound(f"Message not found: {message[:100]} in chat {chat}")
        if turn.run_id is not None:
            raise Conflict(f"the run of message {turn.id} is over; run its trigger again")
        if turn.state != "deleted":
            raise Conflict(f"message {turn.id} was not taken out of the queue")
        _refuse_full(rows)
        reason = turn.reason or _held_since(rows, turn)
        turn.state, turn.reason = "held" if reason else "queued", reason
        turn.finished = turn.delivered = None
        turn.save(update_fields=["state", "reason", "finished", "delivered"])
        transaction.on_commit(lambda: _begin(project.slug, chat))
    return turn


def _held_since(rows: QuerySet[Turn], turn: Turn) -> str:
    """Why the message would be held if it had not been taken out; empty if it would not be."""
    held = rows.filter(state="held").first()
    if held is not None:
        return held.reason
    asked = rows.filter(Q(run=None) | Q(state__in=endings.HOLDING)).exclude(state="deleted")
    newest = asked.filter(Q(finished__gte=turn.finished) | Q(state__in=ACTIVE)).last()
    return endings.holds(newest) if newest and newest.state in endings.HOLDING else ""


def resume(*, project: Project, chat: str) -> int:
    """Release the held rows in their order. Return how many there were."""
    with transaction.atomic():
        hold_chat(chat)
        files.read(project, chat)
        count = Turn.of(project.slug, chat).filter(state="held").update(**RELEASED)
    _begin(project.slug, chat)
    return count


def stop(*, project: Project, chat: str, on_change: OnChange = ignore) -> bool:
    """End the chat's running or starting turn and hold the queue. False if nothing ran. A turn of
    this machine is stopped also while the database takes no write, as on a full disk."""
    files.read(project, chat)
    active = [row for row in active_rows(project.slug, chat) if row.state in ACTIVE]
    turn = min(active, key=lambda row: (row.state not in BUSY, row.id), default=None)
    if turn is None:
        return False
    try:
        if not _stop_unstarted(turn.id, on_change):
            _stop_running(turn.id)
    except DatabaseError:
        if not jobs.stop_without_database(turn.id):
            raise
        _wait_while(jobs.run_dir(turn.id).exists)
    return True


def _stop_unstarted(turn_id: str, on_change: OnChange) -> bool:
    """End a turn that no worker has claimed, or that waits for its provider."""
    at_rest = Turn.objects.filter(id=turn_id, state__in=AT_REST)
    if not at_rest.update(state="running", stop="user"):
        return False
    endings.recover(turn_id, status="stopped", reason="user", on_change=on_change)
    return True


def _stop_running(turn_id: str) -> bool:
    """Ask the worker of a running turn to stop it. False if it does not run."""
    running = Turn.objects.filter(id=turn_id, state="running")
    asked = running.update(stop="user") == 1
    _wait_while(running.exists)
    return asked


def _wait_while(goes_on: Callable[[], bool]) -> None:
    """Wait until the turn is over, at most 10 s."""
    deadline = time.monotonic() + STOP_WAIT_S
    while goes_on() and time.monotonic() < deadline:
        time.sleep(STOP_LOOK_S)
