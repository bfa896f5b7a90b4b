"""A tiny registry and an ASGI call, shared by the tests of the MCP transport."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from config.errors import Conflict, Denied, Invalid, NotFound
from config.mcp.endpoint import Call, McpConsumer
from config.mcp.operations import Argument, Operation, Registry
from config.web.answers import Refusal

HEADERS = {
    "accept": "application/json, text/event-stream",
    "content-type": "application/json",
}


@dataclass(frozen=True)
class Caller:
    """A caller that sees the named operations, or all."""

    only: frozenset[str] | None = None
    defaults: Mapping[str, str] = field(default_factory=dict)

    def grants(self, operation: Operation) -> bool:
        return self.only is None or operation.name in self.only

    def check(self, operation: Operation, arguments: Mapping[str, Any]) -> None:
        if arguments.get("project") == "secret":
            raise Denied("not permitted: project secret")


def say(caller: Caller, *, project: str, text: str = "", times: int = 1) -> dict[str, Any]:
    match text:
        case "missing":
            raise NotFound("Project not found: nope")
        case "busy":
            raise Conflict("It is busy")
        case "wrong":
            raise Invalid("`text` is wrong.")
        case "crash":
            raise RuntimeError("a secret detail")
        case _:
            return {"project": project, "text": text * times}


REGISTRY = Registry()
SAY = REGISTRY.add(
    Operation(
        name="say",
        group="write",
        description="Say it",
        run=say,
        render=lambda value: value,
        arguments=(
            Argument("project", "string", required=True, absent="there is no current project"),
            Argument("text", "text"),
            Argument("times", "integer", default=1, least=1, most=500),
        ),
    )
)
REGISTRY.add(
    Operation(
        name="look",
        group="read",
        description="Look",
        run=lambda caller: {},
        render=lambda value: value,
        read_only=True,
        needs="say",
    )
)


class Endpoint(McpConsumer):
    """Open to whoever `caller` is; keeps what was recorded."""

    registry: ClassVar[Registry | None] = REGISTRY
    caller: Any = Caller()

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[Call] = []

    async def admit(self) -> Any:
        return self.caller

    def record(self, call: Call) -> None:
        self.calls.append(call)


class Closed(Endpoint):
    caller = Refusal(401, {"error": "unauthorized"})


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    chunks: list[bytes]
    calls: list[Call]
    read: int  # chunks of the request body that were asked for

    @property
    def body(self) -> bytes:
        return b"".join(self.chunks)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def data(self) -> Any:
        """The object in the one event."""
        start, data, *rest = self.body.decode().split("\n")
        assert (start, rest) == ("event: message", ["", ""]), self.body
        return json.loads(data.removeprefix("data: "))


async def ask(
    body: bytes | list[bytes] | dict[str, Any] = b"",
    *,
    endpoint: type[McpConsumer] = Endpoint,
    method: str = "POST",
    headers: Mapping[str, str] | list[tuple[str, str]] = HEADERS,
    leaves: bool = False,
) -> Answer:
    """One request, its body in as many chunks as the list has; the client `leaves` behind it."""
    if isinstance(body, dict):
        body = json.dumps(body).encode()
    chunks = [body] if isinstance(body, bytes) else body
    pairs = headers.items() if isinstance(headers, Mapping) else headers
    scope = {
        "type": "http",
        "method": method,
        "path": "/mcp",
        "scheme": "http",
        "client": ("127.0.0.1", 5),
        "headers": [(name.encode(), value.encode("latin1")) for name, value in pairs],
    }
    sent: list[dict[str, Any]] = []
    read = 0

    async def receive() -> dict[str, Any]:
        nonlocal read
        if read >= len(chunks):
            if chunks and not leaves:
                await asyncio.Event().wait()
            return {"type": "http.disconnect"}
        read += 1
        return {"type": "http.request", "body": chunks[read - 1], "more_body": read < len(chunks)}

    async def send(message: Any) -> None:
        sent.append(message)

    consumer = endpoint()
    await consumer(scope, receive, send)
    calls = getattr(consumer, "calls", [])
    if not sent:
        return Answer(0, {}, [], calls, read)
    answered = {name.decode(): value.decode() for name, value in sent[0].get("headers", ())}
    bodies = [message.get("body", b"") for message in sent[1:]]
    return Answer(sent[0]["status"], answered, bodies, calls, read)


def request(method: str, params: Any = None, id: Any = 1) -> dict[str, Any]:  # noqa: A002
    whole = {"jsonrpc": "2.0", "id": id, "method": method}
    return whole if params is None else {**whole, "params": params}


def call(tool: str, /, **arguments: Any) -> dict[str, Any]:
    return request("tools/call", {"name": tool, "arguments": arguments})
