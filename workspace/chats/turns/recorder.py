"""A turn's records, in order of arrival: from events of an engine to lines of the transcript.

It guarantees what readers rely on: every tool_use has one tool_result, every turn has one turn_end,
and no notice or error text contains a secret of the job.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from config.process.light_typing import Any
from workspace.chats import transcript
from workspace.chats.turns import waiting
from workspace.engines import catalogue
from workspace.engines.base import (
    Answered,
    Args,
    End,
    Event,
    Job,
    Messages,
    Notice,
    State,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)

STOPS = {
    "user": End("stopped", "user"),
    "timeout": End("timeout", "timeout", "The turn ran longer than it may."),
    "shutdown": End("interrupted", "shutdown", "The service stopped while this turn ran."),
    "worker_lost": End("interrupted", "worker_lost", "The worker of this turn was lost."),
}
ASKING = "waited for a person's answer"
UNANSWERED = {
    "state": "denied",
    "by": "stop",
    "reason": "the turn ended before anybody answered",
}
_LEVELS = {"ok": None, "stopped": None, "interrupted": "warn"}


def scrub(text: str, secrets: Iterable[str]) -> str:
    """The text with every secret as ***, except short ones, which would match ordinary words."""
    for secret in secrets:
        if len(secret) >= 8:
            text = text.replace(secret, "***")
    return text


class Recorder:
    """Writes the records of one turn to an open transcript."""

    def __init__(self, writer: transcript.Writer, job: Job) -> None:
        self.writer, self.job = writer, job
        self.open: dict[str, float] = {}  # call -> start time
        self.questions: dict[str, Args] = {}  # call -> its permission record, while unanswered
        self.thought: dict[str, float] = {}  # call -> seconds spent waiting for a person
        self.answered = Answered()
        self.ended = False
        self._began = time.monotonic()

    def begin(self) -> None:
        """Write turn_start and user: from here on the message is in the chat. A later try finds the
        user record there and writes only turn_start."""
        job = self.job
        known = job.attempt > 1 and transcript.has_turn(self.writer.path, job.turn)
        self._append(
            "turn_start",
            engine=job.engine,
            engine_version=job.engine_version,
            model=job.model,
            tools=job.tools,
            mode=job.mode,
            max_turns=job.max_turns,
            depth=job.depth,
            attended=job.attended,
            trigger=job.trigger,
            client_id=job.client,
            sandbox=job.sandbox.mode,
            **_without_none({"instructions": job.told}),
            **({"try": job.attempt} if job.attempt > 1 else {}),
        )
        if not known:
            self._append("user", text=job.message, sender=job.sender)

    def take(self, event: Event) -> None:
        """Write one event of the engine as its record."""
        match event:
            case Text() | Thinking():
                kind = "assistant" if isinstance(event, Text) else "thinking"
                optional = {"ref": event.ref, "task": event.task, "partial": event.partial or None}
                self._append(kind, text=event.text, block=event.block, **_without_none(optional))
            case ToolUse():
                self.open[event.call] = time.monotonic()
                self._append(
                    "tool_use",
                    tool=event.tool,
                    call=event.call,
                    input=event.input,
                    target=catalogue.target(event.tool, event.input),
                    **_without_none({"task": event.task}),
                )
            case ToolResult():
                self.open.pop(event.call, None)
                self._result(event)
            case Notice():
                self.notice(event.level, event.code, event.text)
            case Answered():
                context = {**event.context, "engine": self.job.engine} if event.context else None
                self.answered = Answered(
                    event.model or self.answered.model, context or self.answered.context
                )
            case State():
                self._append("engine", engine=self.job.engine, state=event.data)
            case Messages():
                self._append("engine", engine=self.job.engine, messages=event.messages)
            case End():
                self.finish(event)

    def notice(self, level: str, code: str, text: str) -> None:
        self._append("notice", level=level, code=code, text=scrub(text, self.job.secrets))

    def question(self, use: ToolUse, seconds: float) -> None:
        """Record that a call waits for a person, for this many seconds."""
        until = waiting.stamp(time.time() + seconds)
        self.permission(use, "asked", "policy", None, until=until)

    def permission(
        self, use: ToolUse, state: str, by: str, reason: str | None, **more: str
    ) -> None:
        """Record a question, its answer, or a denial by the gate."""
        question = {"call": use.call, "tool": use.tool, "input": use.input}
        now = time.monotonic()
        if self.questions.pop(use.call, None):
            self.thought[use.call] += now
        if state == "asked":
            self.questions[use.call] = question
            self.thought[use.call] = self.thought.get(use.call, 0.0) - now
        self._append("permission", **question, state=state, by=by, reason=reason, **more)

    def finish(self, end: End, hosts: Sequence[Args] = ()) -> None:
        """Close what is open, say why a turn failed, and write turn_end, or turn_wait if there will
        be a further try. Only the first call does so. `hosts`: {host, port, refused} of each host
        that commands reached or were refused.
        """
        if self.ended:
            return
        if end.status == "interrupted" and self.questions:
            end = end._replace(text=f"The service stopped while this turn {ASKING}.")
        for question in self.questions.values():
            self._append("permission", **question, **UNANSWERED)
        for call, began in list(self.open.items()):
            self.take(ToolResult(call, True, "stopped", round((time.monotonic() - began) * 1000)))
        wait = waiting.next_try(self.job, end, time.time())
        end = waiting.with_earlier_usage(
            end if wait else waiting.given_up(self.job, end), self.job.retry
        )
        text = None if end.text is None else scrub(end.text, self.job.secrets)
        level = _LEVELS.get(end.status, "error")
        if level and text and wait is None:
            self.notice(level, end.reason or end.status, text)
        self.ended = True
        self._append(
            "turn_wait" if wait else "turn_end",
            status="waiting" if wait else end.status,
            reason=end.reason,
            text=text,
            turns=end.turns,
            usage=end.usage,
            cost=end.cost,
            **_without_none(self.answered._asdict()),
            ms=round((time.monotonic() - self._began) * 1000) + _earlier_ms(self.job),
            **(self._next(wait) if wait else {}),
            **({"hosts": list(hosts)} if hosts else {}),
        )

    def _next(self, wait: waiting.Wait) -> Args:
        since = (self.job.retry or {}).get("since") or round(time.time(), 3)
        return {
            "try": wait.number,
            "of": wait.of,
            "until": waiting.stamp(wait.at),
            "since": since,
        }

    def _result(self, event: ToolResult) -> None:
        """Write a result; its duration excludes the time a person took to answer."""
        thought = self.thought.pop(event.call, 0.0)
        if event.call in self.questions:
            thought += time.monotonic()
        self._append(
            "tool_result",
            call=event.call,
            is_error=event.is_error,
            text=event.text,
            ms=max(0, event.ms - round(thought * 1000)),
            **_without_none({"status": event.status}),
        )

    def _append(self, kind: str, **fields: Any) -> None:
        self.writer.append(kind, self.job.turn, **fields)


def _earlier_ms(job: Job) -> int:
    """Milliseconds that earlier tries took."""
    return int((job.retry or {}).get("ms") or 0)


def _without_none(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value is not None}
