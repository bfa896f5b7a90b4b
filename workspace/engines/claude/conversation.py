"""One turn of Claude Code from its start to its end."""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, suppress
from pathlib import PurePosixPath

from config.process.light_typing import TYPE_CHECKING, Any
from workspace.engines import looped, policy, sandbox
from workspace.engines.base import Args, EngineError, Event, Job, Notice, ToolUse, TurnIO
from workspace.engines.claude import memory, setup
from workspace.engines.claude.messages import Messages, tool_name
from workspace.engines.mcp import hosting

if TYPE_CHECKING:
    from claude_agent_sdk import HookContext, HookInput, HookJSONOutput

TOLD_S = 1.0
_WILD = set("*?[{!")
ISOLATION = "isolation is not available; leave it out"


async def run(job: Job, io: TurnIO) -> AsyncGenerator[Event, None]:
    """The events of the turn. If Claude Code does not know the conversation after all, a second
    attempt gets the earlier messages as text."""
    place = setup.TurnFiles(job)
    start = memory.choose(job, io, place.store)
    async with hosting.opened(job, io) as servers:
        for notice in servers.notices:
            yield notice
        while True:
            attempt = Attempt(job, io, place, start, servers)
            async with aclosing(attempt.events()) as events:
                async for event in events:
                    yield event
            if not attempt.unknown:  # a replay resumes nothing: there is no third attempt
                break
            start = memory.replay(job, io, place.store, lost=True)
    yield attempt.messages.end(attempt.failure, attempt.complaint)


class Attempt:
    """One process of Claude Code, and the gate it asks."""

    def __init__(
        self,
        job: Job,
        io: TurnIO,
        place: setup.TurnFiles,
        start: memory.Start,
        servers: hosting.Servers,
    ) -> None:
        self.job, self.io, self.place, self.start = job, io, place, start
        self.servers = servers
        self.messages = Messages(job, io, start, servers.tools)
        self.failure: Exception | None = None
        self.policy = policy.Gate(job)
        self.told: dict[str, asyncio.Event] = {}  # call -> set once its tool_use is a record
        self.complaint = ""

    @property
    def unknown(self) -> bool:
        """Whether Claude Code does not have the conversation it was to continue."""
        said = str(self.failure or "")
        return self.start.resume is not None and any(word in said for word in memory.UNKNOWN)

    async def events(self) -> AsyncGenerator[Event, None]:
        with looped.loading():
            from claude_agent_sdk import query

        if self.start.lost:
            yield Notice("warn", "engine_state_lost", memory.LOST)
        for notice in self.start.since.notices(self.job):
            yield notice
        for _ in range(2):
            async with aclosing(self._process(query)) as events:
                async for event in events:
                    yield event
            if self.messages.session or not (self.failure and sandbox.says_moved(self.complaint)):
                break

    async def _process(
        self, query: Callable[..., AsyncIterator[Any]]
    ) -> AsyncGenerator[Event, None]:
        self.failure, self.complaint = None, ""
        options = setup.options(
            self.job, self.io, self.place, self.start, self.gate, servers=self.servers
        )
        options.stderr = self._complain
        try:
            async for message in query(prompt=self.start.prompt, options=options):
                for event in self.messages.events(message):
                    yield event
                    if isinstance(event, ToolUse):
                        await self.tell(event)
        except EngineError:
            raise
        except Exception as error:
            print(f"Claude Code: {type(error).__name__}: {error}", file=sys.stderr)
            self.failure = error

    def _complain(self, line: str) -> None:
        print(line, file=sys.stderr)
        self.complaint = line.strip() or self.complaint

    async def tell(self, use: ToolUse) -> None:
        """Note that the call is a record. A tool that Claude Code was not given it refuses by
        itself; such a call is denied here too, because a denial is a record of its own."""
        self.told.setdefault(use.call, asyncio.Event()).set()
        if use.tool not in self.messages.offered:
            denied = self.policy.decide(use.tool, use.input)
            if isinstance(denied, str) and denied != policy.ALLOW:
                await self.io.gate(use.tool, use.input, use.call)

    async def gate(
        self, given: HookInput, call: str | None, context: HookContext
    ) -> HookJSONOutput:
        """Allow or deny every call, in subagents too; an answer is never missing."""
        asked: Any = given
        tool, args = tool_name(asked["tool_name"]), asked["tool_input"]
        if call:
            with suppress(TimeoutError):  # its record comes first, unless there is none
                await asyncio.wait_for(self.told.setdefault(call, asyncio.Event()).wait(), TOLD_S)
        denied = await self._denial(tool, args, call or "")
        return {
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny" if denied else "allow",
                "permissionDecisionReason": denied or "allowed by the service",
            }
        }

    async def _denial(self, tool: str, args: Args, call: str) -> str | None:
        if tool == "Task" and args.get("isolation"):  # a git worktree: runs hooks of the project
            return ISOLATION
        return await self.io.gate(tool, _with_path(tool, args), call)


def _with_path(tool: str, args: Args) -> Args:
    """The arguments; of a Glob with the folder where it begins, as a pattern may lead anywhere."""
    pattern = PurePosixPath(str(args.get("pattern", "")))
    if tool != "Glob" or not (pattern.is_absolute() or ".." in pattern.parts):
        return args
    fixed = itertools.takewhile(lambda part: not set(part) & _WILD, pattern.parts)
    return {**args, "path": str(PurePosixPath(args.get("path") or ".", *fixed))}
