"""One turn of an ACP agent: start it, open its session, prompt it, report what comes back."""

from __future__ import annotations

import asyncio
import os
from base64 import b64encode
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, suppress

from config.process.light_typing import Any
from workspace.engines import history, looped, sandbox
from workspace.engines.acp import agents, failures, servers
from workspace.engines.acp.calls import UNKNOWN_END, Call, Calls, text_of
from workspace.engines.acp.client import Client, Question
from workspace.engines.acp.sessions import Session, news, open_session
from workspace.engines.base import (
    Answered,
    End,
    EngineError,
    Event,
    Job,
    Notice,
    State,
    Text,
    Thinking,
    ToolResult,
    TurnIO,
)
from workspace.engines.message import again, pictures
from workspace.engines.proxy import gateway

LINE_BYTES = 2**24
CLOSE_S = 1.0
STDERR_BYTES = 8192
OVER = object()  # the prompt was answered: nothing more comes


class Performance:
    """One turn, as a stream of events."""

    def __init__(self, job: Job, io: TurnIO) -> None:
        self.job, self.io = job, io
        self.client = Client(job.cwd, io)
        self.calls = Calls(job.turn, job.attempt)
        self.errors = b""
        self.block: Text | Thinking | None = None
        self.blocks = 0
        self.shown: list[pictures.Picture] = []
        self.answer: Any = None
        self.cost: float | None = None  # of the whole session, as the agent last reported it

    async def events(self) -> AsyncGenerator[Event, None]:
        agent, refusal = agents.choose(self.job.model, self.job.engine_cfg["settings"])
        if agent is None or refusal:
            raise EngineError("refused", refusal or "")
        async with aclosing(self._process_events(agent)) as events:
            first = await anext(events)
            if not self._has_moved(first):
                yield first
                async for event in events:
                    yield event
                return
        self.errors = b""
        async with aclosing(self._process_events(agent)) as events:
            async for event in events:
                yield event

    def _has_moved(self, event: Event) -> bool:
        """Whether this is the end of a sandbox that did not start, but may if tried again now."""
        lost = isinstance(event, End) and event.reason == "sandbox_unavailable"
        return lost and sandbox.says_moved(self.errors.decode(errors="replace"))

    async def _process_events(self, agent: agents.Agent) -> AsyncGenerator[Event, None]:
        """The events of one process of the agent, from its start to its end."""
        with looped.loading():
            import acp

        started = acp.spawn_agent_process(
            self.client,  # type: ignore[arg-type] # the rest of the protocol is not offered
            *self.io.wrap(
                agents.argv(agent),
                needed=[*agents.needed_paths(agent), *servers.needed_paths(self.job)],
                endpoints=self._endpoints(agent),
            ),
            env=self._environment(agent),
            cwd=os.path.realpath(self.job.cwd),
            transport_kwargs={"limit": LINE_BYTES, "shutdown_timeout": CLOSE_S},
        )
        try:
            connection, process = await started.__aenter__()
        except OSError as error:
            text = f"The agent {agent.name} cannot be started: {error.strerror}"
            yield End("error", "engine_crashed", text)
            return
        try:
            async with aclosing(self._catch_failures(agent, connection, process)) as events:
                async for event in events:
                    yield event
        finally:
            with suppress(OSError):  # its pipe may be broken
                await started.__aexit__(None, None, None)

    def _endpoints(self, agent: agents.Agent) -> list[tuple[str, int]]:
        """The agent's model servers: its variables that are URLs, and `urls` of its settings."""
        keys = self.job.engine_cfg.get("keys", {})
        urls = [*(keys.get(name) for name in agent.env), *agent.urls]
        return [found for url in urls for found in gateway.endpoint(url)]

    def _environment(self, agent: agents.Agent) -> dict[str, str]:
        """The turn's environment, with those variables of the service that the settings name."""
        keys = self.job.engine_cfg.get("keys", {})
        return dict(os.environ) | {name: keys[name] for name in agent.env if name in keys}

    async def _catch_failures(
        self, agent: agents.Agent, connection: Any, process: Any
    ) -> AsyncGenerator[Event, None]:
        """The events of the turn; any failure of the agent or its process becomes its End."""
        from acp import RequestError

        reading = asyncio.ensure_future(self._read_errors(process.stderr))
        try:
            async with aclosing(self._turn(agent, connection)) as events:
                async for event in events:
                    yield event
        except EngineError as error:
            yield End("error", error.reason, error.text)
        except RequestError as error:
            for event in self._flush():
                yield event
            yield failures.end_from_error(agent.name, error)
        except Exception as error:
            for event in self._flush():
                yield event
            await asyncio.wait((asyncio.ensure_future(process.wait()), reading), timeout=CLOSE_S)
            said = self.errors.decode(errors="replace")
            yield failures.end_from_crash(agent.name, process.returncode, said, error)
        finally:
            reading.cancel()

    async def _read_errors(self, stderr: asyncio.StreamReader) -> None:
        """Keep the end of the agent's stderr, and read all of it so that the pipe never fills."""
        while part := await stderr.read(65536):
            self.errors = (self.errors + part)[-STDERR_BYTES:]

    async def _turn(self, agent: agents.Agent, connection: Any) -> AsyncGenerator[Event, None]:
        session = await open_session(agent, connection, self.job)
        since = history.Since() if session.fresh else history.since(self.job, self.io.earlier())
        changed = news(session, self.job)
        for event in [*session.events, *changed, *since.notices(self.job)]:
            yield event
        if session.model:
            yield Answered(f"{agent.name}:{session.model}")
        self.io.on_stop(lambda: connection.cancel(session_id=session.id))
        self.client.listening = True
        for event in self._see(agent, session):
            yield event
        answer = None
        while answer is None:
            self.answer = None
            async with aclosing(
                self._one_prompt(agent, connection, session, since, changed)
            ) as events:
                async for event in events:
                    yield event
            answer = self.answer
        for event in [*self._flush(), *(call.result(UNKNOWN_END) for call in self.calls.open())]:
            yield event
        if self.cost is not None:
            yield State(session.state | {"cost": self.cost})
        yield failures.end_from_answer(answer, self._turn_cost(session))

    def _see(self, agent: agents.Agent, session: Session) -> Iterator[Event]:
        """Take the pictures of the message, and yield what has to be said about them."""
        if not self.job.images or again.has_begun(self.job, self.io):
            return
        if not session.sees:
            yield Notice("warn", pictures.UNSEEN, pictures.unseen(f"The agent {agent.name}"))
            return
        self.shown, others = pictures.read_fitting(self.job.images)
        if others:
            yield Notice("warn", pictures.LEFT_OUT, pictures.too_much(others))

    async def _one_prompt(
        self,
        agent: agents.Agent,
        connection: Any,
        session: Session,
        since: history.Since,
        changed: list[Event],
    ) -> AsyncGenerator[Event, None]:
        """Send the prompt and set `answer`; it stays None if the prompt has to be sent again
        without its pictures."""
        from acp import RequestError

        asked = asyncio.ensure_future(
            connection.prompt(session.id, self._prompt(session, since, changed))
        )
        asked.add_done_callback(lambda _: self.client.queue.put_nowait(OVER))
        try:
            while (item := await self.client.queue.get()) is not OVER:
                for event in self._translate(item):
                    yield event
                if isinstance(item, Question):
                    item.call.set_result(self.calls.merge(item.tool_call))
            self.answer = await asked
        except RequestError as error:
            if not self.shown or self.blocks or not pictures.is_refusal(f"{error} {error.data}"):
                raise
            self.shown = []
            yield Notice("warn", pictures.UNSEEN, pictures.unseen(f"The agent {agent.name}"))
        finally:
            asked.cancel()

    def _prompt(self, session: Session, since: history.Since, changed: list[Event]) -> list[Any]:
        """The message, after what the session does not know yet. For a fresh session that is the
        instructions and the earlier conversation, for another changed instructions and what others
        did since."""
        from acp import image_block, text_block

        texts = [
            self.job.instructions if changed else "",
            since.text,
            again.message(self.job, self.io),
        ]
        if session.fresh:
            told = history.preamble(again.earlier(self.job, self.io))
            texts = [self.job.instructions, told, *texts]
        seen = [image_block(b64encode(one.data).decode(), one.type) for one in self.shown]
        return [*(text_block(text) for text in texts if text), *seen]

    def _turn_cost(self, session: Session) -> float | None:
        """What this turn cost: the agent reports the cost of the whole session so far."""
        before: float | None = session.state.get("cost")
        if self.cost is None or before is None or self.cost < before:
            return None
        return round(self.cost - before, 6)

    def _translate(self, item: Any) -> Iterator[Event]:
        if isinstance(item, ToolResult):
            yield item
            return
        if isinstance(item, Question):
            yield from self._use(self.calls.merge(item.tool_call))
            return
        match item.session_update:
            case "agent_message_chunk":
                yield from self._add(Text, "text", item)
            case "agent_thought_chunk":
                yield from self._add(Thinking, "thinking", item)
            case "tool_call" | "tool_call_update":
                yield from self._call(self.calls.merge(item))
            case "plan":
                yield from self._flush()
                use = self.calls.plan(item.entries)
                yield use
                yield ToolResult(use.call, False, "", 0)
            case "usage_update":
                if item.cost and item.cost.currency == "USD":
                    self.cost = item.cost.amount
                if item.used:
                    yield Answered(context={"used": item.used, "limit": item.size or None})

    def _add(self, kind: type[Text | Thinking], word: str, update: Any) -> Iterator[Event]:
        """Add a piece of text; a block ends where another kind begins."""
        piece = text_of(update.content)
        if self.block is not None and not isinstance(self.block, kind):
            yield from self._flush()
        if self.block is None:
            self.blocks += 1
            self.block = kind("", f"{word}_{self.blocks}")
        self.block = self.block._replace(text=self.block.text + piece)
        self.io.delta(self.block.block, word, piece)

    def _flush(self) -> Iterator[Event]:
        if self.block is not None:
            done, self.block = self.block, None
            yield done

    def _call(self, call: Call) -> Iterator[Event]:
        if call.running:
            yield from self._use(call)
        if call.done and not call.ended:
            yield call.result()
        elif call.denied and call.known["status"] == "completed" and not call.told:
            call.told = True
            text = "The agent says it went on with something that was denied."
            yield Notice("warn", "agent_ignored_denial", text)

    def _use(self, call: Call) -> Iterator[Event]:
        if not call.used:
            yield from self._flush()
            yield call.use()
