"""One turn with a model: ask it, run the tools it calls, ask again.

The loop is ours and the requests are the library's. So a call of a tool that was never offered gets
the gate's answer like any other, calls run in order on the main thread where Stop interrupts them,
and every message is kept the moment it is complete.
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
    State,
    Text,
    ToolResult,
    ToolUse,
    TurnIO,
)
from workspace.engines.builtin import compaction, memory, models, servers, toolbox
from workspace.engines.builtin.arrival import Arrival
from workspace.engines.builtin.blocks import Blocks
from workspace.engines.builtin.fitting import TRIES, Fitting, TooBig, overflows
from workspace.engines.builtin.seeing import Seeing
from workspace.engines.mcp import hosting
from workspace.engines.message import again
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


class ModelFailed(Exception):
    """An answer of the model after which the turn cannot go on."""


class Turn:
    """One turn; the tasks inside it share its budget and usage."""

    model: Model
    servers: hosting.Servers
    tools: toolbox.Toolbox
    response: ModelResponse  # the last whole one

    def __init__(self, job: Job, io: TurnIO, server: str, name: str) -> None:
        self.job, self.io, self.server, self.name = job, io, server, name
        self.replies, self.calls = job.replied, 0
        self.usage = RunUsage()
        self.blocks = Blocks(io)
        self.settings = models.settings(job.engine_cfg)
        self.seeing = Seeing(job, f"{server}:{name}")
        self.arrival = Arrival()
        self.fitting = Fitting(job, f"{server}:{name}", self.settings, self.usage, self.arrival)

    async def events(self) -> Events:
        """The events of the turn, up to the End, which reports the usage however the turn ended."""
        end, cfg = End("ok"), self.job.engine_cfg
        try:
            async with (
                models.opened(self.server, self.name, cfg, self.arrival) as self.model,
                hosting.opened(self.job, self.io) as self.servers,
                aclosing(self._perform()) as performance,
            ):
                self.fitting.model = self.model
                async for event in performance:
                    yield event
        except Spent:
            text = f"The turn stopped after {self.replies} replies, the most it may take."
            end = End("max_turns", "max_turns", text)
        except ModelFailed as error:
            end = End("error", "api_error", str(error))
        except exceptions.AgentRunError as error:
            end = models.failure(error, self.arrival)
            if self.job.retry and end.reason == "rate_limited":
                self.replies -= 1  # no reply came: the next try may use it
        usage, cost = models.usage_and_cost(self.usage)
        yield end._replace(turns=self.replies - self.job.replied, usage=usage, cost=cost)

    async def _perform(self) -> Events:
        self.tools, notices = await toolbox.build(self.job, self.io, self.servers)
        if self._truncates():
            notices.append(Notice("warn", "local_context", LOCAL_CONTEXT))
        for notice in notices:
            yield notice
        messages = memory.recall(self.io.earlier())
        if messages and self._asked_before():
            async with aclosing(self._again(messages)) as events:
                async for event in events:
                    yield event
            return
        if messages:
            since = history.since(self.job, self.io.earlier(), told="messages")
            for notice in since.notices(self.job):
                yield notice
            async with aclosing(self._say(since.before(self.job.message), messages)) as events:
                async for event in events:
                    yield event
            return
        if messages is None:
            yield Notice("warn", "engine_state_lost", memory.STATE_LOST)
        async with aclosing(self._begin(anew=messages is None)) as events:
            async for event in events:
                yield event

    def _asked_before(self) -> bool:
        """Whether an earlier try of this turn put its message to the model."""
        newest = next((one for one in self.io.earlier() if one["type"] == "engine"), None)
        return newest is not None and newest["turn"] == self.job.turn

    def _again(self, messages: list[ModelMessage]) -> Events:
        """Go on after a refused try: with the same request, or with GO_ON after a reply."""
        if isinstance(messages[-1], ModelRequest):
            return self._talk(messages)
        return self._say(again.GO_ON, messages)

    def _begin(self, *, anew: bool) -> Events:
        """Begin a conversation that knows only our own records of the chat."""
        earlier = again.earlier(self.job, self.io)
        told = (history.preamble(earlier), again.message(self.job, self.io))
        return self._say("\n\n".join(filter(None, told)), [], anew=anew)

    async def _say(self, words: str, messages: list[ModelMessage], *, anew: bool = False) -> Events:
        said, notices = self.seeing.prompt(words)
        for notice in notices:
            yield notice
        prompt = memory.prompt(said, self.job.instructions, anew=anew)
        memory.append(messages, prompt)
        yield memory.as_event(prompt)
        async with aclosing(self._talk(messages)) as events:
            async for event in events:
                yield event

    def _truncates(self) -> bool:
        """Whether the chat has to be warned, once, that its server forgets silently."""
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
                    raise ModelFailed("The model gave an empty answer.")
                continue
            if not response.tool_calls:
                return
            empty = 0
            for part in response.tool_calls:
                async with aclosing(self._call(part, messages, task)) as call:
                    async for event in call:
                        yield event

    async def _reply(self, messages: list[ModelMessage], task: str | None) -> Events:
        """One request. Its response becomes the last message, unless nothing was said in it."""
        if self.replies >= self.job.max_turns:
            raise Spent
        self.replies += 1
        async with aclosing(self._answer_that_fits(messages, task)) as answer:
            async for event in answer:
                yield event
        response = self.response
        self.usage.incr(response.usage)
        if task is None:
            yield self._make_answered(response)
        if response.tool_calls or (response.text or "").strip():
            memory.append(messages, response)
            if task is None:
                yield memory.as_event(response)
        if response.finish_reason in CUT:
            raise ModelFailed(CUT[response.finish_reason])

    def _make_answered(self, response: ModelResponse) -> Answered:
        """Which model replied, by the server's own account, and how full its context is."""
        used = response.usage.input_tokens + response.usage.output_tokens
        model = f"{self.server}:{response.model_name or self.name}"
        return Answered(model, {"used": used, "limit": self.fitting.limit} if used else None)

    async def _answer_that_fits(self, messages: list[ModelMessage], task: str | None) -> Events:
        """One answer; the conversation is shortened if it is too long, or if the server says so."""
        offered = self.tools.definitions(nested=task is not None)
        error: exceptions.AgentRunError | None = None
        for left in reversed(range(TRIES + 1)):
            refused, keep = error is not None, task is None
            try:
                folding = self.fitting.fold(messages, offered, refused=refused, keep=keep)
                async with aclosing(folding) as events:
                    async for event in events:
                        yield event
                async with aclosing(self._unbroken(messages, task)) as blocks:
                    async for block in blocks:
                        yield block
                return
            except TooBig as big:
                left_out = compaction.without(messages, self.job.message)
                for event in memory.as_events(left_out) if str(big) and keep else []:
                    yield event
                raise ModelFailed(str(big)) if str(big) or error is None else error from None
            except (exceptions.AgentRunError, exceptions.UserError) as refusal:
                blind = self.seeing.is_refusal(refusal)
                if blind and left:
                    error = None
                elif left and overflows(refusal):
                    error = refusal
                else:
                    raise
            if error is None:
                self.seeing.blind = True
                yield self.seeing.unseen()
            else:
                self.fitting.learn(error, self.fitting.plain(messages, offered))
            known = {**self.fitting.state(), **self.seeing.state()}
            yield State({**(self.job.engine_ref or {}), **known})

    async def _unbroken(self, messages: list[ModelMessage], task: str | None) -> Events:
        """One answer, requested again if its connection breaks before any text became a record."""
        for left in reversed(range(models.RETRIES + 1)):
            try:
                async with aclosing(self._ask(messages, task)) as blocks:
                    async for block in blocks:
                        yield block
                return
            except Broken as broken:
                if broken.told or not left:
                    raise ModelFailed(BROKEN) from broken
                self.blocks.again()

    async def _ask(self, messages: list[ModelMessage], task: str | None) -> Events:
        """One request; sets `response` when it is complete. Raises Broken if only a part came."""
        offered = self.tools.definitions(nested=task is not None)
        begun = told = False
        try:
            async with model_request_stream(
                self.model,
                self.seeing.with_pictures(messages),
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
            if not self.arrival.whole(self.server, stream.provider_details):
                raise Broken(told)
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
        attempt = f"{self.job.attempt}_" if self.job.attempt > 1 else ""
        # Unique in the whole chat.
        call = f"call_{self.job.turn[-8:].lower()}_{attempt}{self.calls}"
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
            except ModelFailed as error:
                output = Output(str(error), True, 1)
        else:
            output = await self.tools.run(part.tool_name, args)
        ms = round((time.monotonic() - began) * 1000)
        status = output.status if part.tool_name == "Bash" and not denied else None
        yield ToolResult(call, output.is_error, output.text, ms, status)
        answer = self._answer(part, output)
        memory.append(messages, answer)
        if task is None:
            yield memory.as_event(answer)

    async def _refusal(self, name: str, args: Args, call: str, task: str | None) -> str | None:
        if name == "Task" and task is not None:
            return f"No such tool available: {name}"
        return await self.tools.refusal(name, args, call)

    def _task(self, args: Args) -> list[ModelMessage]:
        """The first message of a conversation inside this one."""
        return [memory.prompt(args["prompt"], f"{self.job.instructions}\n{SUBAGENT}".strip())]

    def _answer(self, part: ToolCallPart, output: Output) -> ModelRequest:
        seen = part.tool_name == "Read"
        returned = ToolReturnPart(
            part.tool_name,
            self.seeing.answer(output) if seen else output.text or "(no output)",
            part.tool_call_id,
            outcome="failed" if output.is_error else "success",
        )
        return ModelRequest([returned], instructions=self.job.instructions)


def _text(message: ModelMessage) -> str:
    return (message.text or "") if isinstance(message, ModelResponse) else ""
