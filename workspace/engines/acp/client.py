"""Our side of the protocol: what the agent reports goes into a queue in order, what it asks goes to
the gate. There are no methods for files and terminals, so an agent can use none of ours.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from config.process.light_typing import Any
from workspace.engines.acp.calls import Call
from workspace.engines.base import TurnIO

WRITES = ("edit", "delete", "move")
ONLY_FOR_EVER = "the agent asks to be allowed permanently, which this service never does"


class Question:
    """Permission the agent asks for. The call is recorded first, then `call` is set."""

    def __init__(self, tool_call: Any) -> None:
        self.tool_call = tool_call
        self.call: asyncio.Future[Call] = asyncio.get_running_loop().create_future()


class Client:
    """The client that the library calls; it prescribes the names of the methods."""

    def __init__(self, cwd: str, io: TurnIO) -> None:
        self.cwd, self.io = Path(cwd), io
        self.listening = False  # updates before the prompt are a replay of the past
        self.queue: asyncio.Queue[Any] = asyncio.Queue()

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        if self.listening:
            self.queue.put_nowait(update)

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **_: Any
    ) -> Any:
        from acp import schema

        chosen = await self._answer(tool_call, options) if self.listening else None
        outcome = (
            schema.AllowedOutcome(outcome="selected", option_id=chosen)
            if chosen
            else schema.DeniedOutcome(outcome="cancelled")
        )
        return schema.RequestPermissionResponse(outcome=outcome)

    async def _answer(self, tool_call: Any, options: list[Any]) -> str | None:
        """The option for what the gate decided, for this one call."""
        question = Question(tool_call)
        self.queue.put_nowait(question)
        call = await question.call
        once = _option(options, "allow_once")
        denied = await self._judge(call)
        if denied is None and once is None:
            denied = ONLY_FOR_EVER
        if denied is None:
            return once
        call.denied = True
        self.queue.put_nowait(call.result(denied))
        return _option(options, "reject_once") or _option(options, "reject_always")

    async def _judge(self, call: Call) -> str | None:
        """Ask the gate. A path that may not be opened decides; removing counts as writing."""
        write = call.known.get("kind") in WRITES
        wrong = next((path for path in call.paths if self._wrong(path, write=write)), None)
        if wrong and write:
            return await self.io.gate("Edit", {**call.arguments(), "file_path": wrong}, call.name)
        return await self.io.gate(call.tool, call.arguments(wrong), call.name)

    def _wrong(self, path: str, *, write: bool) -> bool:
        try:
            real = str((self.cwd / path).resolve())
        except (OSError, RuntimeError, ValueError):
            return True  # not a path at all: the gate will refuse it too
        return self.io.denial(real, write=write) is not None


def _option(options: list[Any], kind: str) -> str | None:
    return next((one.option_id for one in options if one.kind == kind), None)
