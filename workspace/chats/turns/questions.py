"""Permission questions that wait for a person: read from the transcript, kept in the turn's row.

The turn process writes each question and its end into the transcript. The worker reads them there
and keeps the open ones in `Turn.asks`, so that lists, events and other processes see them without
reading a file. See docs/design/engines.md#permission-questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypedDict

from django.conf import settings
from django.db.models import QuerySet

from config import signals as kernel
from config.storage import homes
from workspace import signals
from workspace.chats import transcript
from workspace.chats.lines import Record
from workspace.chats.turns.delivery import announce
from workspace.engines import catalogue
from workspace.models import Chat, Turn

WAITS = "waits for a person:"
CROWDED = "no one attends this turn, and as many as may wait for a person do so already"


class Question(TypedDict):
    """A question in one line: what is asked for, since when, and when it is denied."""

    call: str
    tool: str
    summary: str
    since: str
    until: str


def waiting(turn: Turn) -> list[Question]:
    """The unanswered questions of a turn, oldest first; none if it does not run."""
    if turn.state != "running":
        return []
    return unanswered(turn.asks, turn.answers)


def unanswered(asks: Iterable[Question], answers: Iterable[Mapping[str, Any]]) -> list[Question]:
    """The questions of a running turn whose answer is not on its way to the turn process."""
    given = {one.get("call") for one in answers}
    return [one for one in asks if one["call"] not in given]


def is_answered(turn: Turn, call: str) -> bool:
    """Whether the answer is on its way to the turn process or has reached it."""
    return any(given.get("call") == call for given in turn.answers)


def first(turns: Iterable[Turn]) -> Question | None:
    """The oldest open question of these turns of one chat, or None."""
    return next((one for turn in turns for one in waiting(turn)), None)


def asking() -> QuerySet[Turn]:
    """Turns that wait for a person; some of their questions may be answered already."""
    return Turn.objects.filter(state="running", asks__0__isnull=False)


def describe_wait(turn: Turn) -> str:
    """For the ledger: what a run waits for, "" if it does not wait for a person."""
    one = first([turn])
    return f"{WAITS} {one['tool']} {one['summary']}".strip()[:500] if one else ""


def is_crowded_out(turn: Turn) -> bool:
    """Whether the unattended turns that wait already are as many as may: half of the turns that may
    run at once, at least one. More would leave too little room for people's turns."""
    others = asking().filter(homes.mine(), waits=True).exclude(id=turn.id)
    return others.count() >= max(1, settings.SVC.running_turns // 2)


class Asking(Question):
    """A question and where it is asked."""

    project: str
    sessionId: str
    turnId: str
    name: str
    trigger: str | None


def everywhere() -> list[Asking]:
    """All open questions in chats of this home, the first to be denied first."""
    turns = list(asking().filter(homes.mine()))
    names = dict(
        Chat.objects.filter(id__in={turn.chat for turn in turns}).values_list("id", "name")
    )
    found: list[Asking] = [
        {
            **one,
            "project": turn.project,
            "sessionId": turn.chat,
            "turnId": turn.id,
            "name": names.get(turn.chat) or turn.chat[:8],
            "trigger": _trigger(turn),
        }
        for turn in turns
        for one in waiting(turn)
    ]
    return sorted(found, key=lambda one: (one["until"], one["since"]))


def _trigger(turn: Turn) -> str | None:
    fired = turn.sender.get("kind") == "trigger"
    return str(turn.sender.get("name") or "") or None if fired else None


class Follower:
    """The questions of one running turn, as its worker reads them from the transcript."""

    def __init__(self, turn: Turn, path: Path, changed: Callable[[Turn], object]) -> None:
        self._turn, self._path, self._changed = turn, path, changed
        self._offset = _size(path)
        self.open: dict[str, Question] = {}
        self.kept: set[str] = set()  # calls that a person keeps waiting

    def look(self) -> None:
        """Read the new records; store the open questions and signal those asked or over."""
        if _size(self._path) <= self._offset:
            return
        scan = transcript.Scan(str(self._path), self._offset)
        told: list[Any] = []
        for _, record in scan:
            if record["type"] == "permission" and record.get("turn") == self._turn.id:
                told += self._note(record)
        self._offset = scan.end
        if told:
            self._keep()
            for signal, happening in told:
                kernel.tell(signal, happening)

    def _note(self, record: Record) -> list[Any]:
        """The signal for one record, as [(signal, happening)]; empty if there is none."""
        call, tool = str(record.get("call")), str(record.get("tool") or "")
        names = (self._turn.project, self._turn.chat, self._turn.id, call, tool)
        if record.get("state") == "asked":
            one = self.open[call] = _question(call, tool, record)
            since, until = _moment(one["since"]), _moment(one["until"])
            return [(signals.asked, signals.Asked(*names, one["summary"], since, until))]
        if self.open.pop(call, None) is None:  # the gate denied the call without a question
            return []
        allowed, by = record.get("state") == "allowed", str(record.get("by") or "")
        return [(signals.answered, signals.Answered(*names, allowed, by))]

    def put_off(self, kept: Iterable[Question]) -> dict[str, str]:
        """Take over the later `until` of questions that a person keeps waiting; return them."""
        later = {
            one["call"]: one["until"]
            for one in kept
            if one["call"] in self.open and one["until"] > self.open[one["call"]]["until"]
        }
        for call, until in later.items():
            self.open[call]["until"] = until
        self.kept |= {*later}
        return later

    def _keep(self) -> None:
        mine = Turn.objects.filter(id=self._turn.id, claim=self._turn.claim, state="running")
        mine.update(asks=[*self.open.values()])
        if turn := mine.first():
            self._changed(turn)
        announce()


def _question(call: str, tool: str, record: Record) -> Question:
    given = record.get("input")
    return {
        "call": call,
        "tool": tool,
        "summary": catalogue.target(tool, given if isinstance(given, dict) else {}),
        "since": str(record.get("ts")),
        "until": str(record.get("until") or record.get("ts")),
    }


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
