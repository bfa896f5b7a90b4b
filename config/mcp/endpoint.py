"""The MCP endpoint of a surface: its registry over streamable HTTP, stateless.

A subclass authenticates the caller (`admit`) and keeps a record of each call (`record`). Each
request is answered by a fresh SDK server bound to the caller; only this module and revisions.py
import the SDK. No session, no state between requests, no unsolicited messages. The order of its
checks: docs/design/architecture.md#the-mcp-transport
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, TypeVar
from weakref import WeakKeyDictionary

from channels.generic.http import AsyncHttpConsumer
from django.db import connection as database
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.models import InitializationOptions
from mcp.server.runner import ServerRunner
from mcp.shared.exceptions import MCPError, NoBackChannelError
from mcp.shared.transport_context import TransportContext
from mcp_types import (
    PaginatedRequestParams,
    ServerCapabilities,
    ToolsCapability,
    methods,
)
from mcp_types.version import LATEST_HANDSHAKE_VERSION
from pydantic import ValidationError

from config import __version__, jsonio
from config.errors import Denied, SvcError, translate
from config.mcp import arguments, jsonrpc, revisions
from config.mcp.jsonrpc import Message, RequestRefused
from config.mcp.keepalive import KeepAlive
from config.mcp.operations import Operation, Principal, Registry
from config.mcp.results import (
    Result,
    describe_error,
    encode,
    outcome_of,
    tool,
    tool_error,
    tool_result,
)
from config.web.answers import Receive, Refusal, Send, refuse
from config.web.guard import Headers
from config.web.http import threads
from config.web.http.body import Gone, chunks, outlive

log = logging.getLogger(__name__)

METHODS = frozenset({"initialize", "ping", "tools/list", "tools/call"})
KNOWN = METHODS | revisions.METHODS
NAME_SHOWN = 100
LISTS_KEPT = 256
STREAM_BEGINS = {
    "type": "http.response.start",
    "status": 200,
    "headers": (
        (b"content-type", b"text/event-stream"),
        (b"cache-control", b"no-cache, no-transform"),
        (b"x-accel-buffering", b"no"),
    ),
}
UNAVAILABLE = Refusal(503, {"error": "unavailable", "code": "ops_unavailable"})

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Call:
    """One answered request, as it is recorded."""

    principal: Principal
    operation: str  # the tool, or the method
    outcome: str  # ok, error, denied, unknown_tool, invalid
    ms: int
    arguments: Mapping[str, Any] = field(default_factory=dict)
    result: Mapping[str, Any] = field(default_factory=dict)

    @property
    def tool(self) -> bool:
        """Whether a tool was called, rather than a method of the protocol."""
        return bool(self.operation) and self.operation not in KNOWN


class McpConsumer(AsyncHttpConsumer):  # type: ignore[misc]
    """One request to one endpoint. `name` is the server's name in the protocol."""

    name: ClassVar[str] = "svc"
    registry: ClassVar[Registry | None] = None

    async def admit(self) -> Principal | Refusal:
        """Return the caller. Called before anything else is checked, whatever the method."""
        raise NotImplementedError

    def record(self, call: Call) -> None:
        """Called once for each answered request, from any thread."""

    def failure(self, error: SvcError) -> Result:
        """The result for a tool that was refused, or that has a defect (a plain SvcError)."""
        return tool_error(error.text if isinstance(error, Denied) else f"Error: {error.tool_text}")

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """The whole exchange. Channels' own dispatch would pass every message through a thread."""
        self.scope, self.receive, self.base_send = scope, receive, send
        self.began = time.monotonic()
        caller = await self.admit()
        if isinstance(caller, Refusal):
            await refuse(send, caller)
            return
        try:
            await self._exchange(caller)
        except RequestRefused as refused:
            if refused.answer.status != 405:
                self.done(caller, "", "invalid")
            await refuse(send, refused.answer)
        except Gone:
            return

    async def _exchange(self, caller: Principal) -> None:
        headers = Headers(self.scope)
        if self.scope["method"] != "POST":
            text = "Method not allowed: send POST"
            jsonrpc.refuse(405, jsonrpc.TRANSPORT_ERROR, text, None, (b"allow", b"POST"))
        if self.registry is None:
            raise RequestRefused(UNAVAILABLE)
        jsonrpc.check_headers(headers)
        message = jsonrpc.parse(await self._body())
        stateless = revisions.stateless(headers, message)
        if not message.is_request:
            await self.send_response(202, b"", headers=[(b"content-length", b"0")])
            return
        await self._answer(Exchange(self, caller, self.registry, stateless), message)

    async def _body(self) -> bytes:
        parts, size = [], 0
        async for chunk in chunks(self.receive):
            parts.append(chunk)
            size += len(chunk)
            if size > jsonrpc.BODY_LIMIT:
                jsonrpc.refuse_size()
        return b"".join(parts)

    async def _answer(self, exchange: Exchange, message: Message) -> None:
        """Send the one event, with its headers. For a slow tool call the headers are sent first."""
        await self.base_send(STREAM_BEGINS)
        if message.method == "tools/call":
            async with KeepAlive(self.send_body):
                event = await exchange.event(message)
        else:
            event = await exchange.event(message)
        await self.base_send({"type": "http.response.body", "body": event, "more_body": False})

    async def patient(self, wait: Awaitable[T]) -> T:
        """Return the awaited result. If the client disconnects, the wait is cancelled: Gone."""
        waiting = asyncio.ensure_future(wait)
        if not await outlive(self.receive, waiting):
            raise Gone
        return waiting.result()

    def done(self, caller: Principal, operation: str, outcome: str, **more: Any) -> None:
        """Record one answered request."""
        elapsed = round((time.monotonic() - self.began) * 1000)
        self.record(Call(caller, operation, outcome, elapsed, **more))


