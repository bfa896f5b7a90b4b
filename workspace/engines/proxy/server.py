"""The proxy of one turn: CONNECT, plain HTTP, open ports of this machine, and the turn's own tools.

It runs in the turn process, outside the sandbox, on sockets that listen inside the sandbox. A
refused request is answered 403 with the sentence of the rules; what was reached or refused is
counted.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from workspace.engines.proxy import own_tools
from workspace.engines.proxy.gateway import PORT, PROXY
from workspace.engines.proxy.http import HEAD_BYTES, BadRequest, Head, answer, read_head
from workspace.engines.proxy.rules import ConnectionNotAllowed, Rules

CONNECT_S, HEAD_S, BLOCK = 30.0, 60.0, 65536
MOST = 256  # connections at once: each costs two descriptors of the turn process

Reader: TypeAlias = asyncio.StreamReader
Writer: TypeAlias = asyncio.StreamWriter
Handler: TypeAlias = Callable[[Reader, Writer], Awaitable[None]]


class Proxy:
    """A proxy that applies the rules of a turn. `svc`: {url, token, ...} of the turn's own tools,
    or None; `count` gets each host, port and whether it was refused."""

    def __init__(
        self,
        rules: Rules,
        svc: Mapping[str, Any] | None,
        count: Callable[[str, int, bool], None],
    ) -> None:
        self.rules, self.svc, self.count = rules, svc, count
        self._open = 0

    def serve(self, listeners: Mapping[str, Any]) -> None:
        """Serve until the process ends."""
        asyncio.run(self.until(asyncio.Event(), listeners))

    async def until(self, ended: asyncio.Event, listeners: Mapping[str, Any]) -> None:
        servers = []
        for address, raw in listeners.items():
            sock = socket.socket(fileno=raw.detach())
            port = int(address.rpartition(":")[2])
            handler = self._proxy_connection if port == PORT else self._forwarding(address, port)
            handler = self._limit(handler)
            servers.append(await asyncio.start_server(handler, sock=sock, limit=HEAD_BYTES))
        await ended.wait()
        for server in servers:
            server.close()

    def _limit(self, handler: Handler) -> Handler:
        """The handler, limited to MOST connections at once; further ones are closed."""

        async def handle(reader: Reader, writer: Writer) -> None:
            if self._open >= MOST:
                writer.close()
                return
            self._open += 1
            try:
                await handler(reader, writer)
            finally:
                self._open -= 1

        return handle

    def _forwarding(self, address: str, port: int) -> Handler:
        """A handler that forwards all bytes to a port of this machine unchanged."""
        host = address.rpartition(":")[0]
        names = ["127.0.0.1", "::1"] if host in ("127.0.0.1", "::1") else [host]

        async def forward(reader: Reader, writer: Writer) -> None:
            with suppress(OSError, ConnectionNotAllowed, TimeoutError):
                theirs = await self._connect_to_any("localhost", port, names, opened=True)
                await _splice(reader, writer, *theirs)
            writer.close()

        return forward

    async def _proxy_connection(self, reader: Reader, writer: Writer) -> None:
        try:
            async with asyncio.timeout(HEAD_S):
                head = await read_head(reader)
            if head is not None:
                await self._handle_request(head, reader, writer)
        except BadRequest as error:
            writer.write(answer(400, str(error)))
        except ConnectionNotAllowed as refused:
            writer.write(answer(403, str(refused)))
        except TimeoutError:
            writer.write(answer(504, "the connection was not made in time"))
        except OSError as error:
            writer.write(answer(502, f"cannot connect: {error.strerror or error}"))
        finally:
            with suppress(OSError):
                await writer.drain()
            writer.close()

    async def _handle_request(self, head: Head, reader: Reader, writer: Writer) -> None:
        own = head.target.removeprefix(PROXY)  # asked of the proxy itself, or through it
        if own.startswith("/"):
            await own_tools.pass_on(head, own, reader, writer, self.svc)
        elif head.method == "CONNECT":
            host, port = _authority(head.target)
            theirs = await self._connect(host, port)
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            await _splice(reader, writer, *theirs)
        else:
            host, port, target = _absolute(head.target)
            theirs = await self._connect(host, port)
            theirs[1].write(head.for_origin(target))
            await _splice(reader, writer, *theirs)

    async def _connect(self, host: str, port: int) -> tuple[Reader, Writer]:
        """Look the name up once, judge its addresses, connect to one that was permitted."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(CONNECT_S):
            try:
                rows = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            except (socket.gaierror, UnicodeError):
                self._without_address(host, port)
                raise OSError(f"{host} has no address") from None
            found = list(dict.fromkeys(str(row[4][0]) for row in rows))
            return await self._connect_to_any(host, port, found)

    def _without_address(self, host: str, port: int) -> None:
        """Refuse by name if the rules do: that says more than that the name is unknown."""
        try:
            self.rules.permitted_addresses(host, port, [])
        except ConnectionNotAllowed as refused:
            if "has no address" not in str(refused):
                self.count(host, port, True)
                raise

    async def _connect_to_any(
        self, host: str, port: int, found: list[str], *, opened: bool = False
    ) -> tuple[Reader, Writer]:
        try:
            good = self.rules.permitted_addresses(host, port, found, opened=opened)
        except ConnectionNotAllowed:
            self.count(host, port, True)
            raise
        failure: OSError = OSError("no address")
        for address in good:
            try:
                theirs = await asyncio.open_connection(address, port)
            except OSError as error:
                failure = error
                continue
            self.count(host, port, False)
            return theirs
        raise failure


def _authority(target: str) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{target}")
        if parts.hostname and parts.port and parts.netloc == target:
            return parts.hostname, parts.port
    except ValueError:
        pass
    raise BadRequest("CONNECT needs host:port")


def _absolute(target: str) -> tuple[str, int, str]:
    """Host, port and origin form of `http://host/path`. Raises BadRequest."""
    try:
        parts = urlsplit(target)
        port = parts.port or 80
    except ValueError:
        raise BadRequest("not a URL") from None
    if parts.scheme.lower() != "http" or not parts.hostname:
        raise BadRequest("only http URLs and CONNECT are taken")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return parts.hostname, port, path


async def _splice(reader: Reader, writer: Writer, far_reader: Reader, far_writer: Writer) -> None:
    """Copy bytes both ways until both directions have ended."""
    try:
        await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))
    finally:
        far_writer.close()


async def _pump(reader: Reader, writer: Writer) -> None:
    try:
        while part := await reader.read(BLOCK):
            writer.write(part)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
    except OSError:
        writer.close()  # the other direction ends with it
