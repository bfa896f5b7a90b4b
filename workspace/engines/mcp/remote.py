"""A server at a URL: each connection goes to an address that the turn's network rules permitted.

The headers never enter the sandbox. No redirect to another host is followed (the library's rule),
and nothing is taken from the environment, such as a proxy.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
from mcp.client.streamable_http import streamable_http_client

from config.process.light_typing import Any
from workspace.engines.mcp.judged import Count, Judged
from workspace.engines.mcp.server import Server
from workspace.engines.network import Network
from workspace.engines.proxy.rules import Rules

CONNECT_S = 30.0


@asynccontextmanager
async def streams(server: Server, network: Network, count: Count) -> AsyncIterator[tuple[Any, Any]]:
    """The stream to read from the server and the stream to write to it."""
    limits = httpx2.Timeout(CONNECT_S, read=server.call_seconds + CONNECT_S)
    async with (
        httpx2.AsyncClient(
            transport=Judged(Rules(network), count),
            headers=dict(server.headers),
            timeout=limits,
            trust_env=False,
        ) as client,
        streamable_http_client(server.url, http_client=client, terminate_on_close=False) as both,
    ):
        yield both[0], both[1]