@dataclass(slots=True)
class Exchange:
    """One JSON-RPC request of one caller, answered by a server made for it."""

    endpoint: McpConsumer
    caller: Principal
    registry: Registry
    stateless: bool = False  # it speaks the newest revision, which has no handshake
    result: bytes | None = None  # what a handler answered; the SDK gets an empty one of that shape
    called: bool = False  # whether a tool was called: then its thread records the outcome

    async def event(self, message: Message) -> bytes:
        """The event that answers the message, whatever happens."""
        try:
            result = await self._result(message)
            if self.stateless and self.result is not None:
                result = revisions.stamp(result, message.method, self.endpoint.name)
            answer, outcome = jsonrpc.result_event(result, message.id), "ok"
        except Gone:
            raise
        except (MCPError, ValidationError) as reason:
            answer, outcome = _error_event(reason, message), "invalid"
        except Exception:
            log.exception("mcp request failed")
            answer = jsonrpc.error_event(jsonrpc.INTERNAL_ERROR, "Internal error", message.id)
            outcome = "error"
        if not self.called:
            operation = message.method if message.method in KNOWN else ""
            self.endpoint.done(self.caller, operation, outcome)
        return answer

    async def _result(self, message: Message) -> bytes:
        method, params = message.method, message.params
        if method not in METHODS and not self.stateless:
            raise MCPError(jsonrpc.METHOD_NOT_FOUND, f"Method not found: {method}")
        if params is not None and not isinstance(params, dict):
            raise MCPError(jsonrpc.INVALID_PARAMS, "Invalid params: params must be an object")
        if method == "tools/list":
            return await self._list(message)
        params = params or {}
        if method == "tools/call":
            return await self._tool(params)
        answered = await self._serve(message, params)
        if method == "initialize":
            chosen = revisions.negotiate(params["protocolVersion"])
            order = ("capabilities", "serverInfo")
            answered = {"protocolVersion": chosen, **{key: answered[key] for key in order}}
        return self.result or jsonio.dumps(answered)

    async def _list(self, message: Message) -> bytes:
        """The list of this caller's operations, cached for all callers that have the same ones."""
        granted = self.registry.visible_to(self.caller)
        key = (*(operation.name for operation in granted), *sorted(self.caller.defaults))
        kept = _lists.setdefault(self.registry, {})
        if key not in kept:
            await self._serve(message, message.params or {})
            if len(kept) >= LISTS_KEPT:
                kept.clear()
            assert self.result is not None
            kept[key] = self.result
        self.result = kept[key]
        return self.result

    async def _serve(self, message: Message, params: dict[str, Any]) -> Result:
        """Use the SDK's request kernel, which parses, validates and dispatches.

        The SDK gets an empty result: for it to check a list of 300 chats would cost more than to
        make it.
        """
        name = self.endpoint.name
        server: Server[None] = Server(name, version=__version__)
        server.middleware.clear()  # it traces, which would cost more than the dispatch
        server.add_request_handler("tools/list", PaginatedRequestParams, self._on_list)
        version, able = LATEST_HANDSHAKE_VERSION, None
        if self.stateless:
            version, able = revisions.STATELESS, revisions.capabilities(message)
        connection = Connection.from_envelope(version, None, able)
        runner = ServerRunner(server, connection, None, init_options=_options(name))
        return await runner.on_request(_Context(message.id), message.method, params)

    async def _on_list(self, context: Any, params: PaginatedRequestParams) -> Result:
        granted = self.registry.visible_to(self.caller)
        self.result = jsonio.dumps({"tools": [tool(one, self.caller) for one in granted]})
        return {"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"}

    async def _tool(self, params: dict[str, Any]) -> bytes:
        """Call a tool. The SDK's types check it; its server would only pass the call back here."""
        match params:
            case {"name": str(), "arguments": dict(), **more} if not more:
                pass  # nothing is left to check
            case _ if not self.stateless:  # a stateless request was checked before
                methods.validate_client_request("tools/call", LATEST_HANDSHAKE_VERSION, params)
        self.called = True
        self.result = await self._dispatch(params["name"], params.get("arguments") or {})
        return self.result

    async def _dispatch(self, name: str, given: dict[str, Any]) -> bytes:
        operation = self.registry.find(name, self.caller)
        if operation is None:
            name = jsonio.clean(name[:NAME_SHOWN])
            self.endpoint.done(self.caller, name, "unknown_tool")
            return jsonio.dumps(tool_error(f"Unknown tool: {name}"))
        if operation.waits:
            return await self._wait(operation, given)
        run = threads.brief if operation.read_only else threads.run
        if operation.pause and (refused := await self._pause(operation, given)) is not None:
            return refused
        return await run(self._call, operation, given)

    def _call(self, operation: Operation, given: dict[str, Any]) -> bytes:
        """In a thread: run and record the call, even if the client no longer waits for it."""
        if database.errors_occurred:  # by an earlier call of this thread
            database.close_if_unusable_or_obsolete()
        try:
            outcome, result = "ok", tool_result(operation.render(self._run(operation, given)))
        except Exception as error:
            outcome, result = self._error_outcome(operation, error)
        return self._finish(operation, given, outcome, result)

    async def _wait(self, operation: Operation, given: dict[str, Any]) -> bytes:
        """On the event loop: a call that mostly waits does not occupy a thread."""
        try:
            found = await self.endpoint.patient(self._run(operation, given))
            outcome, result = "ok", tool_result(operation.render(found))
        except Gone:
            self.endpoint.done(self.caller, operation.name, "error", arguments=given)
            raise
        except Exception as error:
            outcome, result = self._error_outcome(operation, error)
        return self._finish(operation, given, outcome, result)

    async def _pause(self, operation: Operation, given: dict[str, Any]) -> bytes | None:
        """Wait on the event loop until the call may run in its thread: None, or its refusal."""
        assert operation.pause is not None
        try:
            values = arguments.read(operation, given, self.caller.defaults)
            self.caller.check(operation, values)
            if (wait := operation.pause(self.caller, **values)) is not None:
                await self.endpoint.patient(wait)
        except Gone:
            self.endpoint.done(self.caller, operation.name, "error", arguments=given)
            raise
        except Exception as error:
            return self._finish(operation, given, *self._error_outcome(operation, error))
        return None

    def _run(self, operation: Operation, given: dict[str, Any]) -> Any:
        values = arguments.read(operation, given, self.caller.defaults)
        return self.registry.run(operation.name, self.caller, **values)

    def _error_outcome(self, operation: Operation, error: Exception) -> tuple[str, Result]:
        known = translate(error)
        told = {"operation": operation.name, "requestId": self.endpoint.scope.get("request_id", "")}
        if known is not error:
            log.error("tool failed", exc_info=error, extra=told)
        if type(known) is SvcError:
            return "error", self.endpoint.failure(SvcError("internal error"))
        return outcome_of(known), self.endpoint.failure(known)

    def _finish(
        self, operation: Operation, given: dict[str, Any], outcome: str, result: Result
    ) -> bytes:
        done = result.get("structuredContent", {})
        self.endpoint.done(self.caller, operation.name, outcome, arguments=given, result=done)
        return encode(result)


