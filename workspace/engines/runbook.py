"""The runbook engine: the steps of a document, one after the other, no model.

Output of a step is data: no steps are read from it, and substituted text is never scanned again.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import AsyncGenerator, Collection, Mapping

import config
from config.process.light_typing import Any
from workspace.engines import catalogue, grammar, policy, tools
from workspace.engines.base import (
    Args,
    End,
    Event,
    Job,
    Notice,
    Probe,
    Text,
    ToolResult,
    ToolUse,
    TurnIO,
)

OUTPUT_BYTES, NARRATION_BYTES, ENV_BYTES, ENV_TOTAL = 65536, 4096, 32768, 524288
_PLACEHOLDER = re.compile(r"\{\{([A-Za-z][A-Za-z0-9_]*)\.([a-z]+)\}\}")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.:-]")


class Runbook:
    """The runbook engine: always available, and the default when there is no model."""

    name = "runbook"
    looped = False

    def probe(self, cfg: Mapping[str, Any]) -> Probe:
        return Probe(True, version=config.__version__)

    def default_model(self, cfg: Mapping[str, Any]) -> str | None:
        return None

    def preflight(self, job: Job) -> str | None:
        return policy.network_refusal(job)

    def reads(self, model: str | None, cfg: Mapping[str, Any]) -> Collection[str]:
        return ()

    def run(self, job: Job, io: TurnIO) -> AsyncGenerator[Event, None]:
        return _Performance(job, io).events()


ENGINE = Runbook()


class _Performance:
    """One run of one document."""

    def __init__(self, job: Job, io: TurnIO) -> None:
        self.job, self.io = job, io
        self.values = Values(job)
        self.turns = 0
        self.end: End | None = None

    async def events(self) -> AsyncGenerator[Event, None]:
        ops = catalogue.ops(self.job.svc)
        try:
            parts = grammar.parse(self.job.prompt, ops)
        except grammar.SyntaxFault as fault:
            yield End("error", "runbook_syntax", str(fault))
            return
        for notice in policy.unavailable(self.job, "runbook", without=("Task",)):
            yield notice
        for number, part in enumerate(parts):
            if isinstance(part, grammar.Narration):
                yield self._narrate(part, f"text_{number + 1}")
            elif self.turns == self.job.max_turns:
                text = f"The turn stopped after {self.turns} steps, the most it may take."
                self.end = End("max_turns", "max_turns", text, self.turns)
            else:
                async for event in self._step(part):
                    yield event
            for notice in self.values.notices():
                yield notice
            if self.end is not None:
                break
        yield self.end or End("ok", turns=self.turns)

    def _narrate(self, part: grammar.Narration, block: str) -> Text:
        text = self.values.fill(part.text, NARRATION_BYTES)
        self.io.delta(block, "text", text)
        return Text(text, block)

    async def _step(self, step: grammar.Step) -> AsyncGenerator[Event, None]:
        self.turns += 1
        call = f"call_{self.job.turn[-8:].lower()}_{self.turns}"  # unique in the whole chat
        use = ToolUse(step.tool, call, self._arguments(step))
        yield use
        began = time.monotonic()
        denied = await self._denial(step, use)
        output = tools.Output(denied, True, 1) if denied else await self._run(step, use.input)
        ms = round((time.monotonic() - began) * 1000)
        status = output.status if step.tool == "Bash" and not denied else None
        yield ToolResult(use.call, output.is_error, output.text, ms, status)
        self.values.keep(step.name, output)
        if output.is_error and not step.allow_failure:
            text = f"{step.tool} {step.name} failed: {output.text[-200:]}"
            self.end = End("error", "step_failed", text, self.turns)

    async def _denial(self, step: grammar.Step, use: ToolUse) -> str | None:
        if step.tool == "Task":  # granted or not, there is no model here to give it to
            return f"No such tool available: {step.tool}"
        return await self.io.gate(step.tool, use.input, use.call)

    async def _run(self, step: grammar.Step, args: Args) -> tools.Output:
        if catalogue.service(step.tool):
            is_error, text = await self.io.svc(step.tool, args, step.seconds)
            return tools.Output(text, is_error, int(is_error))
        settings = tools.Settings(
            self.job.cwd,
            self.job.engine_cfg.get("tools", {}).get("web", {}),
            self.job.network,
            self.values.environment() if step.tool == "Bash" else {},
        )
        return tools.run(step.tool, args, self.io, settings, step.seconds)

    def _arguments(self, step: grammar.Step) -> Args:
        """Fill context into every text but a command, results into Write's content alone."""
        args: Args = {}
        for key, value in step.args.items():
            if step.tool == "Bash" and key == "command":
                args[key] = value
            elif step.tool == "Write" and key == "content":
                args[key] = self.values.fill(value, OUTPUT_BYTES)
            else:
                args[key] = self.values.fill_context(value)
        if step.tool == "Bash":
            args["timeout"] = round(step.seconds * 1000)
        return args


