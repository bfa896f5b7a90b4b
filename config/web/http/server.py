"""Daphne, changed as the gates need it: the application starts once the headers are complete.

Stock Daphne receives the whole body first, never waits for a slow reader, and sweeps finished
requests once a second. Here the body is streamed on demand in both directions, an answer given
before its body has arrived ends the connection, and a request is reaped when it is done.
HTTP/1.1 only; no WebSockets; no proxy header is ever believed.
"""

# ruff: noqa: N802 - Twisted calls these by their own names

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, cast
from urllib.parse import unquote

import orjson
from twisted.internet import asyncioreactor

install_reactor: Any = asyncioreactor.install
install_reactor(asyncio.new_event_loop())  # before anything imports the reactor

from daphne.http_protocol import HTTPFactory, WebRequest  # noqa: E402
from daphne.utils import HEADER_NAME_RE, INVALID_HEADER_VALUE_BYTES  # noqa: E402
from twisted.internet import defer  # noqa: E402
from twisted.internet import reactor as installed_reactor  # noqa: E402
from twisted.logger import STDLibLogObserver, globalLogBeginner  # noqa: E402
from twisted.web import http as twisted_http  # noqa: E402

from config.web.answers import JSON, App, Message  # noqa: E402
from config.web.connections.channel import Channel  # noqa: E402
from config.web.http.body import BUFFER, Body  # noqa: E402

log = logging.getLogger(__name__)
TwistedRequest: Any = twisted_http.Request  # Twisted's web part is not typed
reactor: Any = installed_reactor

STOP_S = 3.0  # how long a stop waits for requests that are being answered
CLOSE_S = 10.0  # how long an application may outlive its connection
_INVALID = re.compile(b"[" + re.escape(bytes(sorted(INVALID_HEADER_VALUE_BYTES))) + b"]")


@lru_cache(512)
def _is_name(name: bytes) -> bool:
    """Whether a header may have this name. Cached: clients send the same few."""
    return HEADER_NAME_RE.fullmatch(name) is not None


class Request(WebRequest):  # type: ignore[misc]
    """One request, passed to the application as soon as its headers are complete."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.body = Body(self._resume_reading, self._send_continue)
        self._writable = asyncio.Event()
        self._writable.set()
        self._expected = False

    def begin(self, method: bytes, uri: bytes, version: bytes) -> None:
        self.method, self.uri, self.clientproto = method, uri, version
        self.path, _, self.query_string = uri.partition(b"?")
        expect = self.requestHeaders.getRawHeaders(b"Expect") or [b""]
        self._expected = version == b"HTTP/1.1" and expect[0].lower() == b"100-continue"
        self.registerProducer(self, True)
        if (fault := self._fault()) is not None:
            asyncio.get_running_loop().call_soon(self.basic_error, 400, b"Bad Request", fault)
        else:
            self.server.create_application(self, self._scope())

    def _fault(self) -> str | None:
        for name, values in self.requestHeaders.getAllRawHeaders():
            if not _is_name(name):
                return "invalid header name"
            if any(_INVALID.search(value) for value in values):
                return "invalid header value"
        if not self.path.startswith(b"/") or not self.uri.isascii():
            return "invalid path"
        return None

    def _scope(self) -> dict[str, Any]:
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": self.clientproto.partition(b"/")[2].decode("latin1"),
            "method": self.method.decode("latin1").upper(),  # as Django does; guards compare it
            "path": unquote(self.path.decode("ascii")),
            "raw_path": self.path,
            "root_path": "",
            "scheme": "https" if self.channel.secure else "http",
            "query_string": self.query_string,
            "headers": [
                (name.lower(), value)
                for name, values in self.requestHeaders.getAllRawHeaders()
                if b"_" not in name  # in CGI names `_` and `-` are the same
                for value in values
            ],
            "client": self.channel.client,
            "server": self.channel.server,
            "peer_uid": self.channel.peer_uid,
        }

    # The body, in

    def gotLength(self, length: int | None) -> None:
        """Do nothing: the body is passed on and not stored in a file."""

    def handleContentChunk(self, data: bytes) -> None:
        self.body.feed(data)
        if self.body.size > BUFFER:
            self.channel.pause_body()

    def requestReceived(self, command: bytes, path: bytes, version: bytes) -> None:
        self.body.end()

    def _resume_reading(self) -> None:
        if self.channel is not None:
            self.channel.resume_body()

    def _send_continue(self) -> None:
        if self._expected and not self._response_started and self.channel is not None:
            self._expected = False
            self.channel._send100Continue()

    # The answer, out

    def handle_reply(self, message: Message) -> None:
        if self.finished or self.channel is None:
            return
        if not self._response_started:
            if not self.body.complete:
                self.responseHeaders.setRawHeaders(b"Connection", [b"close"])
            super().handle_reply(message)
            return
        channel = self.channel  # `finish` removes it from the request
        channel.hold()
        try:
            TwistedRequest.write(self, message.get("body", b""))
            if not message.get("more_body", False):
                self.finish()
        finally:
            channel.release()

    async def writable(self) -> None:
        """Wait while the transport's buffer is full because of a slow reader."""
        await self._writable.wait()

    def pauseProducing(self) -> None:
        self._writable.clear()

    def resumeProducing(self) -> None:
        self._writable.set()

    def stopProducing(self) -> None:
        self._writable.set()

    def finish(self) -> None:
        self.unregisterProducer()
        self._let_go()
        if not self.body.complete:
            self.channel.drain()
        TwistedRequest.finish(self)
        self.server.protocol_disconnected(self)

    def connectionLost(self, reason: Any) -> None:
        self._let_go()
        self.producer = None  # the request is its own producer: breaks the cycle
        TwistedRequest.connectionLost(self, reason)
        self.server.protocol_disconnected(self)

    def abort(self, *, at_once: bool) -> None:
        """Abort the connection so a truncated answer is not mistaken for a complete one."""
        if at_once:
            self.channel.transport.abortConnection()
        else:
            self.channel.loseConnection()

    def basic_error(self, status: int, status_text: bytes, body: str) -> None:
        """Send a refusal of the server itself, in the common error shape."""
        data = orjson.dumps({"error": body, "code": "invalid" if status == 400 else "internal"})
        headers = [(b"content-type", JSON), (b"content-length", b"%d" % len(data))]
        self.handle_reply({"type": "http.response.start", "status": status, "headers": headers})
        self.handle_reply({"type": "http.response.body", "body": data})

    def _let_go(self) -> None:
        self.body.close()
        self._writable.set()


