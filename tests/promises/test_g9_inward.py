"""G9: neither a probe nor an icon's fetch is turned inward, and none hangs.

Every way in for itself is in tests/dashboard/health/test_probe.py and rendering/test_fetch.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest

from dashboard.health.probe import probe
from dashboard.health.target import Target
from dashboard.rendering import fetch
from dashboard.rendering.fetch import AddressRefused, NoAnswer, Rules
from tests.dashboard.health.servers import Handler, Server, answers, drips, hangs, serving
from tests.dashboard.itself import WAYS, itself  # noqa: F401 - fixture

T = TypeVar("T")
WAIT_S = 0.4
METADATA = "169.254.169.254"


async def loris(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A byte of the answer at a time, for ever."""
    writer.write(b"HTTP/1.1 200 OK\r\nX: ")
    while True:
        writer.write(b"y")
        await writer.drain()
        await asyncio.sleep(0.02)


async def probed(host: str, port: int) -> None:
    await probe(Target(host=host, port=port, timeout=WAIT_S), page=True)


async def fetched(host: str, port: int) -> None:
    with contextlib.suppress(NoAnswer, AddressRefused):
        await fetch.get(f"http://{host}:{port}/", Rules(seconds=WAIT_S))


ATTACKS: dict[str, Handler] = {
    "slow loris": loris,
    "silence": hangs,
    "endless head": drips(b"HTTP/1.1 200 OK\r\n", b"X-Header: value\r\n"),
    "endless body": drips(b"HTTP/1.1 200 OK\r\n\r\n", b"body" * 1000),
    "endless chunks": drips(
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"
    ),
    "redirect": answers(302, headers=f"Location: http://{METADATA}/latest/\r\n"),
}
CLIENTS = [probed, fetched]


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that any socket of this process was connected to."""
    seen: list[str] = []

    def watched(real: Callable[[socket.socket, Any], T]) -> Callable[[socket.socket, Any], T]:
        def connect(self: socket.socket, address: Any) -> T:
            seen.append(address[0])
            return real(self, address)

        return connect

    monkeypatch.setattr(socket.socket, "connect", watched(socket.socket.connect))
    monkeypatch.setattr(socket.socket, "connect_ex", watched(socket.socket.connect_ex))
    return seen


@pytest.mark.promise("G9")
@pytest.mark.parametrize("ask", CLIENTS)
@pytest.mark.parametrize("attack", ATTACKS)
async def test_no_answer_holds_a_client_or_leads_it_elsewhere(
    connected: list[str], attack: str, ask: Callable[[str, int], Awaitable[None]]
):
    async with serving(ATTACKS[attack]) as server:
        tracemalloc.start()
        began = time.monotonic()
        await ask("127.0.0.1", server.port)
        took = time.monotonic() - began
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()

        assert len(server.heard) == 1
    assert took < WAIT_S + 3
    assert peak < 10_000_000
    assert set(connected) == {"127.0.0.1"}


@pytest.mark.promise("G9")
@pytest.mark.parametrize("ask", CLIENTS)
@pytest.mark.parametrize("host", WAYS)
async def test_the_service_itself_is_never_asked_directly_or_by_a_redirect(
    itself: Server,  # noqa: F811
    host: str,
    ask: Callable[[str, int], Awaitable[None]],
):
    there = f"[{host}]" if ":" in host else host
    away = answers(302, headers=f"Location: http://{there}:{itself.port}/\r\n")
    async with serving(away) as server:
        await ask("127.0.0.1", server.port)
        await ask(host if ask is probed else there, itself.port)

        assert len(server.heard) == 1
    assert itself.heard == []


@pytest.mark.promise("G9")
@pytest.mark.parametrize("ask", CLIENTS)
async def test_a_name_that_turns_to_the_metadata_address_is_not_followed(
    connected: list[str],
    monkeypatch: pytest.MonkeyPatch,
    ask: Callable[[str, int], Awaitable[None]],
):
    turns = [METADATA, METADATA, "127.0.0.1"]

    def resolved(*_: object, **__: object) -> list[Any]:
        kind = (socket.AF_INET, socket.SOCK_STREAM, 6, "")
        return [(*kind, (turns.pop() if len(turns) > 1 else turns[0], server.port))]

    async with serving(answers()) as server:
        monkeypatch.setattr(socket, "getaddrinfo", resolved)
        await ask("app.example", server.port)
        await ask("app.example", server.port)

    assert connected == ["127.0.0.1"]