class Values:
    """What placeholders stand for: the context of the turn, and the results of earlier steps."""

    def __init__(self, job: Job) -> None:
        now = time.gmtime()
        event = job.event or {}
        given = {
            "project.slug": job.project,
            "chat.id": job.chat,
            "turn.id": job.turn,
            "trigger.name": job.trigger,
            "event.name": event.get("name"),
            "event.chat": event.get("chat"),
            "date.utc": time.strftime("%Y-%m-%d", now),
            "time.utc": time.strftime("%H:%M:%S", now),
            **_first_happening(event),
        }
        self.event = json.dumps(event) if event.get("happenings") else ""
        self.context = {name: _UNSAFE.sub("_", value or "") for name, value in given.items()}
        self.results: dict[str, tools.Output] = {}
        self.unknown: list[str] = []
        self.told: set[str] = set()

    def keep(self, name: str, output: tools.Output) -> None:
        self.results[name] = output

    def fill(self, text: str, limit: int) -> str:
        """The text with context and results filled in, in one pass."""
        return _PLACEHOLDER.sub(lambda found: self._value(found, limit), text)

    def fill_context(self, value: Any) -> Any:
        """The value with only context filled in, in every text inside it."""
        if isinstance(value, str):
            return _PLACEHOLDER.sub(lambda found: self._value(found, None), value)
        if isinstance(value, list):
            return [self.fill_context(entry) for entry in value]
        if isinstance(value, dict):
            return {key: self.fill_context(entry) for key, entry in value.items()}
        return value

    def _value(self, found: re.Match[str], limit: int | None) -> str:
        name, field = found[1], found[2]
        known = self.context.get(f"{name}.{field}")
        if known is not None:
            return known
        output = self.results.get(name)
        if limit is not None and output is not None and field == "output":
            return cut(_raw(output), limit)
        if limit is not None and output is not None and field == "status":
            return str(output.status)
        self.unknown.append(f"{name}.{field}")
        return found[0]

    def notices(self) -> list[Notice]:
        """A notice for each placeholder that stayed as written, once per name."""
        fresh = [name for name in dict.fromkeys(self.unknown) if name not in self.told]
        self.told.update(fresh)
        self.unknown = []
        text = "{{%s}} names nothing that is known here; it stays as written."
        return [Notice("warn", "unknown_substitution", text % name) for name in fresh]

    def environment(self) -> dict[str, str]:
        """What a command sees of the turn; the newest results first, as far as they fit."""
        env = {
            "SVC_TRIGGER": self.context["trigger.name"],
            "SVC_EVENT": self.context["event.name"],
            "SVC_EVENT_CHAT": self.context["event.chat"],
            "SVC_EVENT_JSON": self.event,
        }
        left = ENV_TOTAL
        for name, output in reversed(self.results.items()):
            text = cut(_raw(output).replace("\0", ""), min(ENV_BYTES, left))
            left -= len(os.fsencode(text))
            env |= {f"SVC_STEP_{name}_OUTPUT": text, f"SVC_STEP_{name}_STATUS": str(output.status)}
        return env


def _first_happening(event: Args) -> dict[str, str]:
    """`event.app` and the like: the fields of the first happening that can be used unchanged."""
    first: Args = next(iter(event.get("happenings", ())), {})
    words = {f"event.{key}": str(value) for key, value in first.items() if value is not None}
    return {name: word for name, word in words.items() if not _UNSAFE.search(word)}


def _raw(output: tools.Output) -> str:
    return output.text if output.raw is None else output.raw


def cut(text: str, limit: int) -> str:
    """The beginning of a text that fits into `limit` bytes."""
    return text.encode(errors="replace")[:limit].decode(errors="ignore")
