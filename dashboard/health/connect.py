"""Open one TCP connection to the first of several addresses that accepts it, with TLS if
needed."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import ssl
from collections.abc import Sequence
from functools import cache

from dashboard.health.target import Target

CONNECT_S = 2.0
NEXT_ADDRESS_S = 0.25  # the head start of an address over the one after it (RFC 8305)


async def connect(
    addresses: Sequence[str], port: int, *, within: float | None = None
) -> tuple[socket.socket, str]:
    """A connected socket and its address. Raises the OSError of the first address if none accepts,
    and TimeoutError after `within` seconds.

    Usually the first address accepts immediately; then the loop needs no timers and no task.
    """
    first, *rest = addresses
    try:
        sock, there = _begin(first, port)
    except OSError as error:
        if not rest:
            raise
        async with asyncio.timeout(within):
            return await _others(rest, port, error)
    if there:
        return sock, first
    async with asyncio.timeout(within):
        return await _late(sock, first, rest, port)


async def _late(
    sock: socket.socket, first: str, rest: list[str], port: int
) -> tuple[socket.socket, str]:
    """The first address if it accepts within its head start, else the first of all to accept."""
    try:
        async with asyncio.timeout(NEXT_ADDRESS_S if rest else None):
            return await _finish(sock), first
    except TimeoutError:
        return await _race([*rest, first], port)
    except OSError as error:
        if not rest:
            raise
        return await _others(rest, port, error)


async def _others(
    addresses: Sequence[str], port: int, failure: OSError
) -> tuple[socket.socket, str]:
    try:
        return await _race(addresses, port)
    except OSError:
        raise failure from None


async def _race(addresses: Sequence[str], port: int) -> tuple[socket.socket, str]:
    """The first of several to connect; each attempt begins a quarter second after the last."""
    loop = asyncio.get_running_loop()
    pending: set[asyncio.Task[socket.socket]] = set()
    names: dict[asyncio.Task[socket.socket], str] = {}
    failures: list[OSError] = []
    waiting = list(addresses)
    try:
        while waiting or pending:
            if waiting:
                address = waiting.pop(0)
                task = loop.create_task(_open(address, port))
                names[task] = address
                pending.add(task)
            done, pending = await asyncio.wait(
                pending,
                timeout=NEXT_ADDRESS_S if waiting else None,
                return_when=asyncio.FIRST_COMPLETED,
            )
            for task in done:
                if (failure := task.exception()) is None:
                    _close(done - {task})
                    return task.result(), names[task]
                if not isinstance(failure, OSError):
                    raise failure
                failures.append(failure)
        raise failures[0]
    finally:
        for task in pending:
            task.add_done_callback(lambda late: _close({late}))
            task.cancel()


async def _open(address: str, port: int) -> socket.socket:
    sock, there = _begin(address, port)
    return sock if there else await _finish(sock)


def _begin(address: str, port: int) -> tuple[socket.socket, bool]:
    """A socket that is connecting, and whether it is connected already: an app of this machine has
    usually accepted by then, and the loop is not needed."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        error = sock.connect_ex((address, port))
        if error == errno.EINPROGRESS:
            if not _is_connected(sock):
                return sock, False
            error = _failure(sock)
        _check(sock, error)
    except BaseException:
        sock.close()
        raise
    return sock, True


async def _finish(sock: socket.socket) -> socket.socket:
    try:
        await _writable(sock)
        _check(sock, _failure(sock))
    except BaseException:
        sock.close()
        raise
    return sock


def _failure(sock: socket.socket) -> int:
    return sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)


def _check(sock: socket.socket, error: int) -> None:
    """Raise OSError if the socket is not connected, or is connected to itself."""
    if error:
        raise OSError(error, os.strerror(error))
    if met_itself(sock):
        raise ConnectionRefusedError(errno.ECONNREFUSED, "connection refused")


def _is_connected(sock: socket.socket) -> bool:
    try:
        sock.getpeername()
    except OSError:
        return False
    return True


async def _writable(sock: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_writer(sock, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_writer(sock)


def met_itself(sock: socket.socket) -> bool:
    """Whether the kernel gave the socket the very port it connects to, so that nothing listens
    there.

    A connect to a free ephemeral port of this machine can connect to itself (simultaneous open).
    """
    return bool(sock.getsockname()[:2] == sock.getpeername()[:2])


def _close(tasks: set[asyncio.Task[socket.socket]]) -> None:
    for task in tasks:
        if not task.cancelled() and task.exception() is None:
            task.result().close()


async def streams(
    sock: socket.socket, target: Target, *, tls: bool, limit: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Streams over a connected socket, which they then own: it is closed also if TLS fails."""
    try:
        if not tls:
            return await asyncio.open_connection(sock=sock, limit=limit)
        context = await _context(verify=not (target.local or target.insecure))
        name = "localhost" if target.host in {"::1", "127.0.0.1"} else target.host
        return await asyncio.open_connection(
            sock=sock, ssl=context, server_hostname=name, limit=limit
        )
    except BaseException:
        with contextlib.suppress(OSError):
            sock.close()
        raise


async def _context(*, verify: bool) -> ssl.SSLContext:
    """The context for TLS. Loading the system's certificate authorities takes tens of
    milliseconds, so it is done once, and in a thread."""
    return await asyncio.to_thread(_verified_context) if verify else unverified_context()


@cache
def _verified_context() -> ssl.SSLContext:
    return ssl.create_default_context()


@cache
def unverified_context() -> ssl.SSLContext:
    """A context for loopback, where a certificate proves nothing and is usually self-signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context
