"""The connection to one server: from its start until the turn closes it.

It lives in a task of its own, because what the library opened must be closed by the task that
opened it. Whatever the server does, the task ends with a reason in `problem` and never raises.
"""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import AbstractAsyncContextManager, suppress

from mcp.client.session import ClientSession
from mcp_types import (
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    PaginatedRequestParams,
)

import config
from config.process.light_typing import Any
from workspace.engines import sandbox
from workspace.engines.base import Args, Job, TurnIO
from workspace.engines.mcp import expanding, names, programs, remote, stdio
from workspace.engines.mcp.server import Server
from workspace.engines.tools import Output, shorten

PAGES = 20  # pages of a list of tools
LEAVE_S = 1.2


class Link:
    """A connection. `problem` says why there is no session; `tools` is what the server listed."""

    def __init__(self, server: Server, job: Job, io: TurnIO) -> None:
        self.server, self.job, self.io = server, job, io
        self.tools: list[names.Tool] = []
        self.left: list[str] = []
        self.problem = ""
        self._program: stdio.Program | None = None
        self._session: ClientSession | None = None
        self._started, self._over = asyncio.Event(), asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Return when the tools are listed, or when it is certain that there will be none."""
        self._task = asyncio.create_task(self._live())
        await self._started.wait()

    async def close(self) -> None:
        self._over.set()
        if self._task is not None:
            await asyncio.wait((self._task,), timeout=LEAVE_S)
            self._task.cancel()

    async def call(self, tool: names.Tool, args: Args) -> Output:
        """Run one allowed call; any failure becomes its answer."""
        if self._session is None:
            return Output(f"The MCP server {self.server.name} has ended.", True, 1)
        seconds = self.server.call_seconds
        asked = CallToolRequest(params=CallToolRequestParams(name=tool.own, arguments=args))
        try:
            async with asyncio.timeout(seconds):
                # The library's own call would check the answer against a schema the server wrote.
                result = await self._session.send_request(asked, CallToolResult)
        except TimeoutError:
            text = f"{tool.name} did not answer within {seconds} s (callSeconds of its server)"
            return Output(text, True, 1)
        except Exception as error:
            return Output(f"{tool.name} failed: {self._reason(error)}", True, 1)
        return shorten(Output(_text(result), result.is_error, int(result.is_error)))

    async def _live(self) -> None:
        try:
            try:
                await self._serve()
            except Exception:
                if self._program is None or not sandbox.says_moved(self._program.first):
                    raise
                await self._serve()
        except TimeoutError:
            limit = f"{self.server.start_seconds} s (startSeconds)"
            self.problem = f"it did not answer within {limit}"
            if self._program is not None and self._program.complaint:
                self.problem += f"; {self._program.complaint}"
        except (expanding.Lacking, programs.Missing) as error:
            self.problem = str(error)
        except Exception as error:
            self.problem = self._reason(error)
        finally:
            self._session = None
            self._started.set()

    async def _serve(self) -> None:
        about = Implementation(name="svc", version=config.__version__)
        async with (
            asyncio.timeout(self.server.start_seconds) as limit,
            self._streams() as (read, write),
            ClientSession(read, write, client_info=about) as session,
        ):
            await session.initialize()
            await self._list(session)
            limit.reschedule(None)
            self._session = session
            self._started.set()
            await self._over.wait()

    def _streams(self) -> AbstractAsyncContextManager[tuple[Any, Any]]:
        server = expanding.expand(self.server, os.environ)
        if server.url:
            return remote.streams(server, self.job.network, self.io.count)
        cwd = os.path.realpath(self.job.cwd)
        command = programs.argv(server, cwd)
        launched, given = programs.with_launcher(command, server.env)
        argv = self.io.wrap(launched, needed=programs.needed_paths(server, command))
        self._program = stdio.Program(argv, {**os.environ, **given}, cwd)
        return self._program.streams()

    async def _list(self, session: ClientSession) -> None:
        listed: list[tuple[str, str, Any]] = []
        cursor: str | None = None
        for _ in range(PAGES):
            page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
            listed += [(one.name, one.description or "", one.input_schema) for one in page.tools]
            cursor = page.next_cursor
            if not cursor:
                break
        self.tools, self.left = names.read(self.server, listed)

    def _reason(self, error: BaseException) -> str:
        """The reason in one line: the program's own words if it has any."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if self._program is not None:
            with suppress(ValueError):
                if told := self._program.broken or self._program.complaint:
                    return told
        return (str(error).strip() or type(error).__name__).splitlines()[0][:300]


def _text(result: CallToolResult) -> str:
    """The answer as text; a block that is not text is represented by its kind or address."""
    parts = [_part(block) for block in result.content]
    if not parts and result.structured_content is not None:
        parts = [json.dumps(result.structured_content, ensure_ascii=False, default=str)]
    return "\n".join(parts)


def _part(block: Any) -> str:
    match block.type:
        case "text":
            return str(block.text)
        case "resource":
            return str(getattr(block.resource, "text", "") or f"[{block.resource.uri}]")
        case "resource_link":
            return f"[{block.name}]({block.uri})"
        case kind:
            return f"[{kind}: {getattr(block, 'mime_type', '')}]"
