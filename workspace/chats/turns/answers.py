"""Answers of people to permission questions, and what is allowed for the rest of a chat.

An answer is written into the row of the running turn; its worker reads it there and passes it to
the turn process. See docs/design/engines.md#permission-questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction

from config.errors import Conflict, Invalid, NotFound, Problem, printable
from config.logs import timestamp
from workspace.chats import files, transcript
from workspace.chats.lines import Record
from workspace.chats.turns import questions
from workspace.chats.turns.delivery import announce
from workspace.engines import allowing
from workspace.models import Turn
from workspace.projects.project import Project

REASON_MAX = 2000


def answer(
    *,
    project: Project,
    chat: str,
    call: str,
    allow: bool,
    reason: str = "",
    in_chat: bool = False,
) -> str | None:
    """Answer a question of the running turn. Return the rule kept for the chat, or None.

    `reason` is given to the agent with a denial. `in_chat` keeps a rule that allows such calls in
    the rest of the chat. NotFound if there is no such question, Conflict (not_pending) if it is
    answered already or its turn is over.
    """
    files.read(project, chat)
    question = _question(str(files.transcript_path(project, chat)), call)
    rule = _rule(question) if allow and in_chat else None
    with transaction.atomic():
        turn = _asking(project, chat, question, call)
        if rule is not None:
            _keep(project, chat, rule)
            turn.answers = [*turn.answers, {"type": "allow", "rule": rule}]
        said = {"reason": reason.strip()[:REASON_MAX]} if reason.strip() and not allow else {}
        turn.answers = [*turn.answers, {"call": call, "allow": allow, **said}]
        turn.save(update_fields=["answers"])
    announce()
    return rule


def keep_waiting(*, project: Project, chat: str, call: str) -> datetime | None:
    """A person sees the question: restart its waiting time, up to the greatest age of a question.

    Return when it will be denied; None if it is over. NotFound if there is no such question."""
    files.read(project, chat)
    question = _question(str(files.transcript_path(project, chat)), call)
    with transaction.atomic():
        turn = _open(project, chat, question, call)
        if turn is None:
            return None
        mine = next((one for one in turn.asks if one["call"] == call), None)
        if mine is None:  # the worker has not noticed the question yet
            return datetime.fromisoformat(str(question.get("until") or question["ts"]))
        since, until = (datetime.fromisoformat(mine[key]) for key in ("since", "until"))
        seen = datetime.now(UTC) + timedelta(seconds=settings.SVC.ask_seconds)
        until = max(until, min(seen, since + timedelta(hours=settings.SVC.ask_hours)))
        mine["until"] = timestamp(until)
        turn.save(update_fields=["asks"])
    return until


def revoke(*, project: Project, chat: str, rule: str) -> bool:
    """Ask again for what the rule allows, also in the running turn. False without such a rule."""
    with transaction.atomic():
        for turn in Turn.of(project.slug, chat).select_for_update().filter(state="running"):
            turn.answers = [*turn.answers, {"type": "revoke", "rule": rule}]
            turn.save(update_fields=["answers"])
        return files.set_allowed(project, chat, lambda known: [one for one in known if one != rule])


def _keep(project: Project, chat: str, rule: str) -> None:
    def add_rule(known: list[str]) -> list[str]:
        if rule not in known and len(known) >= allowing.MOST:
            text = f"this chat allows {len(known)} things already; take some back first"
            raise Conflict(text, code="too_many")
        return known if rule in known else [*known, rule]

    files.set_allowed(project, chat, add_rule)


def _rule(question: Mapping[str, Any]) -> str:
    given = question.get("input")
    tool = str(question.get("tool"))
    rule = allowing.rule_for(tool, given if isinstance(given, dict) else {})
    if rule is None:
        reason = "only one plain command can be allowed for a chat, and no shell or interpreter"
        raise Invalid([Problem("scope", f"{reason}: allow this once", '"once"')])
    return rule


def _asking(project: Project, chat: str, question: Mapping[str, Any], call: str) -> Turn:
    """The turn of an open question. Conflict if the question is not open."""
    turn = _open(project, chat, question, call)
    if turn is None:
        text = "this question was answered already, or its turn is over"
        raise Conflict(text, code="not_pending")
    return turn


def _open(project: Project, chat: str, question: Mapping[str, Any], call: str) -> Turn | None:
    """The running turn whose question is open, locked until the transaction ends; else None."""
    running = Turn.of(project.slug, chat).filter(state="running", id=question.get("turn"))
    turn = running.select_for_update().first()
    if turn is None or question.get("state") != "asked" or questions.is_answered(turn, call):
        return None
    return turn


def _question(path: str, call: str) -> Record:
    """The last record of this question. NotFound if there is none."""
    for _, record in transcript.backwards(path):
        if record["type"] == "permission" and record.get("call") == call:
            return record
    raise NotFound(f"Permission not found: {printable(call)}")