def _error_event(reason: Exception, message: Message) -> bytes:
    if isinstance(reason, MCPError):
        return jsonrpc.error_event(reason.error.code, reason.error.message, message.id)
    assert isinstance(reason, ValidationError)
    return jsonrpc.error_event(jsonrpc.INVALID_PARAMS, describe_error(reason), message.id)


@dataclass(slots=True)
class _Context:
    """The SDK's view of this request: one exchange, with no channel back to the client."""

    request_id: int | str | None
    transport: ClassVar[TransportContext] = TransportContext(
        kind="streamable-http", can_send_request=False
    )
    can_send_request: ClassVar[bool] = False
    message_metadata: ClassVar[None] = None

    @property
    def cancel_requested(self) -> Any:
        raise NoBackChannelError("notifications/cancelled")

    async def send_raw_request(self, method: str, params: Any, opts: Any = None) -> Result:
        raise NoBackChannelError(method)

    async def notify(self, method: str, params: Any, opts: Any = None) -> None:
        """Does nothing: no unsolicited message is sent."""

    async def progress(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Does nothing: no unsolicited message is sent."""


@cache
def _options(name: str) -> InitializationOptions:
    return InitializationOptions(
        server_name=name,
        server_version=__version__,
        capabilities=ServerCapabilities(tools=ToolsCapability()),
    )


_lists: WeakKeyDictionary[Registry, dict[tuple[str, ...], bytes]] = WeakKeyDictionary()