class Factory(HTTPFactory):  # type: ignore[misc]
    """Makes the connections; writes no access log."""

    clock = reactor

    def buildProtocol(self, addr: Any) -> Channel:
        channel = Channel()
        channel.factory = self
        channel.requestFactory = Request
        channel.clock = self.clock
        return channel

    def startFactory(self) -> None:
        """No access log to open."""

    def stopFactory(self) -> None:
        """No access log to close."""

    def log(self, request: Any) -> None:
        """Requests are logged where they are served."""

    def acceptableProtocols(self) -> list[bytes]:
        return [b"http/1.1"]


class Server:
    """Runs one application for all listeners, in the asyncio reactor.

    It replaces daphne.server.Server, which would load WebSockets that are not used here. `listen`
    opens the ports; `started` is called when serving begins, `stopping` before it ends.
    """

    server_name = ""  # WebRequest reads it: no Server header

    def __init__(
        self,
        application: App,
        *,
        listen: Callable[[Factory], None],
        started: Callable[[], None],
        stopping: Callable[[], Any],
    ) -> None:
        self.application = application
        self._listen, self._started, self._stopping = listen, started, stopping
        self.connections: dict[Request, asyncio.Task[None] | None] = {}
        self.http_factory = Factory(self)

    def run(self, *, signal_handlers: bool = True) -> None:
        logging.getLogger("twisted").setLevel(logging.WARNING)
        globalLogBeginner.beginLoggingTo(
            [cast("Any", STDLibLogObserver("twisted"))],
            redirectStandardIO=False,
            discardBuffer=True,
        )
        self._listen(self.http_factory)
        asyncio.set_event_loop(reactor._asyncioEventloop)
        reactor.callWhenRunning(self._started)
        reactor.addSystemEventTrigger("before", "shutdown", self._stop)
        reactor.run(installSignalHandlers=signal_handlers)

    def log_action(self, protocol: str, action: str, details: dict[str, Any]) -> None:
        """Requests are logged where they are served."""

    def protocol_connected(self, protocol: Request) -> None:
        self.connections[protocol] = None

    def protocol_disconnected(self, protocol: Request) -> None:
        task = self.connections.get(protocol)
        if task is None or task.done():
            self.connections.pop(protocol, None)
        else:
            late = asyncio.get_running_loop().call_later(CLOSE_S, task.cancel)
            task.add_done_callback(lambda _task: late.cancel())

    def create_application(self, protocol: Request, scope: dict[str, Any]) -> None:
        answer: Any = self.application(
            scope, protocol.body.receive, partial(self.handle_reply, protocol)
        )
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(answer)
        self.connections[protocol] = task
        task.add_done_callback(partial(self._reap, protocol))

    async def handle_reply(self, protocol: Request, message: Message) -> None:
        """ASGI's send: write the message, then wait while the client does not read."""
        if not protocol.finished and protocol.channel is not None:
            protocol.handle_reply(message)
            await protocol.writable()

    def _reap(self, protocol: Request, task: asyncio.Task[None]) -> None:
        """After the application ended: log its error, answer if it did not, drop the request."""
        fault = None if task.cancelled() else task.exception()
        if fault is not None:
            log.error("unhandled error", exc_info=fault)
        if protocol.finished or protocol.channel is None:
            self.connections.pop(protocol, None)
        elif protocol._response_started:
            protocol.abort(at_once=not task.cancelled())
        else:
            protocol.basic_error(500, b"Internal Server Error", "internal error")

    def _stop(self) -> defer.Deferred[None]:
        return defer.Deferred.fromFuture(asyncio.ensure_future(self._end_all()))

    async def _end_all(self) -> None:
        """Cut streams at once; give other requests STOP_S to be answered."""
        for protocol, task in list(self.connections.items()):
            if task is not None and protocol.method == b"GET" and protocol._response_started:
                task.cancel()
        await asyncio.to_thread(self._stopping)
        if tasks := [task for task in self.connections.values() if task is not None]:
            await asyncio.wait(tasks, timeout=STOP_S)
        for task in tasks:
            task.cancel()
