"""What Claude Code says, as events of a turn, and how its turn ended."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Mapping

from config.process.light_typing import TYPE_CHECKING, Any
from workspace.engines import catalogue
from workspace.engines.base import (
    AGAIN,
    Answered,
    Args,
    End,
    EngineError,
    Event,
    Job,
    Notice,
    State,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    TurnIO,
)
from workspace.engines.claude import setup
from workspace.engines.claude.memory import Start
from workspace.engines.mcp.server import owner

if TYPE_CHECKING:
    from claude_agent_sdk import AssistantMessage, ResultMessage, ToolResultBlock

ITSELF = "<synthetic>"  # the model of a message that no model wrote
DIAGNOSTIC = "[ede_diagnostic]"  # how messages meant only for its makers begin
EMPTY = "The model gave an empty answer."
BROKEN = "The model's answer broke off, also when it was asked again; send the message once more."
TASK = "Agent"  # its name for Task when it talks to a model
TOKENS = {
    "inputTokens": "inputTokens",
    "outputTokens": "outputTokens",
    "cacheReadTokens": "cacheReadInputTokens",
    "cacheWriteTokens": "cacheCreationInputTokens",
}
CONTEXT = (
    "input_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
    "output_tokens",
)
_WRAPPED = re.compile(r"</?tool_use_error>|^PreToolUse:\S+ hook error: ")
_EXIT = re.compile(r"Exit code (\d{1,3})\b")


def tool_name(tool: str) -> str:
    return "Task" if tool == TASK else tool


class Messages:
    """The messages of one process of Claude Code."""

    def __init__(self, job: Job, io: TurnIO, start: Start, theirs: Iterable[str] = ()) -> None:
        self.job, self.io, self.start = job, io, start
        self.offered = {*setup.tools(job), *setup.operations(job), *theirs}
        self.session = ""
        self.results: list[ResultMessage] = []
        self._replies: set[str] = set()
        self._failed: str | None = None  # why Claude Code could not ask the model
        self._began: dict[str, float] = {}
        self._bash: set[str] = set()
        self._blocks = 1
        self._streamed = False  # the current block was streamed and is not yet a record
        self._broken = False  # the connection that streamed it broke
        self._answered = False  # with text since the last call of a tool
        self._model = ""
        self._context: dict[str, int] = {}  # tokens of the last reply, by kind

    def events(self, message: object) -> Iterator[Event]:
        """The events of a message. Raises EngineError if there is a tool that was not given."""
        import claude_agent_sdk as sdk

        match message:
            case sdk.StreamEvent(parent_tool_use_id=None):
                self._delta(message.event)
            case sdk.AssistantMessage():
                yield from self._assistant(message)
            case sdk.UserMessage() if isinstance(message.content, list):
                for block in message.content:
                    if isinstance(block, sdk.ToolResultBlock):
                        yield self._result(block)
            case sdk.SystemMessage(subtype="init"):
                yield from self._init(message.data)
            case sdk.ResultMessage():
                self.results.append(message)
                yield self._make_answered(message.model_usage or {})

    def _init(self, data: Mapping[str, Any]) -> Iterator[Event]:
        """The first message of each turn inside: which tools and which conversation there are."""
        there = {tool_name(tool) for tool in data["tools"]}
        extra = sorted(there - self.offered)
        if extra:
            raise EngineError("engine_crashed", f"unexpected tools: {', '.join(extra)}")
        if self.session:
            return
        self.session = str(data["session_id"])
        state = {"session": self.session, "chat": self.job.chat}
        if state != self.start.state:
            yield State(state)
        for name in self._lacking(there):
            yield Notice("warn", "tool_unavailable", f"The claude engine has no tool {name}.")

    def _lacking(self, there: set[str]) -> list[str]:
        """Tools granted by name that the engine does not have in any mode."""
        withheld = {*catalogue.TOOLS, *catalogue.BY_NAME} - self.offered
        return [
            name
            for name in dict.fromkeys(self.job.tools or [])
            if name not in there and name not in withheld and not self._of_server(name)
        ]

    def _of_server(self, name: str) -> bool:
        return name.startswith(catalogue.OURS) or owner(name, self.job.servers) is not None

    def _delta(self, event: Mapping[str, Any]) -> None:
        if event.get("type") == "message_start":  # may be a request that is made again
            self._broken = self._streamed
            self._count(event["message"].get("usage"), {})
        elif event.get("type") == "message_delta":
            self._count(event.get("usage"), self._context)
        if event.get("type") != "content_block_delta":
            return
        delta = event["delta"]
        if delta.get("type") == "text_delta":
            self._stream("text", delta["text"])
        elif delta.get("type") == "thinking_delta":
            self._stream("thinking", delta["thinking"])

    def _count(self, usage: Mapping[str, Any] | None, before: Mapping[str, int]) -> None:
        told = {key: (usage or {}).get(key) for key in CONTEXT}
        self._context = {**before, **{key: int(value) for key, value in told.items() if value}}

    def _make_answered(self, models: Mapping[str, Any]) -> Answered:
        """The conversation's own model and its context. The limit is None for a model that Claude
        Code does not know, because its size is then a guess."""
        used, use = sum(self._context.values()), models.get(self._model, {})
        limit = use.get("contextWindow") if use.get("costBasis") != "unknown" else None
        return Answered(self._model or None, {"used": used, "limit": limit} if used else None)

    def _stream(self, kind: str, text: str) -> None:
        if self._broken:
            self.io.delta(self._block, AGAIN, "")
        self._streamed, self._broken = True, False
        self.io.delta(self._block, kind, text)

    @property
    def _block(self) -> str:
        return f"block_{self._blocks}"

    def _assistant(self, message: AssistantMessage) -> Iterator[Event]:
        import claude_agent_sdk as sdk

        if message.model == ITSELF:
            self._failed = message.error
            return
        task = message.parent_tool_use_id
        if task is None:
            self._replies.add(str(message.message_id))
            self._model = message.model
            yield self._make_answered({})
        for block in message.content:
            match block:
                case sdk.TextBlock() if block.text.strip():
                    yield self._text(Text(block.text, "", ref=message.uuid, task=task))
                case sdk.ThinkingBlock() if block.thinking.strip():
                    yield self._text(Thinking(block.thinking, "", ref=message.uuid, task=task))
                case sdk.ToolUseBlock():
                    yield self._note_use(
                        ToolUse(tool_name(block.name), block.id, block.input, task)
                    )

    def _text(self, said: Text | Thinking) -> Text | Thinking:
        """The text in its block, where it replaces what was streamed. Subagents do not stream."""
        block = self._block if said.task is None else f"{self._block}_of_{said.ref}"
        if said.task is None:
            self._blocks, self._streamed = self._blocks + 1, False
            self._answered = self._answered or isinstance(said, Text)
        return said._replace(block=block)

    def _note_use(self, use: ToolUse) -> ToolUse:
        self._began[use.call] = time.monotonic()
        self._answered = self._answered and use.task is not None
        if use.tool == "Bash":
            self._bash.add(use.call)
        return use

    def _result(self, block: ToolResultBlock) -> ToolResult:
        text = _WRAPPED.sub("", _words(block.content))
        is_error = bool(block.is_error)
        code = _EXIT.match(text) if is_error and block.tool_use_id in self._bash else None
        began = self._began.get(block.tool_use_id, time.monotonic())
        ms = round((time.monotonic() - began) * 1000)
        return ToolResult(block.tool_use_id, is_error, text, ms, int(code[1]) if code else None)

    def end(self, failure: Exception | None, complaint: str) -> End:
        """The End that the results stand for: the last one counts. Without a result Claude Code has
        died, and its last line on stderr is all there is to report."""
        last = self.results[-1] if self.results else None
        turns, usage, cost = len(self._replies), self._usage(last), self._cost(last)
        if last is None or (failure is not None and not last.is_error):
            if "bwrap:" in complaint and not self.session:
                return End("error", "sandbox_unavailable", f"The sandbox failed: {complaint}")
            text = f"Claude Code failed: {complaint or failure or 'it ended without a result'}"
            return End("error", "engine_crashed", text, turns, usage, cost)
        if last.subtype == "error_max_turns" or last.terminal_reason == "max_turns":
            text = f"The turn stopped after {self.job.max_turns} replies, the most it may take."
            bound = max(1, self.job.max_turns - self.job.replied)
            return End("max_turns", "max_turns", text, bound, usage, cost)
        if last.is_error or last.terminal_reason not in (None, "completed"):
            errors = [text for text in last.errors or [] if not text.startswith(DIAGNOSTIC)]
            if not last.result and not errors and last.errors:
                return End("error", "api_error", self._no_answer_text(), turns, usage, cost)
            text = last.result or "; ".join(errors) or str(last.terminal_reason)
            return End("error", self._reason(last), text, turns, usage, cost)
        if not self._answered:
            return End("error", "api_error", self._no_answer_text(), turns, usage, cost)
        return End("ok", turns=turns, usage=usage, cost=cost)

    def _no_answer_text(self) -> str:
        return BROKEN if self._streamed else EMPTY

    def _reason(self, last: ResultMessage) -> str:
        status = last.api_error_status
        if status in (401, 403) or self._failed == "authentication_failed":
            return "auth_failed"
        if status in (429, 529) or self._failed == "rate_limit":
            return "rate_limited"
        return "api_error" if last.subtype == "success" or status else "engine_crashed"

    def _usage(self, last: ResultMessage | None) -> Args | None:
        """The tokens of this turn, subagents included; the reported sums cover the conversation."""
        if last is None or not last.model_usage:
            return None
        usage = dict.fromkeys(TOKENS, 0)
        for model, reported in last.model_usage.items():
            before = self.start.before.models.get(model, {})
            for name, theirs in TOKENS.items():
                now: Any = reported.get(theirs)
                usage[name] += int(now or 0) - int(before.get(theirs) or 0)
        return usage | {"totalTokens": sum(usage.values())}

    def _cost(self, last: ResultMessage | None) -> float | None:
        """In USD; None if Claude Code does not know the price of a model."""
        if last is None or last.total_cost_usd is None:
            return None
        known = [use.get("costBasis") != "unknown" for use in (last.model_usage or {}).values()]
        return round(last.total_cost_usd - self.start.before.cost, 9) if all(known) else None


def _words(content: str | list[dict[str, Any]] | None) -> str:
    if isinstance(content, list):
        parts = [str(part.get("text", f"[{part.get('type')}]")) for part in content]
        return "\n".join(parts)
    return content or ""
