"""The service's own tools for a turn (engine.md 7): one JSON-RPC call over loopback HTTP.

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
    import http.client

    url = urlsplit(svc["url"])
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": op, "arguments": args},
    }
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
        return True, f"{op} did not answer within {seconds:g} s"
    except (OSError, http.client.HTTPException):
        return True, UNREACHABLE
    finally:
        connection.close()
    return _result(data) if response.status == 200 else (True, UNREACHABLE)


def _result(data: bytes) -> tuple[bool, str]:
    """The tool result inside the one SSE message, or the JSON-RPC error's text."""
    for line in data.splitlines():
        if not line.startswith(b"data:"):
            continue
        try:
            message = json.loads(line[5:])
            if "error" in message:
                return True, str(message["error"]["message"])
            result = message["result"]
            texts = [part["text"] for part in result["content"] if part["type"] == "text"]
            return bool(result.get("isError")), "\n".join(texts)
        except (ValueError, KeyError, TypeError):
            break
    return True, "svc_manage answered in an unreadable way"
