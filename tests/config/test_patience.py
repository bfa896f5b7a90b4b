"""How long a slow client is waited for, by a clock that the tests drive."""

from __future__ import annotations

from typing import Any

import pytest
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.web.http_headers import Headers

from config.web.connections.channel import FLOOR, WAIT_S, Channel

HEAD = b"POST /x HTTP/1.1\r\nHost: localhost\r\n"
BODY = HEAD + b"Content-Length: 10000000\r\n\r\n"
GET = b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n"
HOUR = 3600


class Exchange:
    """What the channel asks of a request; the test answers it."""

    def __init__(self, channel: Channel, queued: bool) -> None:
        self.requestHeaders, self.responseHeaders = Headers(), Headers()
        self.received = 0

    def gotLength(self, length: int | None) -> None:
        """The channel knows it."""

    def begin(self, *line: bytes) -> None:
        """Nothing waits for it."""

    def handleContentChunk(self, data: bytes) -> None:
        self.received += len(data)

    def requestReceived(self, *line: bytes) -> None:
        """The test answers when it likes."""


class Connection:
    """One connection to the channel, over no network and in its own time."""

    def __init__(self) -> None:
        transport: Any = StringTransport
        self.clock, self.transport = Clock(), transport()
        self.channel: Any = Channel()
        self.channel.clock, self.channel.requestFactory = self.clock, Exchange
        self.channel.makeConnection(self.transport)

    def send(self, data: bytes, *, every: float = 0, times: int = 1) -> bool:
        """Whether it is still open after so many pieces and so many seconds after each."""
        for _ in range(times):
            self.channel.dataReceived(data)
            if not self.passes(every):
                return False
        return True

    def passes(self, seconds: float) -> bool:
        """Whether it is still open then."""
        self.clock.advance(seconds)
        return not self.transport.disconnecting

    def answer(self) -> None:
        self.channel.requestDone(self.channel.requests[0])


@pytest.fixture
def connection() -> Connection:
    return Connection()


def test_a_silent_client_is_cut_after_a_minute(connection):
    assert connection.passes(WAIT_S - 1)
    assert not connection.passes(1)


@pytest.mark.parametrize("every", [0.5, 5, 50])
def test_headers_that_drip_are_cut_after_a_minute(connection, every):
    connection.send(HEAD)
    connection.send(b"X", every=every, times=int((WAIT_S - 1) / every))
    assert not connection.transport.disconnecting
    assert not connection.send(b"X", every=every, times=int(2 / every) + 1)
    assert connection.clock.seconds() < WAIT_S + every + 1


def test_a_client_that_stays_after_the_cut_is_thrown_out(connection):
    connection.passes(WAIT_S)
    connection.passes(connection.channel.abortTimeout)

    assert connection.transport.disconnected


@pytest.mark.parametrize("size", [1, FLOOR // 2])
def test_a_body_below_the_floor_is_cut(connection, size):
    connection.send(BODY)

    assert not connection.send(b"x" * size, every=1, times=HOUR)
    assert connection.clock.seconds() <= WAIT_S / (1 - size / FLOOR) + 2


@pytest.mark.parametrize("every", [1, 10, 50])
def test_a_body_a_little_above_the_floor_is_never_cut(connection, every):
    connection.send(BODY)

    assert connection.send(b"x" * (FLOOR + 100) * every, every=every, times=HOUR // every)


def test_a_fast_beginning_buys_no_slow_end(connection):
    connection.send(BODY)
    connection.send(b"x" * 9_000_000)

    assert not connection.send(b"x", every=1, times=int(WAIT_S) + 2)


def test_nobody_waits_for_a_client_that_may_not_send(connection):
    connection.send(BODY)
    connection.channel.pause_body()
    assert connection.passes(HOUR)

    connection.channel.resume_body()
    assert connection.passes(WAIT_S - 1)
    assert not connection.passes(1)


def test_a_request_that_was_read_may_be_answered_for_hours(connection):
    connection.send(GET)
    assert connection.passes(10 * HOUR)
    assert connection.send(b"GET /next", every=HOUR)  # waits for its turn

    connection.answer()
    assert connection.passes(WAIT_S - 1)
    assert not connection.passes(1)


def test_a_kept_connection_has_a_minute_for_each_request(connection):
    for _ in range(5):
        assert connection.passes(WAIT_S - 1)
        assert connection.send(GET[:9], every=WAIT_S - 1)
        assert connection.send(GET[9:], every=HOUR)
        connection.answer()

    assert not connection.passes(WAIT_S)


def test_a_connection_that_has_ended_leaves_no_timer(connection):
    connection.send(BODY)
    connection.channel.requests.clear()
    connection.channel.connectionLost(None)

    assert connection.clock.getDelayedCalls() == []
