"""One connection of the server: its requests one after another, its user, and its timeouts.

A client has limited time for its headers and must send a body at some pace, so a slow one holds
nothing for long. A request that exceeds the limits of HTTP gets an answer before the connection
ends.
"""

# ruff: noqa: N802 - Twisted calls these by their own names

from __future__ import annotations

from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any

import orjson
from twisted.internet import tcp
from twisted.protocols import basic
from twisted.web import http as twisted_http

from config.web.answers import JSON
from config.web.connections import peers

http: Any = twisted_http  # Twisted's web part is not typed
LineReceiver: Any = basic.LineReceiver

DRAIN_S = 1.0  # how long a body is still discarded after an early answer
WAIT_S = 60.0  # for the headers of a request, and at most between two pieces of its body
FLOOR = 1024  # bytes of a body that must arrive per second, on average
TOO_LONG = "The address of the request is longer than 16384 bytes."
TOO_LARGE = (
    "The headers of the request are larger than 16384 bytes, or more than 500. In a browser, "
    "delete the cookies of this host: all its ports share them."
)


class Patience:
    """The deadline of a slow client: WAIT_S, extended by what it sends.

    Each FLOOR bytes add a second, but the deadline is never more than WAIT_S away. It only moves
    to later times, so one timer is enough: when it fires, it checks whether the deadline has come.
    """

    def __init__(self, clock: Any, cut: Callable[[], None]) -> None:
        self._clock, self._cut = clock, cut
        self._end: float | None = None  # None: no deadline
        self._call: Any = None

    def begin(self) -> None:
        self._end = self._clock.seconds() + WAIT_S
        if self._call is None:
            self._call = self._clock.callLater(WAIT_S, self._due)

    def extend(self, size: int) -> None:
        if self._end is not None:
            self._end = min(self._clock.seconds() + WAIT_S, self._end + size / FLOOR)

    def end(self) -> None:
        self._end = None

    def close(self) -> None:
        """Drop the deadline, the timer, and the reference to the connection that owns this."""
        self._end, self._cut = None, lambda: None
        if self._call is not None:
            self._call.cancel()
            self._call = None

    def _due(self) -> None:
        self._call = None
        if self._end is None:
            return
        left = self._end - self._clock.seconds()
        if left > 0:
            self._call = self._clock.callLater(left, self._due)
        else:
            self._end = None
            self._cut()


