"""A connection that is not there at once: what it waits for, and what then comes of it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Iterator

import psutil
import pytest

from dashboard.health.connect import connect
from dashboard.health.probe import probe
from dashboard.health.result import Kind
from dashboard.health.target import Target


@pytest.fixture
def full() -> Iterator[socket.socket]:
    """A listener whose queue is full: the kernel drops what else comes, which tries again."""
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(2):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        yield listener


async def begun(port: int) -> asyncio.Task[tuple[socket.socket, str]]:
    """A connection that has been asked for and is not there yet."""
    task = asyncio.create_task(connect(["127.0.0.1"], port))
    await asyncio.sleep(0)
    assert not task.done()
    return task


async def take(listener: socket.socket) -> None:
    """All that come: another one may have been quicker to try again."""
    while True:
        (await asyncio.get_running_loop().sock_accept(listener))[0].close()


async def test_a_connection_that_is_taken_late_is_waited_for(full):
    port = full.getsockname()[1]
    task = await begun(port)
    full.setblocking(False)
    taker = asyncio.create_task(take(full))
    sock, address = await asyncio.wait_for(task, 60)
    taker.cancel()

    with sock:
        assert (sock.getpeername(), address) == (("127.0.0.1", port), "127.0.0.1")


async def test_a_connection_that_is_refused_late_is_refused(full):
    task = await begun(full.getsockname()[1])
    full.close()

    with pytest.raises(ConnectionRefusedError):
        await asyncio.wait_for(task, 10)


async def test_a_connection_that_nobody_takes_is_given_up_without_a_trace(full):
    before = psutil.Process().num_fds()
    result = await probe(Target(host="127.0.0.1", port=full.getsockname()[1], timeout=0.2))

    assert (result.kind, result.error) == (Kind.TIMEOUT, "no connection within 0.2 s")
    assert psutil.Process().num_fds() == before
