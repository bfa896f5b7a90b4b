"""The official Python client: probing first (auto), shaking hands (legacy), sure of the newest."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from config import __version__
from tests.clients.conftest import TOKENS
from tests.service import Service

NEWEST = "2026-07-28"
SETTLED = {"auto": NEWEST, "legacy": "2025-11-25", NEWEST: NEWEST}


@asynccontextmanager
async def connected(service: Service, mode: str, token: str) -> AsyncIterator[Client]:
    headers = {"Authorization": f"Bearer {TOKENS[token]}"}
    async with httpx2.AsyncClient(headers=headers, timeout=20) as http:
        transport = streamable_http_client(f"{service.url}/mcp", http_client=http)
        async with Client(transport, mode=mode) as client:
            yield client


@pytest.mark.parametrize("mode", SETTLED)
async def test_it_connects_lists_calls_and_leaves(managed: Service, mode: str):
    async with connected(managed, mode, "ADMIN") as client:
        assert client.protocol_version == SETTLED[mode]
        if mode != NEWEST:  # there it asked for nothing before its first call
            assert client.server_info is not None
            assert client.server_info.name == "svc"
            assert client.server_info.version == __version__
        tools = (await client.list_tools()).tools
        assert len(tools) == 14
        assert tools[0].name == "list_projects"
        assert tools[0].annotations is not None
        assert tools[0].annotations.read_only_hint

        found = await client.call_tool("list_projects", {})
        assert not found.is_error
        assert found.structured_content is not None
        assert [p["slug"] for p in found.structured_content["projects"]] == ["alpha", "beta"]

        gone = await client.call_tool("read_chat", {"project": "alpha", "session_id": "x"})
        assert gone.is_error
        assert gone.content[0].text == "Error: Chat not found: x in project alpha"  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", SETTLED)
async def test_a_reader_sees_the_readers_and_no_more(managed: Service, mode: str):
    async with connected(managed, mode, "READER") as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["list_projects", "list_chats", "read_chat", "list_triggers"]

        hidden = await client.call_tool("create_chat", {"project": "alpha", "prompt": "x"})
        assert hidden.is_error
        assert hidden.content[0].text == "Unknown tool: create_chat"  # type: ignore[union-attr]


async def test_a_scoped_client_stays_in_its_project(managed: Service):
    async with connected(managed, "legacy", "ALPHA") as client:
        found = await client.call_tool("list_projects", {})
        assert found.structured_content is not None
        assert [p["slug"] for p in found.structured_content["projects"]] == ["alpha"]
        for slug in ("beta", "nope"):
            refused = await client.call_tool("list_triggers", {"project": slug})
            assert refused.content[0].text == (  # type: ignore[union-attr]
                "not permitted: operation list_triggers is outside this client's scope"
                f" (project {slug})"
            )
