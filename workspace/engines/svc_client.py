"""The service's own tools for a turn: one JSON-RPC call over loopback HTTP.

The bearer is the turn's and dies with it; it goes into the header and nowhere else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from urllib.parse import urlsplit

from workspace.engines.light_typing import Any

UNREACHABLE = "svc_manage is not reachable"
_BYTES = 8 * 1024 * 1024


def call(
    svc: Mapping[str, Any], op: str, args: Mapping[str, Any], seconds: float
) -> tuple[bool, str]:
    """(is_error, text) of one operation."""
    try:
        data = _answer(svc, "tools/call", {"name": op, "arguments": args}, seconds)
    except TimeoutError:
        return True, f"{op} did not answer within {seconds:g} s"
    return _result(data) if data is not None else (True, UNREACHABLE)


def listed(svc: Mapping[str, Any], seconds: float) -> list[dict[str, Any]] | None:
    """{name, description, inputSchema} of each operation of this turn; None when unreachable."""
    try:
        rows = _message(_answer(svc, "tools/list", {}, seconds) or b"")["result"]["tools"]
        return [
            {"description": "", **row} for row in rows if "name" in row and "inputSchema" in row
        ]
    except (TimeoutError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _answer(
    svc: Mapping[str, Any], method: str, params: Mapping[str, Any], seconds: float
) -> bytes | None:
    """The body of the answer, None when the service cannot be reached. Raises TimeoutError."""
    import http.client

    url = urlsplit(svc["url"])
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {
        "Authorization": f"Bearer {svc['token']}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    connection = http.client.HTTPConnection(url.hostname or "", url.port, timeout=seconds)
    try:
        connection.request("POST", url.path, json.dumps(body).encode(), headers)
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
        return True, "svc_manage answered in an unreadable way"


def _message(data: bytes) -> Any:
    """The one SSE message of an answer. Raises ValueError."""
    for line in data.splitlines():
        if line.startswith(b"data:"):
            return json.loads(line[5:])
    raise ValueError("no message")
