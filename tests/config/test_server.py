"""The HTTP server on the wire: raw sockets against the real process."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Empty

import orjson
import psutil
import pytest

from tests.service import until
from tests.wire import (
    WAIT_S,
    Wire,
    chunked,
    make_certificate,
    read_all,
    read_answer,
    read_until,
    request,
    segments,
)


@pytest.fixture(scope="module")
def wire() -> Iterator[Wire]:
    with Wire() as running:
        yield running


def test_an_answer_comes_before_the_body_has_arrived_and_ends_the_connection(wire):
    with wire.connect() as connection:
        connection.sendall(request("POST /refuse HTTP/1.1\nContent-Length: 100000000"))

        answer = read_all(connection)

    assert answer.startswith(b"HTTP/1.1 401 ")
    assert b"Connection: close" in answer
    assert answer.endswith(b"\r\n\r\nno")


def test_a_client_that_goes_on_sending_still_gets_the_early_answer(wire):
    with wire.connect() as connection:
        connection.sendall(request("POST /refuse HTTP/1.1\nContent-Length: 3000000"))
        connection.sendall(b"x" * 3_000_000)

        assert read_all(connection).endswith(b"no")


def test_what_follows_an_early_answer_is_never_taken_for_a_request(wire):
    smuggled = request("GET /echo HTTP/1.1")
    with wire.connect() as connection:
        head = f"POST /refuse HTTP/1.1\nContent-Length: {len(smuggled)}"
        connection.sendall(request(head))
        answer = connection.recv(65536)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(smuggled + request("GET /echo HTTP/1.1"))

        answer += read_all(connection)

    assert answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize("chunks", [False, True], ids=["by length", "chunked"])
def test_a_body_over_the_limit_is_refused_while_it_is_still_coming(wire, chunks):
    head = "POST /limit HTTP/1.1\n"
    head += "Transfer-Encoding: chunked" if chunks else "Content-Length: 50000000"
    piece = chunked(b"x" * 100_000) if chunks else b"x" * 100_000

    def send() -> None:
        with contextlib.suppress(OSError):
            for _ in range(500):
                connection.sendall(piece)

    with wire.connect() as connection:
        connection.sendall(request(head))
        sender = threading.Thread(target=send)
        sender.start()
        answer = read_answer(connection)
        connection.shutdown(socket.SHUT_RDWR)
        sender.join(WAIT_S)

    assert answer[0].startswith(b"HTTP/1.1 413 ")
    assert 5_000_000 < int(answer[1]) < 6_000_000


def test_a_chunked_body_arrives_whole(wire):
    with wire.connect() as connection:
        connection.sendall(request("POST /echo HTTP/1.1\nTransfer-Encoding: chunked"))
        for part in (b"abc", b"defg", b""):
            connection.sendall(chunked(part))

        assert read_answer(connection)[1] == b"POST 7 abcdefg"


def test_pipelined_requests_are_answered_one_after_another_in_order(wire):
    with wire.connect() as connection:
        connection.sendall(
            request("POST /echo HTTP/1.1\nContent-Length: 3", b"one")
            + request("POST /echo HTTP/1.1\nTransfer-Encoding: chunked", chunked(b"two", b""))
            + request("GET /echo HTTP/1.1\nConnection: close")
        )

        answer = read_all(connection)

    bodies = [part.rpartition(b"\r\n\r\n")[2] for part in answer.split(b"HTTP/1.1 200 OK")[1:]]
    assert bodies == [b"POST 3 one", b"POST 3 two", b"GET 0 "]


@pytest.mark.parametrize(
    ("head", "status", "told"),
    [
        (f"GET /echo HTTP/1.1\nX: {'a' * 20_000}", b"431 Request Header Fields Too", b"cookies"),
        (f"GET /echo HTTP/1.1\nX: {'a' * 200_000}", b"431 ", b"headers of the request are larger"),
        ("GET /echo HTTP/1.1" + "\nX: aaaaaaaaaaaaaaaaaaaaaaa" * 800, b"431 ", b"16384 bytes"),
        ("GET /echo HTTP/1.1" + "\nX: a" * 501, b"431 ", b"more than 500"),
        (f"GET /{'a' * 30_000} HTTP/1.1", b"414 ", b"The address of the request is longer"),
        (f"GET /{'a' * 16_500}", b"414 ", b"than 16384 bytes"),
    ],
    ids=["one line", "a long line", "many bytes", "many lines", "target", "no version"],
)  # fmt: skip
def test_what_is_too_long_is_told_so_and_the_connection_ends(wire, head, status, told):
    with wire.connect() as connection:
        connection.sendall(request(head) + request("GET /echo HTTP/1.1"))

        answer = read_all(connection)

    assert answer.startswith(b"HTTP/1.1 " + status)
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"\r\nConnection: close\r\n" in answer
    body = orjson.loads(answer.partition(b"\r\n\r\n")[2])
    assert body["code"] == "too_large"
    assert told.decode() in body["error"]


def test_headers_up_to_the_limit_are_served(wire):
    with wire.connect() as connection:
        connection.sendall(request("GET /echo HTTP/1.1\nX: " + "a" * 16_000))
        assert read_answer(connection)[1] == b"GET 0 "


def test_a_connection_is_kept_for_the_next_request(wire):
    with wire.connect() as connection:
        for _ in range(3):
            connection.sendall(request("POST /echo HTTP/1.1\nContent-Length: 2", b"ab"))
            assert read_answer(connection)[1] == b"POST 2 ab"


def test_a_short_answer_leaves_in_one_piece(wire):
    with wire.connect() as connection:
        connection.sendall(request("POST /echo HTTP/1.1\nContent-Length: 2", b"ab"))
        read_answer(connection)
        assert segments(connection) == 1

        connection.sendall(request("POST /unsized HTTP/1.1\nContent-Length: 2", b"ab"))
        answer = read_until(connection, b"0\r\n\r\n")
        assert answer.endswith(b"\r\n\r\n8\r\nwhole ab\r\n0\r\n\r\n")
        assert segments(connection) == 2


def test_headers_sent_early_leave_early_and_what_follows_in_one_more_piece(wire):
    with wire.connect() as connection, wire.connect() as other:
        connection.sendall(request("GET /steps HTTP/1.1"))
        head = read_until(connection, b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200 OK\r\n")
        assert segments(connection) == 1
        other.sendall(request("GET /go HTTP/1.1"))

        assert read_until(connection, b"0\r\n\r\n") == b"4\r\ndone\r\n0\r\n\r\n"

        assert segments(connection) == 2


def test_pipelined_answers_of_unknown_length_are_whole_and_in_order_up_to_the_close(wire):
    names = [b"%d" % number for number in range(20)]
    asked = [request(f"POST /unsized HTTP/1.1\nContent-Length: {len(n)}", n) for n in names]
    last = request("GET /unsized HTTP/1.1\nConnection: close")
    with wire.connect() as connection:
        connection.sendall(b"".join(asked) + last)

        answers = read_all(connection).split(b"HTTP/1.1 200 OK\r\n")[1:]

    bodies = [answer.partition(b"\r\n\r\n")[2] for answer in answers]
    assert bodies == [chunked(b"whole " + name, b"") for name in [*names, b""]]


def test_a_refusal_of_the_next_pipelined_request_comes_after_the_answer(wire):
    with wire.connect() as connection:
        connection.sendall(request("GET /unsized HTTP/1.1") + b"nonsense\r\n\r\n")

        first, second = read_all(connection).split(b"HTTP/1.1 ")[1:]

    assert first.endswith(chunked(b"whole ", b""))
    assert second.startswith(b"400 Bad Request\r\nConnection: close\r\n")
    assert second.endswith(b'{"error":"The request is not valid HTTP/1.1.","code":"invalid"}')


def test_the_head_of_an_answer_of_unknown_length_has_no_body_and_keeps_the_connection(wire):
    with wire.connect() as connection:
        for _ in range(2):
            connection.sendall(request("HEAD /unsized HTTP/1.1"))

            assert read_until(connection, b"\r\n\r\n") == b"HTTP/1.1 200 OK\r\n\r\n"


def test_expect_is_answered_only_when_the_application_wants_the_body(wire):
    with wire.connect() as connection:
        head = "POST /echo HTTP/1.1\nContent-Length: 2\nExpect: 100-continue"
        connection.sendall(request(head))
        assert connection.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        connection.sendall(b"ab")

        assert read_answer(connection)[1] == b"POST 2 ab"


def test_expect_is_refused_without_a_continue_by_a_gate(wire):
    with wire.connect() as connection:
        head = "POST /refuse HTTP/1.1\nContent-Length: 2\nExpect: 100-continue"
        connection.sendall(request(head))

        assert read_all(connection).startswith(b"HTTP/1.1 401 ")


def test_a_body_that_came_with_its_headers_needs_no_continue(wire):
    with wire.connect() as connection:
        head = "POST /echo HTTP/1.1\nContent-Length: 2\nExpect: 100-continue"
        connection.sendall(request(head, b"ab"))

        answer = connection.recv(65536)
        while b"POST 2 ab" not in answer:
            answer += connection.recv(65536)
    assert answer.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n").startswith(b"HTTP/1.1 200 ")


def test_head_has_the_headers_of_get_and_no_body(wire):
    with wire.connect() as connection:
        connection.sendall(request("HEAD /echo HTTP/1.1\nConnection: close"))

        head, _, body = read_all(connection).partition(b"\r\n\r\n")

    assert b"Content-Length: 7" in head
    assert body == b""


def test_a_body_waits_in_the_network_until_the_application_takes_it(wire):
    sent = 0
    with wire.connect() as connection:
        connection.sendall(request("POST /sit HTTP/1.1\nContent-Length: 80000000", b"x"))
        wire.heard("took")
        memory = psutil.Process(wire.process.pid).memory_info().rss
        connection.settimeout(0.5)
        with contextlib.suppress(TimeoutError):
            while sent < 80_000_000:
                sent += connection.send(b"x" * 1_000_000)

    assert sent < 30_000_000  # what the two sockets' buffers hold
    assert psutil.Process(wire.process.pid).memory_info().rss - memory < 10_000_000


def test_an_application_waits_for_a_client_that_does_not_read(wire):
    with wire.connect() as connection:
        connection.sendall(request("GET /flood HTTP/1.1"))
        sent = wire.heard("sent 0")
        with contextlib.suppress(Empty):
            while True:
                word = wire.words.get(timeout=0.5)
                sent = word if word.startswith("sent ") else sent
        assert int(sent.split()[1]) < 500

        read, end = 0, b""
        while end != b"0\r\n\r\n":
            data = connection.recv(1_000_000)
            read, end = read + len(data), (end + data)[-5:]

    assert read >= 64 * 1024 * 1024
    wire.heard("ended /flood")


def test_a_client_that_leaves_is_noticed_at_once(wire):
    with wire.connect() as connection:
        connection.sendall(request("POST /hold HTTP/1.1\nContent-Length: 1", b"x"))
        wire.heard("took 1")

    wire.heard("ended /hold")


def test_a_client_that_leaves_in_the_middle_of_its_body_is_noticed(wire):
    with wire.connect() as connection:
        connection.sendall(request("POST /echo HTTP/1.1\nContent-Length: 10", b"x"))
        wire.heard("began /echo")

    wire.heard("left")


def test_a_crash_is_a_json_500_without_a_word_of_why(wire):
    with wire.connect() as connection:
        connection.sendall(request("GET /crash HTTP/1.1\nConnection: close"))

        answer = read_all(connection)

    assert answer.startswith(b"HTTP/1.1 500 ")
    assert answer.endswith(b'{"error":"internal error","code":"internal"}')


def test_an_answer_that_breaks_off_is_never_taken_for_whole(wire):
    with wire.connect() as connection:
        connection.sendall(request("GET /torn HTTP/1.1"))

        answer = read_all(connection)

    assert b"0\r\n\r\n" not in answer


@pytest.mark.parametrize(
    "raw",
    [
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
        b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1e3\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        b"POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET echo HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET http://evil/echo HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /echo?\xff HTTP/1.1\r\nHost: a\r\n\r\n",
        b"GET /echo HTTP/1.1\r\nHost: a\r\nA b: c\r\n\r\n",
        b"GET /echo HTTP/1.1\r\nHost: a\r\nA: \x00\r\n\r\n",
        b"GET /echo HTTP/1.1\r\nHost: a\r\nA: \x0b\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",
    ],
)
def test_what_is_no_request_is_refused_and_nothing_runs(wire, raw):
    with wire.connect() as connection:
        connection.sendall(raw)
        connection.shutdown(socket.SHUT_WR)

        answer = read_all(connection)

    assert answer == b"" or answer.startswith(b"HTTP/1.1 400 ")
    assert not answer.count(b"POST ") + answer.count(b"GET ")


def test_a_length_of_more_digits_than_can_be_read_is_told_so(wire):
    with wire.connect() as connection:
        connection.sendall(request(f"POST /echo HTTP/1.1\nContent-Length: {'9' * 5000}"))

        assert read_all(connection).startswith(b"HTTP/1.1 400 ")


def test_what_a_client_says_of_itself_is_not_believed(wire):
    with wire.connect() as connection:
        head = "GET /where HTTP/1.1\nDaphne-Root-Path: /evil\nX_Forwarded_For: 9.9.9.9"
        connection.sendall(request(head + "\nX-Forwarded-Proto: https\nX-Forwarded-For: 9.9.9.9"))

        body = read_answer(connection)[1].decode()

    assert "'root_path': ''" in body
    assert "'scheme': 'http'" in body
    assert "'127.0.0.1'" in body
    assert "x_forwarded_for" not in body


def test_a_websocket_is_ordinary_http_here(wire):
    with wire.connect() as connection:
        connection.sendall(request("GET /echo HTTP/1.1\nUpgrade: websocket\nConnection: Upgrade"))

        assert read_answer(connection)[1] == b"GET 0 "


def test_two_thousand_requests_leave_nothing_behind(wire):
    process = psutil.Process(wire.process.pid)

    def rounds(count: int) -> None:
        for _ in range(count):
            with wire.connect() as connection:
                connection.sendall(request("POST /echo HTTP/1.1\nContent-Length: 1", b"x"))
                read_answer(connection)

    rounds(200)
    files, memory = process.num_fds(), process.memory_info().rss
    rounds(1000)

    until(lambda: process.num_fds() <= files, what="descriptors closed")
    assert process.memory_info().rss - memory < 5_000_000


@pytest.mark.parametrize(
    "head",
    [
        "GET /echo HTTP/1.1",
        "GET /echo HTTP/1.1\nConnection: close",
        "POST /refuse HTTP/1.1\nContent-Length: 9",
        "GET /hold HTTP/1.1",
        "GET /events HTTP/1.1",
    ],
)
def test_a_connection_that_is_over_leaves_nothing_for_the_garbage_collector(wire, head):
    """It would come late in a server at rest: a thousand streams that are closed held 20 MB."""

    def ask(head: str) -> bytes:
        with wire.connect() as connection:
            connection.sendall(request(head))
            return bytes(connection.recv(65536))

    def garbage() -> int:
        answer = ask("GET /garbage HTTP/1.1\nConnection: close")
        wire.heard("ended /garbage")
        return int(answer.rpartition(b"\r\n")[2])

    path = head.split()[1]
    garbage()
    for _ in range(50):
        ask(head)
        wire.heard(f"ended {path}")

    assert garbage() < 50


def test_tls_streams_bodies_and_refuses_early_alike(tmp_path: Path):
    certificate, key = make_certificate(tmp_path)
    with Wire(str(certificate), str(key)) as wire:
        context = ssl.create_default_context(cafile=str(certificate))
        context.set_alpn_protocols(["h2", "http/1.1"])

        def connect() -> ssl.SSLSocket:
            return context.wrap_socket(wire.connect(), server_hostname="localhost")

        with connect() as connection:
            assert connection.selected_alpn_protocol() in (None, "http/1.1")
            connection.sendall(request("GET /where HTTP/1.1"))
            assert b"'scheme': 'https'" in read_answer(connection)[1]
            connection.sendall(request("POST /echo HTTP/1.1\nContent-Length: 3", b"abc"))
            assert read_answer(connection)[1] == b"POST 3 abc"
        with connect() as connection:
            connection.sendall(request("POST /refuse HTTP/1.1\nContent-Length: 100000000"))
            assert connection.recv(65536).startswith(b"HTTP/1.1 401 ")


def test_a_stop_cuts_streams_and_ends_without_a_traceback():
    with Wire() as wire, wire.connect() as stream, wire.connect():
        stream.sendall(request("GET /hold HTTP/1.1"))
        wire.heard("took 0")

        errors = wire.close()

        assert wire.process.returncode == 0
        assert errors == ""
