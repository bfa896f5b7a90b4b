"""An agent as the tests see it: it calls tools, and knows the HTTP routes beside them."""

from __future__ import annotations

import json
import re
from typing import Any, Self

import httpx

from tests.config.mcp_world import HEADERS, call, request

# what differs from one moment to the next in two answers that say the same
TIMES = re.compile(r"\d{4}-?\d\d-?\d\dT[\d:.]+Z")
VOLATILE = {
    "rev",
    "ms",
    "pid",
    "pgid",
    "ppid",
    "logBytes",
    "bytes",
    "from",
    "to",
    "now",
    "thumbEtag",
}


class Agent:
    """Calls to one mount of a running dashboard."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.http = httpx.Client(base_url=base, timeout=60, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def post(self, message: dict[str, Any]) -> httpx.Response:
        return self.http.post("/mcp", content=json.dumps(message), headers=HEADERS)

    def tool(self, name: str, /, **arguments: Any) -> dict[str, Any]:
        """The result of a tool; its text says the same as its object."""
        answer = self.post(call(name, **arguments))
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = json.loads(answer.text.split("data: ", 1)[1])["result"]
        if "structuredContent" in found:
            (text,) = found["content"]
            assert "\n" not in text["text"]
            assert json.loads(text["text"]) == found["structuredContent"]
        return found

    def told(self, name: str, /, **arguments: Any) -> Any:
        """What a tool that was not refused tells."""
        found = self.tool(name, **arguments)
        assert "isError" not in found, found
        return found["structuredContent"]

    def refused(self, name: str, /, **arguments: Any) -> Any:
        found = self.tool(name, **arguments)
        assert found["isError"] is True
        return found["structuredContent"]

    def tools(self) -> list[dict[str, Any]]:
        text = self.post(request("tools/list")).text
        found: list[dict[str, Any]] = json.loads(text.split("data: ", 1)[1])["result"]["tools"]
        return found

    def http_json(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        sent = {"json": body} if body is not None else {}
        answer = self.http.request(method, path, headers=headers, **sent)
        return answer.json()


def settled(value: Any) -> Any:
    """The answer without what only its moment decides."""
    match value:
        case dict():
            return {key: settled(inner) for key, inner in value.items() if key not in VOLATILE}
        case list():
            return [settled(inner) for inner in value]
        case str():
            return TIMES.sub("T", value)
        case _:
            return value