class Channel(http.HTTPChannel):  # type: ignore[misc]
    """One connection. It ends after an answer that was sent before the body had arrived."""

    clock: Any = None
    peer_uid: int | None = None  # the user of this machine at the other end
    secure = False
    client: list[Any] | None = None  # both ends as ASGI names them, computed once
    server: list[Any] | None = None

    def __init__(self) -> None:
        super().__init__()
        self._draining: Any = None
        self._held: list[bytes] | None = None
        self._begun = False  # some of the next request has arrived
        self._body = False  # its headers have arrived, its body has not
        self._refused = False

    def callLater(self, seconds: float, call: Any) -> Any:
        return self.clock.callLater(seconds, call)

    def connectionMade(self) -> None:
        """Look up the user at once: the kernel cannot tell it once the client has closed."""
        self._peer, self._host = self.transport.getPeer(), self.transport.getHost()
        self.client, self.server = _address(self._peer), _address(self._host)
        self.secure = super().isSecure()
        self.peer_uid = peers.uid_of(self.transport)
        self.patience = Patience(self.clock, self.timeoutConnection)
        super().connectionMade()
        self.patience.begin()

    def getPeer(self) -> Any:
        return self._peer

    def getHost(self) -> Any:
        return self._host

    def isSecure(self) -> bool:
        return self.secure

    def dataReceived(self, data: bytes) -> None:
        if self._refused:
            return
        if self._body:
            self.patience.extend(len(data))
        elif not self._begun and not self._handlingRequest:
            self._begun = True
            self.patience.begin()
        LineReceiver.dataReceived(self, data)

    def lineReceived(self, line: bytes) -> None:
        if self._receivedHeaderSize + len(line) > self.totalHeadersSize:
            self.lineLengthExceeded(line)
        else:
            super().lineReceived(line)

    def lineLengthExceeded(self, line: bytes) -> None:
        if self.requests:
            self._refuse(431, TOO_LARGE)
        else:
            self._refuse(414, TOO_LONG)

    def headerReceived(self, line: bytes) -> bool:
        if self._receivedHeaderCount >= self.maxHeaders:
            self._refuse(431, TOO_LARGE)
            return False
        try:
            return bool(super().headerReceived(line))
        except ValueError:  # a length with more digits than Python parses
            self._respondToBadRequestAndDisconnect()
            return False

    def _respondToBadRequestAndDisconnect(self) -> None:
        if self._body:  # the application has begun, and may be answering
            super()._respondToBadRequestAndDisconnect()
        else:
            self._refuse(400, "The request is not valid HTTP/1.1.")

    def _refuse(self, status: int, text: str) -> None:
        """Answer input that is no valid request; discard the rest until the answer is read."""
        data = orjson.dumps({"error": text, "code": "invalid" if status == 400 else "too_large"})
        head = b"HTTP/1.1 %d %b\r\nConnection: close\r\nContent-Type: %b\r\nContent-Length: %d"
        head %= status, HTTPStatus(status).phrase.encode(), JSON, len(data)
        self.transport.write(head + b"\r\n\r\n" + data)
        self._refused = True
        self.clearLineBuffer()
        self.patience.end()
        self.drain()

    def allHeadersReceived(self) -> None:
        request: Any = self.requests[-1]
        self.persistent = self.checkPersistence(request, self._version)
        request.gotLength(self.length)
        self._body = self.length != 0
        self.patience.begin()
        request.begin(self._command, self._path, self._version)

    def allContentReceived(self) -> None:
        self._begun = self._body = False
        self.patience.end()
        if self._draining is not None:
            self.loseConnection()
        else:
            super().allContentReceived()

    def _send100Continue(self) -> None:
        super()._send100Continue()
        self.patience.begin()  # until now the client was waiting for this

    def pause_body(self) -> None:
        """Stop reading for now: the client cannot send, so its deadline is suspended."""
        self.patience.end()
        self._networkProducer.pauseProducing()

    def resume_body(self) -> None:
        if self._body:
            self.patience.begin()
        self._networkProducer.resumeProducing()

    def hold(self) -> None:
        """Collect what is written until `release`, so that headers, body and end leave at once.
        Each write releases the GIL, and a busy server waits long to get it back."""
        self._held = []

    def release(self) -> None:
        held, self._held = self._held, None
        if held:
            self._send(held[0] if len(held) == 1 else b"".join(held))

    def writeHeaders(self, version: bytes, code: bytes, reason: bytes, headers: Any) -> None:
        """Write the headers by `write`; Twisted's method fills the transport's buffer instead."""
        pairs = headers.getAllRawHeaders()
        lines = [b"%b: %b\r\n" % (name, value) for name, values in pairs for value in values]
        self.write(b"%b %b %b\r\n%b\r\n" % (version, code, reason, b"".join(lines)))

    def write(self, data: bytes) -> None:
        if self._held is not None:
            self._held.append(data)
        else:
            self._send(data)

    def _send(self, data: bytes) -> None:
        """Write directly to the socket if nothing is buffered: a write through Twisted's buffer
        costs two more turns of the event loop, and an event may go to a thousand streams."""
        transport: Any = self.transport
        if isinstance(transport, tcp.Connection) and _idle(transport):
            sent = transport.writeSomeData(data)
            data = data[sent:] if isinstance(sent, int) else data
        if data:
            transport.write(data)

    def writeSequence(self, parts: Iterable[bytes]) -> None:
        """Write a body with its chunk marks; parts that are held are joined only once."""
        if self._held is not None:
            self._held.extend(parts)
        else:
            self._send(b"".join(parts))

    def drain(self) -> None:
        """Discard what arrives, at most for a second: closing at once could lose the answer."""
        self._draining = self.callLater(DRAIN_S, self.loseConnection)

    def requestDone(self, request: Any) -> None:
        self.release()  # before requestDone may close the connection
        if self._draining is None:
            if self.persistent:
                self.patience.begin()
            super().requestDone(request)
        else:
            self.requests.remove(request)
            self._networkProducer.resumeProducing()

    def connectionLost(self, reason: Any) -> None:
        self.patience.close()
        if self._draining is not None and self._draining.active():
            self._draining.cancel()
        super().connectionLost(reason)
        self._draining = self._transferDecoder = None  # both refer to methods of this


def _address(end: Any) -> list[Any] | None:
    """A TCP address in the form of ASGI; None for a unix socket."""
    host, port = getattr(end, "host", None), getattr(end, "port", None)
    return None if host is None or port is None else [str(host), port]


def _idle(transport: Any) -> bool:
    """Whether the connection is open and nothing is waiting to be written."""
    waiting = transport.dataBuffer or transport._tempDataBuffer
    return bool(transport.connected) and not waiting and not transport.disconnecting
