"""The revisions of MCP that are supported, and what the newest requires of requests and answers.

The older ones begin with a handshake. Since 2026-07-28 each request itself states its revision and
its client's capabilities, its headers repeat parts of the body for proxies, and errors have HTTP
statuses of their own.
"""

from __future__ import annotations

from typing import Any

from mcp.shared.inbound import (
    ERROR_CODE_HTTP_STATUS,
    InboundLadderRejection,
    classify_inbound_request,
    find_duplicated_routing_header,
)
from mcp_types import (
    CLIENT_CAPABILITIES_META_KEY,
    PROTOCOL_VERSION_META_KEY,
    SERVER_INFO_META_KEY,
    methods,
)
from mcp_types.jsonrpc import HEADER_MISMATCH, UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.version import LATEST_MODERN_VERSION
from pydantic import ValidationError

from config import __version__, jsonio
from config.mcp import jsonrpc
from config.mcp.jsonrpc import Message
from config.mcp.results import describe_error
from config.web.guard import Headers

STATELESS = LATEST_MODERN_VERSION
# Without 2025-03-26: a body of that revision may be a batch, and /mcp takes one object.
HANDSHAKES = ("2025-11-25", "2025-06-18", "2024-11-05")
SPOKEN = (STATELESS, *HANDSHAKES)
METHODS = frozenset({"server/discover", "tools/list", "tools/call"})
LIST_FRESH_MS = 60_000  # how long a client may use the list without requesting it again


def negotiate(asked: str) -> str:
    """The revision for a handshake: the newest that is not newer than `asked`, else the newest."""
    return next((version for version in HANDSHAKES if version <= asked), HANDSHAKES[0])


def stateless(headers: Headers, message: Message) -> bool:
    """Whether the request uses the newest revision. Refuses a request with a revision that is not
    supported, and one that breaks the rules of the newest."""
    if message.method == "initialize":  # it negotiates
        return False
    named = headers.all(b"mcp-protocol-version")
    for version in named:
        if version not in SPOKEN:
            text = f"Unsupported protocol version: {version[:40]} (supported: {', '.join(SPOKEN)})"
            data = {"supported": SPOKEN, "requested": jsonio.clean(version[:40])}
            jsonrpc.refuse(400, UNSUPPORTED_PROTOCOL_VERSION, text, message.id, data=data)
    if STATELESS not in named and PROTOCOL_VERSION_META_KEY not in _meta(message):
        return False
    if message.is_request:
        _check(headers, message)
    return True


def capabilities(message: Message) -> Any:
    """The capabilities that the client of a checked request states."""
    return _meta(message)[CLIENT_CAPABILITIES_META_KEY]


def _meta(message: Message) -> dict[str, Any]:
    meta = message.params.get("_meta") if isinstance(message.params, dict) else None
    return meta if isinstance(meta, dict) else {}


def _check(headers: Headers, message: Message) -> None:
    pairs = headers.pairs()
    if (twice := find_duplicated_routing_header(pairs)) is not None:
        text = f"The {twice} header appears more than once"
        jsonrpc.refuse(400, HEADER_MISMATCH, text, message.id)
    body = {"method": message.method, "params": message.params}
    found = classify_inbound_request(body, headers=dict(pairs))
    if isinstance(found, InboundLadderRejection):
        status = ERROR_CODE_HTTP_STATUS[found.code]
        jsonrpc.refuse(status, found.code, found.message, message.id, data=found.data)
    if message.method not in METHODS:
        text = f"Method not found: {message.method}"
        jsonrpc.refuse(404, jsonrpc.METHOD_NOT_FOUND, text, message.id)
    try:
        methods.validate_client_request(message.method, STATELESS, message.params)
    except ValidationError as reason:
        jsonrpc.refuse(400, jsonrpc.INVALID_PARAMS, describe_error(reason), message.id)


def stamp(result: bytes, method: str, server: str) -> bytes:
    """A result of the older revisions, as JSON, with the fields that the newest requires added."""
    about = {"name": server, "version": __version__}
    marks: dict[str, Any] = {"resultType": "complete", "_meta": {SERVER_INFO_META_KEY: about}}
    if method == "tools/list":
        marks |= {"ttlMs": LIST_FRESH_MS, "cacheScope": "private"}
    return jsonio.dumps(marks)[:-1] + b"," + result[1:]
