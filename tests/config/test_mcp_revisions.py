"""Revisions of MCP: those that shake hands, and the one of 2026-07-28 that does not."""

from __future__ import annotations

from typing import Any

import pytest

from config import __version__
from tests.config.mcp_world import HEADERS, Answer, ask, call, request

NEWEST = "2026-07-28"
SPOKEN = [NEWEST, "2025-11-25", "2025-06-18", "2024-11-05"]
KEY = "io.modelcontextprotocol/"
META = {f"{KEY}protocolVersion": NEWEST, f"{KEY}clientCapabilities": {}}
ABOUT = {f"{KEY}serverInfo": {"name": "svc", "version": __version__}}


def named(version: str, **more: str) -> dict[str, str]:
    return {**HEADERS, "mcp-protocol-version": version, **more}


async def newest(message: dict[str, Any], **headers: str) -> Answer:
    """The message as a client of 2026-07-28 sends it."""
    params = {"_meta": META, **message.get("params", {})}
    repeated = {"mcp-method": message["method"]}
    if "name" in params:
        repeated["mcp-name"] = params["name"]
    sent = named(NEWEST) | repeated | {key.replace("_", "-"): headers[key] for key in headers}
    return await ask({**message, "params": params}, headers=sent)


def hello(version: str) -> dict[str, Any]:
    about = {"name": "t", "version": "1"}
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": about}
    return request("initialize", params)


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        *((version, version) for version in SPOKEN[1:]),
        ("2025-03-26", "2024-11-05"),  # its clients know the one before it too
        (NEWEST, "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ],
)
async def test_a_handshake_settles_on_what_both_sides_keep(asked: str, chosen: str):
    answer = await ask(hello(asked), headers=named(asked))

    assert answer.data["result"]["protocolVersion"] == chosen


@pytest.mark.parametrize("version", ["2025-03-26", "2030-01-01", "x"])
async def test_a_revision_that_is_not_spoken_is_refused_with_those_that_are(version: str):
    for message in (request("tools/list", id=4), request("server/discover", id=4)):
        answer = await ask(message, headers=named(version))

        assert (answer.status, answer.json["id"]) == (400, 4)
        assert answer.json["error"]["code"] == -32022
        assert answer.json["error"]["data"] == {"supported": SPOKEN, "requested": version}


async def test_the_newest_is_discovered_listed_and_called_without_a_handshake():
    found = (await newest(request("server/discover"))).data["result"]
    assert found["supportedVersions"] == [NEWEST]
    assert found["capabilities"]["tools"] is not None
    assert (found["_meta"], found["resultType"]) == (ABOUT, "complete")

    for _ in range(2):  # made, then kept
        listed = (await newest(request("tools/list"))).data["result"]
        assert [tool["name"] for tool in listed["tools"]] == ["say", "look"]
        assert listed["ttlMs"] > 0
        assert (listed["cacheScope"], listed["resultType"]) == ("private", "complete")

    called = await newest(call("say", project="a", text="hé"))
    assert called.status == 200
    result = called.data["result"]
    assert result["structuredContent"] == {"project": "a", "text": "hé"}
    assert (result["_meta"], result["resultType"]) == (ABOUT, "complete")
    failed = (await newest(call("say"))).data["result"]
    assert (failed["isError"], failed["resultType"]) == (True, "complete")
    older = await ask(request("tools/list"))
    assert list(older.data["result"]) == ["tools"]


@pytest.mark.parametrize(
    ("message", "headers", "status", "code"),
    [
        (request("ping"), {}, 404, -32601),
        (request("subscriptions/listen"), {}, 404, -32601),
        (request("tools/call", {"arguments": {}}), {}, 400, -32602),
        (request("tools/call", {"name": "say", "arguments": []}), {}, 400, -32602),
        (request("tools/list", {"_meta": {}}), {}, 400, -32602),
        (request("tools/list"), {"mcp_method": "tools/call"}, 400, -32020),
        (call("say"), {"mcp_name": "look"}, 400, -32020),
        (request("tools/list"), {"mcp_protocol_version": "2025-11-25"}, 400, -32020),
    ],
)
async def test_what_breaks_its_rules_has_a_status_and_a_code_of_its_own(
    message: dict[str, Any], headers: dict[str, str], status: int, code: int
):
    answer = await newest(message, **headers)

    assert (answer.status, answer.json["error"]["code"]) == (status, code)
    assert answer.json["id"] == 1
    assert [c.outcome for c in answer.calls] == ["invalid"]


async def test_a_header_that_comes_twice_is_refused():
    pairs = [*named(NEWEST).items(), ("mcp-method", "tools/list"), ("mcp-method", "tools/list")]
    answer = await ask(request("tools/list", {"_meta": META}), headers=pairs)

    assert (answer.status, answer.json["error"]["code"]) == (400, -32020)


async def test_its_notifications_are_taken_and_do_nothing():
    message = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}

    assert (await ask(message, headers=named(NEWEST))).status == 202
