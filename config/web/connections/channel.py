"""One connection of the server: its requests one by one, its user, and its patience.

A client has so long for its headers and must send a body at some pace, so that one that drips
keeps nothing for long; what exceeds the limits of HTTP is answered before the connection ends.
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

DRAIN_S = 1.0  # how long an early answer's connection still swallows the body
WAIT_S = 60.0  # for the headers of a request, and at most without a byte of its body
FLOOR = 1024  # bytes of a body that must come in a second, in the long run
TOO_LONG = "The address of the request is longer than 16384 bytes."
TOO_LARGE = (
    "The headers of the request are larger than 16384 bytes, or more than 500. In a browser, "
    "delete the cookies of this host: all its ports share them."
)


class Patience:
    """How long a slow client is waited for: WAIT_S, and longer by what it sends.

    Each FLOOR bytes are good for a second more, but nobody saves up more than WAIT_S. The end only
    ever moves back, so one timer is enough: when it is due it looks whether the end has come.
    """

    def __init__(self, clock: Any, cut: Callable[[], None]) -> None:
        self._clock, self._cut = clock, cut
        self._end: float | None = None  # nobody is waited for
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
        """Nothing is left to wait for, nor of the timer, nor of the connection that keeps this."""
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
    """One connection. Ends after an answer that came before its body did."""

    clock: Any = None
    peer_uid: int | None = None  # the user of this machine at the other end
    secure = False
    client: list[Any] | None = None  # both ends, as ASGI wants them: asked once for all requests
    server: list[Any] | None = None

    def __init__(self) -> None:
        super().__init__()
        self._draining: Any = None
        self._held: list[bytes] | None = None
        self._begun = False  # something of the next request has come
        self._body = False  # its headers have come, its body has not
        self._refused = False

    def callLater(self, seconds: float, call: Any) -> Any:
        return self.clock.callLater(seconds, call)

    def connectionMade(self) -> None:
        """Whose it is, is asked at once: nobody can tell of a client that has closed."""
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
        except ValueError:  # a length of more digits than Python reads
            self._respondToBadRequestAndDisconnect()
            return False

    def _respondToBadRequestAndDisconnect(self) -> None:
        if self._body:  # the application has it, and may have begun to answer
            super()._respondToBadRequestAndDisconnect()
        else:
            self._refuse(400, "The request is not valid HTTP/1.1.")

    def _refuse(self, status: int, text: str) -> None:
        """Answer what is no request; what still comes is swallowed until the answer is read."""
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
        self.patience.begin()  # until now the client waited for this

    def pause_body(self) -> None:
        """Take no more for now: the client cannot send, so nobody waits for it."""
        self.patience.end()
        self._networkProducer.pauseProducing()

    def resume_body(self) -> None:
        if self._body:
            self.patience.begin()
        self._networkProducer.resumeProducing()

    def hold(self) -> None:
        """Keep what is written until `release`: headers, body and end then leave as one. Each
        write lets go of the interpreter, and a busy server waits long to have it back."""
        self._held = []

    def release(self) -> None:
        held, self._held = self._held, None
        if held:
            self._send(held[0] if len(held) == 1 else b"".join(held))

    def writeHeaders(self, version: bytes, code: bytes, reason: bytes, headers: Any) -> None:
        """Twisted's own go around `write`, into the transport's buffer."""
        pairs = headers.getAllRawHeaders()
        lines = [b"%b: %b\r\n" % (name, value) for name, values in pairs for value in values]
        self.write(b"%b %b %b\r\n%b\r\n" % (version, code, reason, b"".join(lines)))

    def write(self, data: bytes) -> None:
        if self._held is not None:
            self._held.append(data)
        else:
            self._send(data)

    def _send(self, data: bytes) -> None:
        """Straight into the socket while nothing waits before it: a write that goes through
        Twisted's buffer costs two more turns of the loop, a thousand times for each event."""
        transport: Any = self.transport
        if isinstance(transport, tcp.Connection) and _idle(transport):
            sent = transport.writeSomeData(data)
            data = data[sent:] if isinstance(sent, int) else data
        if data:
            transport.write(data)

    def writeSequence(self, parts: Iterable[bytes]) -> None:
        """A body between the marks of a chunk: what is held is put together once."""
        if self._held is not None:
            self._held.extend(parts)
        else:
            self._send(b"".join(parts))

    def drain(self) -> None:
        """Swallow what still comes, a second at most: closing at once could lose the answer."""
        self._draining = self.callLater(DRAIN_S, self.loseConnection)

    def requestDone(self, request: Any) -> None:
        self.release()  # nothing can be written once this has closed the connection
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
        self._draining = self._transferDecoder = None  # both keep methods of this


def _address(end: Any) -> list[Any] | None:
    """A TCP address as ASGI wants it; None for a unix socket."""
    host, port = getattr(end, "host", None), getattr(end, "port", None)
    return None if host is None or port is None else [str(host), port]


def _idle(transport: Any) -> bool:
    """Whether the connection is whole and nothing waits to be written."""
    waiting = transport.dataBuffer or transport._tempDataBuffer
    return bool(transport.connected) and not waiting and not transport.disconnecting
