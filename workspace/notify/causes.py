"""The causes of notifications, made from the signals of the parts and the workspace.

A cause has a key: causes with the same key within ten minutes are one message. Texts may contain
what an agent wrote, so they are one line, bounded, and without the value of any secret.
"""

from __future__ import annotations

import os
import unicodedata
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.utils.module_loading import import_string

from config.signals import AppChanged, ThreadWritten
from config.web.surfaces import DASHBOARD, MAIN, REVIEW
from workspace.access import variables
from workspace.chats.turns.recorder import scrub
from workspace.engines import keys
from workspace.models import Chat, Turn
from workspace.notify import setting
from workspace.notify.presence import looked_at
from workspace.signals import Asked, RunEnded, TurnEnded

TITLE, TEXT, PATH, KEY = 120, 500, 1000, 200
LONG_S = 60.0  # shorter turns cause no notification
SAID = {"replied": "answered at", "proposed": "thinks it is done:"}  # acts on a thread, in words
PEOPLE = ("user",)  # senders whose turns cause a notification when they end


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing that happened. `path` is where to see it, within its part."""

    key: str
    event: str
    title: str
    text: str
    part: str
    path: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", self.key[:KEY])
        object.__setattr__(self, "title", plain(self.title, TITLE))
        object.__setattr__(self, "text", plain(self.text, TEXT))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def plain(text: str, most: int) -> str:
    """One line of at most so many characters, without control characters, characters that change
    the direction of writing, and values of secrets."""
    text = scrub(text[: most * 4], secrets())
    shown = "".join(" " if char.isspace() else char for char in text)
    shown = "".join(char for char in shown if unicodedata.category(char)[0] != "C")
    shown = " ".join(shown.split())
    return shown if len(shown) <= most else f"{shown[: most - 1].rstrip()}…"


def secrets() -> tuple[str, ...]:
    """Values that no message may show: secrets of management clients, engines and channels."""
    channels = setting.current().channels
    names = {*variables.secrets(), *(name for one in channels for name in one.variables)}
    engines = [keys.secrets(keys.of(name, {})) for name in ("claude", "builtin")]
    given = (os.environ.get(name, "") for name in names)
    return tuple(filter(None, [*given, *(value for found in engines for value in found)]))


def of_question(asked: Asked) -> Cause:
    """Each question is a cause of its own, so that a later one does not wait for a window."""
    return Cause(
        asked_key(asked.chat, asked.call),
        "asked",
        f"{chat_name(asked.chat)} asks: {asked.tool}",
        asked.summary,
        MAIN.name,
        _chat(asked.project, asked.chat),
    )


def asked_key(chat: str, call: str) -> str:
    return f"asked:{chat}:{call}"[:KEY]


def of_turn(ended: TurnEnded) -> Cause | None:
    """A person's turn that took long, unless someone is looking at its chat or has stopped it."""
    if ended.run or ended.state == "stopped" or (ended.seconds or 0.0) <= LONG_S:
        return None
    turn = Turn.objects.filter(id=ended.turn).only("sender").first()
    if turn is None or turn.sender.get("kind") not in PEOPLE or looked_at(ended.chat):
        return None
    word = {"done": "is done", "failed": "failed"}.get(ended.state, "was interrupted")
    took = f"after {spoken(ended.seconds or 0.0)}"
    return Cause(
        f"finished:{ended.chat}",
        "finished",
        f"{chat_name(ended.chat)} {word}",
        f"{took}: {ended.reason}" if ended.reason else took,
        MAIN.name,
        _chat(ended.project, ended.chat),
    )


def of_run(ended: RunEnded) -> Cause | None:
    """A run that failed, or that a stop or crash of the service interrupted."""
    if ended.status not in ("failed", "interrupted"):
        return None
    word = "failed" if ended.status == "failed" else "was interrupted"
    what = f"Trigger {ended.trigger}" if ended.trigger else "A run"
    path = f"/projects/{quote(ended.project, safe='')}/runs?status={ended.status}"
    if ended.trigger:
        path += f"&trigger={quote(ended.trigger, safe='')}"
    title = f"{what} of {ended.project} {word}"
    key = f"failed:{ended.project}:{ended.trigger}"
    return Cause(key, "failed", title, ended.error, MAIN.name, path)


def of_app(changed: AppChanged) -> Cause | None:
    """An app that should be up and fell, or came back after that; not one that merely started, nor
    one that people start and stop as they like."""
    if not changed.expected:
        return None
    path = f"/#app={quote(changed.app, safe='')}"
    if changed.state == "up":
        if changed.before not in ("down", "crash_loop"):
            return None
        event, title = "app_up", f"{changed.name} is up again"
    elif changed.state == "crash_loop":
        event, title = "crash_loop", f"{changed.name} crashes again and again"
    else:
        event, title = "app_down", f"{changed.name} is down"
    text = changed.reason.replace("-", " ")
    return Cause(f"{event}:{changed.app}", event, title, text, DASHBOARD.name, path)


def of_thread(written: ThreadWritten) -> Cause | None:
    """A thread that someone other than this machine's person answered or proposed as done."""
    if written.act not in SAID or written.author == person():
        return None
    where = written.file or written.sha[:7]
    if written.file and written.line is not None:
        where = f"{where}:{written.line}"
    parts = (written.project, written.repo, written.sha)
    path = "/".join(["/p", *(quote(part, safe="") for part in parts)])
    return Cause(
        f"review:{written.project}:{written.repo}:{written.thread}",
        "review",
        f"{written.author} {SAID[written.act]} {where}",
        written.text,
        REVIEW.name,
        f"{path}#thread-{quote(written.thread, safe='')}",
    )


def person() -> str:
    """The id of this machine's user as an author in threads."""
    return str(import_string(settings.SVC_PERSON)().id)


def chat_name(chat: str) -> str:
    name = Chat.objects.filter(id=chat).values_list("name", flat=True).first()
    return name or "A chat"


def spoken(seconds: float) -> str:
    """A duration as people say it."""
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"


def _chat(project: str, chat: str) -> str:
    return f"/projects/{quote(project, safe='')}/chats/{quote(chat, safe='')}"
