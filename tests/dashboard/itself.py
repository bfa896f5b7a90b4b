"""A listener that stands for the service's own, and the ways to write where it is."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator

import psutil
import pytest
import pytest_asyncio

from config.web import surfaces
from tests.dashboard.health.servers import Server, answers, serving

LAN = [
    one.address
    for found in psutil.net_if_addrs().values()
    for one in found
    if one.family == socket.AF_INET and not one.address.startswith("127.")
]
WAYS = [
    "localhost", "LOCALHOST.", "shop.localhost", "127.0.0.1", "127.9.9.9", "::1",
    "::ffff:127.0.0.1", "::ffff:7f00:1", "2002:7f00:1::",
    socket.gethostname(), *LAN,
]  # fmt: skip


@pytest_asyncio.fixture
async def itself(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Server]:
    """Listens at every IPv4 address; `heard` grows by each connection, a mute one too."""
    async with serving(answers(headers="Content-Type: text/html\r\n"), host="0.0.0.0") as server:
        monkeypatch.setattr(surfaces, "_ports", {"review": server.port})
        yield server
