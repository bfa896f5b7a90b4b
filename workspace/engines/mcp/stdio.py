"""A server as a program of the turn: JSON lines on its stdin and stdout, both bounded."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from config.process.light_typing import Any

LINE_BYTES = 16 * 1024 * 1024
ERROR_BYTES, GARBAGE_LINES = 4096, 100
LEAVE_S = 0.5


class Program:
    """The process of one server, and its output that was not a message."""

    def __init__(self, argv: list[str], env: Mapping[str, str], cwd: str) -> None:
        self.argv, self.env, self.cwd = argv, env, cwd
        self.errors = b""
        self.garbage = b""
        self.bad = 0
        self.broken = ""

    @property
    def first(self) -> str:
        """What is kept of stderr, from its first line on."""
        return self.errors.decode(errors="replace").lstrip()

    @property
    def complaint(self) -> str:
        """The last line on stderr, or what came on stdout instead of a message; "" if neither."""
        lines = self.errors.decode(errors="replace").strip().splitlines()
        if lines:
            return lines[-1][:200]
        shown = self.garbage.decode(errors="replace").strip()[:100]
        return f"it does not speak the protocol: {shown!r}" if shown else ""

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[tuple[Any, Any]]:
        """The streams to read and to write. Raises OSError if the program cannot be started."""
        process = await asyncio.create_subprocess_exec(
            *self.argv,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=dict(self.env),
            cwd=self.cwd,
            limit=LINE_BYTES,
            start_new_session=True,
        )
        said, heard = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        tell, told = anyio.create_memory_object_stream[SessionMessage](0)
        tasks = [
            asyncio.ensure_future(work)
            for work in (self._read(process, said), self._write(process, told), self._rest(process))
        ]
        try:
            yield heard, tell
        finally:
            for task in tasks[:2]:
                task.cancel()
            await _end(process)
            await asyncio.wait(tasks, timeout=LEAVE_S)
            tasks[2].cancel()
            for stream in (said, heard, tell, told):
                stream.close()

    async def _read(self, process: asyncio.subprocess.Process, said: Any) -> None:
        """Read messages until the program ends, or has sent too much that is not a message."""
        assert process.stdout
        with said, suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            while self.bad < GARBAGE_LINES:
                try:
                    line = await process.stdout.readline()
                except ValueError:
                    self.broken = f"it sent a message of over {LINE_BYTES} bytes"
                    return
                if not line:
                    return
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    self.bad += 1
                    self.garbage = self.garbage or line[:1000]
                    continue
                await said.send(SessionMessage(message))

    async def _write(self, process: asyncio.subprocess.Process, told: Any) -> None:
        assert process.stdin
        with told, suppress(OSError):
            async for item in told:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                process.stdin.write(text.encode() + b"\n")
                await process.stdin.drain()

    async def _rest(self, process: asyncio.subprocess.Process) -> None:
        """Keep the end of stderr, and read all of it so that the pipe never fills."""
        assert process.stderr
        while part := await process.stderr.read(65536):
            self.errors = (self.errors + part)[-ERROR_BYTES:]


async def _end(process: asyncio.subprocess.Process) -> None:
    """Close the program's stdin, so that it can end by itself, then kill its process group. What
    left the group dies with the sandbox, or with the turn."""
    if process.stdin:
        process.stdin.close()
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), LEAVE_S)
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), LEAVE_S)
