"""The service's own tools for a turn: one JSON-RPC call over loopback HTTP.

The bearer belongs to the turn and ends with it; it is sent in the header and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

from config.process.light_typing import Any
from workspace.engines import catalogue

MANAGE = "manage"  # the part whose tools the workspace itself offers

UNREACHABLE = "svc_manage is not reachable"
_BYTES = 8 * 1024 * 1024


def url(svc: Mapping[str, Any], part: str) -> str:
    """The URL at which the operations of a part are called."""
    return str(svc["url"]) if part == MANAGE else f"{svc['url']}/{part}"


def paths(svc: Mapping[str, Any]) -> frozenset[str]:
    """The paths of this service that a turn reaches."""
    return frozenset(urlsplit(url(svc, part)).path for part in (MANAGE, *svc.get("parts", {})))


def parts(svc: Mapping[str, Any] | None, offers: Callable[[str], bool]) -> list[str]:
    """The parts with at least one tool that is offered to the turn."""
    if svc is None:
        return []
    names = [*(f"{catalogue.SVC}{op}" for op in svc["ops"]), *catalogue.part_tools(svc)]
    found = (catalogue.service(name) for name in names if offers(name))
    return list(dict.fromkeys(own[0] for own in found if own))


def call(
    svc: Mapping[str, Any], tool: str, args: Mapping[str, Any], seconds: float
) -> tuple[bool, str]:
    """Call one operation, named by its tool, or one of svc_manage by its own: (is_error, text)."""
    part, op = catalogue.service(tool) or (MANAGE, tool)
    params = {"name": op, "arguments": args}
    try:
        data = _answer(svc, part, "tools/call", params, seconds)
    except TimeoutError:
        return True, f"{op} did not answer within {seconds:g} s"
    return _result(data) if data is not None else (True, f"svc_{part} is not reachable")


def list_tools(svc: Mapping[str, Any], part: str, seconds: float) -> list[dict[str, Any]] | None:
    """{name, description, inputSchema} of each of a part's operations; None after a failure."""
    try:
        rows = _message(_answer(svc, part, "tools/list", {}, seconds) or b"")["result"]["tools"]
        return [
            {"description": "", **row} for row in rows if "name" in row and "inputSchema" in row
        ]
    except (TimeoutError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _answer(
    svc: Mapping[str, Any], part: str, method: str, params: Mapping[str, Any], seconds: float
) -> bytes | None:
    """The body of the answer; None if the service cannot be reached. Raises TimeoutError."""
    import http.client

    at = urlsplit(url(svc, part))
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {
        "Authorization": f"Bearer {svc['token']}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    connection = http.client.HTTPConnection(at.hostname or "", at.port, timeout=seconds)
    try:
        connection.request("POST", at.path, json.dumps(body).encode(), headers)
        response = connection.getresponse()
        data = response.read(_BYTES)
    except TimeoutError:
        raise
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return data if response.status == 200 else None


def _result(data: bytes) -> tuple[bool, str]:
    """The tool result inside the answer, or the JSON-RPC error's text."""
    try:
        message = _message(data)
        if "error" in message:
            return True, str(message["error"]["message"])
        result = message["result"]
        texts = [part["text"] for part in result["content"] if part["type"] == "text"]
        return bool(result.get("isError")), "\n".join(texts)
    except (ValueError, KeyError, TypeError):
        return True, "the service answered in an unreadable way"


def _message(data: bytes) -> Any:
    """The one SSE message of an answer. Raises ValueError."""
    for line in data.splitlines():
        if line.startswith(b"data:"):
            return json.loads(line[5:])
    raise ValueError("no message")
