"""One turn with a model: ask it, run the tools it calls, ask again.

The loop is ours and the requests are the library's: so a call of a tool that was never offered
gets the gate's answer like any other, calls run in their order on the main thread where Stop
interrupts them, and every message is kept the moment it is whole.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing

from pydantic_ai import exceptions
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ToolCallPart,
    ToolReturnPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.usage import RunUsage

from workspace.engines import history
from workspace.engines.base import (
    Answered,
    Args,
    End,
    Event,
    Job,
    Notice,
    Text,
    ToolResult,
    ToolUse,
    TurnIO,
)
from workspace.engines.builtin import memory, models, servers, toolbox
from workspace.engines.builtin.blocks import Blocks
from workspace.engines.tools import Output

Events = AsyncGenerator[Event, None]
SUBAGENT = "You are a second agent, for one task. Your last message is its answer."
LOCAL_CONTEXT = (
    "The model server is ollama: unless its context length was raised (4096 tokens by default, "
    "OLLAMA_CONTEXT_LENGTH), it drops the front of a long conversation without a word."
)
BROKEN = "The model's server broke off in the middle of its answer; send the message once more."
EMPTY = 2  # times in a row that a model which says nothing is asked again
CUT = {
    "length": "The model stopped at the length it may answer; the answer is cut.",
    "content_filter": "The model's provider withheld the answer.",
}


class Spent(Exception):
    """The model has replied as often as it may."""


class Broken(Exception):
    """The connection was cut in an answer; `told`: a part of it is a record already."""

    def __init__(self, told: bool) -> None:
        super().__init__(told)
        self.told = told


class Failed(Exception):
    """An answer of the model that cannot be gone on with."""


class Turn:
    """One turn: its budget and its usage are shared with the tasks inside it."""

    model: Model
    tools: toolbox.Toolbox
    response: ModelResponse  # the last whole one

    def __init__(self, job: Job, io: TurnIO, server: str, name: str) -> None:
        self.job, self.io, self.server, self.name = job, io, server, name
        self.replies = self.calls = 0
        self.usage = RunUsage()
        self.blocks = Blocks(io)
        self.settings = models.settings(job.engine_cfg)

    async def events(self) -> Events:
        """From the message to the End, which says what was used whatever happened."""
        end = End("ok")
        try:
            async with (
                models.opened(self.server, self.name, self.job.engine_cfg) as self.model,
                aclosing(self._perform()) as performance,
            ):
                async for event in performance:
                    yield event
        except Spent:
            text = f"The turn stopped after {self.replies} replies, the most it may take."
            end = End("max_turns", "max_turns", text)
        except Failed as error:
            end = End("error", "api_error", str(error))
        except exceptions.AgentRunError as error:
            end = models.failure(error)
        usage, cost = models.reported(self.usage)
        yield end._replace(turns=self.replies, usage=usage, cost=cost)

    async def _perform(self) -> Events:
        self.tools, notices = await toolbox.opened(self.job, self.io)
        if self._truncates():
            notices.append(Notice("warn", "local_context", LOCAL_CONTEXT))
        for notice in notices:
            yield notice
        messages = memory.recall(self.io.earlier())
        if messages:
            since = history.since(self.job, self.io.earlier(), told="messages")
            for notice in since.notices(self.job):
                yield notice
            words = since.before(self.job.message)
            async with aclosing(self._continue(words, messages)) as events:
                async for event in events:
                    yield event
            return
        if messages is None:
            yield Notice("warn", "engine_state_lost", memory.STATE_LOST)
        async with aclosing(self._begin(anew=messages is None)) as events:
            async for event in events:
                yield event

    async def _continue(self, words: str, messages: list[ModelMessage]) -> Events:
        """With what the model remembers; in words when that is more than it can take."""
        try:
            async with aclosing(self._say(words, messages)) as events:
                async for event in events:
                    yield event
        except exceptions.ModelContextWindowExceededError:
            if self.replies > 1:  # it had begun to work
                raise
            yield Notice("warn", "engine_state_lost", memory.TOO_LONG)
            async with aclosing(self._begin(anew=True)) as events:
                async for event in events:
                    yield event

    def _begin(self, *, anew: bool) -> Events:
        """With nothing but our own records of the chat."""
        told = (history.preamble(self.io.earlier()), self.job.message)
        return self._say("\n\n".join(filter(None, told)), [], anew=anew)

    async def _say(self, words: str, messages: list[ModelMessage], *, anew: bool = False) -> Events:
        prompt = memory.prompt(words, self.job.instructions, anew=anew)
        memory.append(messages, prompt)
        yield memory.kept(prompt)
        async with aclosing(self._talk(messages)) as events:
            async for event in events:
                yield event

    def _truncates(self) -> bool:
        """Whether the chat has to be told, once, that its server forgets silently."""
        if self.server != "local" or not servers.is_ollama(self.job.engine_cfg):
            return False
        return all(record.get("code") != "local_context" for record in self.io.earlier())

    async def _talk(self, messages: list[ModelMessage], task: str | None = None) -> Events:
        """Replies and calls until the model calls nothing; its last reply is the last message."""
        empty = 0
        while True:
            async with aclosing(self._reply(messages, task)) as reply:
                async for event in reply:
                    yield event
            response = messages[-1]
            if not isinstance(response, ModelResponse):
                empty += 1
                if empty > EMPTY:
                    raise Failed("The model gave an empty answer.")
                continue
            if not response.tool_calls:
                return
            empty = 0
            for part in response.tool_calls:
                async with aclosing(self._call(part, messages, task)) as call:
                    async for event in call:
                        yield event

    async def _reply(self, messages: list[ModelMessage], task: str | None) -> Events:
        """One request. Its response is the last message then, unless nothing was said in it."""
        if self.replies >= self.job.max_turns:
            raise Spent
        self.replies += 1
        for left in reversed(range(models.RETRIES + 1)):
            try:
                async with aclosing(self._ask(messages, task)) as blocks:
                    async for block in blocks:
                        yield block
                break
            except Broken as broken:
                if broken.told or not left:
                    raise Failed(BROKEN) from broken
                self.blocks.again()
        response = self.response
        self.usage.incr(response.usage)
        if task is None:
            yield self._replied(response)
        if response.tool_calls or (response.text or "").strip():
            memory.append(messages, response)
            if task is None:
                yield memory.kept(response)
        if response.finish_reason in CUT:
            raise Failed(CUT[response.finish_reason])

    def _replied(self, response: ModelResponse) -> Answered:
        """Which model it was by the server's own word, and what its context holds by now."""
        used = response.usage.input_tokens + response.usage.output_tokens
        limit = servers.context_tokens(self.job.engine_cfg, self.server, self.name)
        model = f"{self.server}:{response.model_name or self.name}"
        return Answered(model, {"used": used, "limit": limit} if used else None)

    async def _ask(self, messages: list[ModelMessage], task: str | None) -> Events:
        """One request; its whole response is `response` then. Broken when only a part came."""
        offered = self.tools.definitions(nested=task is not None)
        begun = told = False
        try:
            async with model_request_stream(
                self.model,
                messages,
                model_settings=self.settings,
                model_request_parameters=ModelRequestParameters(function_tools=offered),
            ) as stream:
                async for part in stream:
                    begun = True
                    block = self.blocks.take(part, task)
                    if block is not None:
                        told = told or isinstance(block, Text)
                        yield block
                self.response = stream.get()
        except exceptions.ModelTimeoutError:
            raise
        except exceptions.ModelConnectionError as error:
            if not begun:
                raise
            raise Broken(told) from error

    async def _call(
        self, part: ToolCallPart, messages: list[ModelMessage], task: str | None
    ) -> Events:
        """One call of a tool and its answer."""
        self.calls += 1
        call = f"call_{self.job.turn[-8:].lower()}_{self.calls}"  # unique in the whole chat
        args, wrong = toolbox.arguments(part)
        yield ToolUse(part.tool_name, call, args, task)
        began = time.monotonic()
        denied = wrong or await self._refusal(part.tool_name, args, call, task)
        if denied:
            output = Output(denied, True, 1)
        elif part.tool_name == "Task":
            inner = self._task(args)
            try:
                async with aclosing(self._talk(inner, call)) as talk:
                    async for event in talk:
                        yield event
                output = Output(_text(inner[-1]))
            except Failed as error:
                output = Output(str(error), True, 1)
        else:
            output = await self.tools.run(part.tool_name, args)
        ms = round((time.monotonic() - began) * 1000)
        status = output.status if part.tool_name == "Bash" and not denied else None
        yield ToolResult(call, output.is_error, output.text, ms, status)
        answer = self._answer(part, output)
        memory.append(messages, answer)
        if task is None:
            yield memory.kept(answer)

    async def _refusal(self, name: str, args: Args, call: str, task: str | None) -> str | None:
        if name == "Task" and task is not None:
            return f"No such tool available: {name}"
        return await self.tools.refusal(name, args, call)

    def _task(self, args: Args) -> list[ModelMessage]:
        """The beginning of a conversation inside this one."""
        return [memory.prompt(args["prompt"], f"{self.job.instructions}\n{SUBAGENT}".strip())]

    def _answer(self, part: ToolCallPart, output: Output) -> ModelRequest:
        returned = ToolReturnPart(
            part.tool_name,
            output.text or "(no output)",
            part.tool_call_id,
            outcome="failed" if output.is_error else "success",
        )
        return ModelRequest([returned], instructions=self.job.instructions)


def _text(message: ModelMessage) -> str:
    return (message.text or "") if isinstance(message, ModelResponse) else ""
