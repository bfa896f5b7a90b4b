"""One question to a real server, and every way it can be answered, refused or drawn out."""

from __future__ import annotations

import asyncio
import errno
import os
import re
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http import server as http_server
from pathlib import Path

import psutil
import pytest

from config import __version__
from config.process import table
from dashboard.files.schema import SILENT_PORTS
from dashboard.health import address, connect, http
from dashboard.health.probe import probe
from dashboard.health.result import Kind, Result
from dashboard.health.target import Target, of_url, statuses
from tests.dashboard.health.servers import (
    answers,
    closed_port,
    drips,
    eventually,
    hangs,
    says,
    server_context,
    serving,
)
from tests.wire import make_certificate


async def ask(port: int, **more) -> Result:
    return await probe(Target(port=port, **more))


async def test_the_request_is_the_one_of_the_contract_and_nothing_more(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1/")
    async with serving(answers()) as server:
        result = await ask(server.port, path="/healthz?full=1")

    assert result.kind is Kind.OK
    assert server.heard == [
        b"GET /healthz?full=1 HTTP/1.1\r\n"
        b"Host: localhost:%d\r\n"
        b"User-Agent: svc/%s (health)\r\n"
        b"Accept: text/html,*/*;q=0.1\r\n"
        b"Connection: close\r\n\r\n" % (server.port, __version__.encode())
    ]


async def test_a_path_is_sent_as_a_path_whatever_it_holds():
    async with serving(answers()) as server:
        await ask(server.port, path="/a b/ü%20c?q=1")

    assert server.heard[0].startswith(b"GET /a%20b/%C3%BC%20c?q=1 HTTP/1.1\r\n")


async def test_headers_of_the_file_are_sent_and_win_over_ours_but_not_over_connection():
    async with serving(answers()) as server:
        mine = {"accept": "application/json", "Authorization": "Bearer x", "Connection": "upgrade"}
        await ask(server.port, headers=mine)

    head = server.heard[0].decode()
    assert "accept: application/json\r\n" in head
    assert "Authorization: Bearer x\r\n" in head
    assert re.findall("(?i)connection: (.*)\r", head) == ["close"]


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (200, Kind.OK, None),
        (204, Kind.OK, None),
        (404, Kind.OK, None),
        (401, Kind.AUTH, None),
        (403, Kind.AUTH, None),
        (301, Kind.REDIRECT, None),
        (500, Kind.SERVER_ERROR, "answers 500"),
        (503, Kind.SERVER_ERROR, "answers 503"),
        (502, Kind.GATEWAY, "answers 502: nothing behind the gateway"),
        (504, Kind.GATEWAY, "answers 504: nothing behind the gateway"),
    ],
)
async def test_a_status_means_what_the_contract_says(status, kind, error):
    async with serving(answers(status)) as server:
        result = await ask(server.port)

    assert (result.kind, result.status, result.error) == (kind, status, error)
    assert result.addr == "127.0.0.1"
    assert result.ms is not None
    assert 0 < result.ms < 5000


async def test_the_statuses_of_the_file_replace_the_usual_ones():
    async with serving(answers(500)) as odd, serving(answers(404)) as plain:
        allowed = await ask(odd.port, statuses=statuses("200-399,500"))
        refused = await ask(plain.port, statuses=statuses("200-399,500"))

    assert allowed.kind is Kind.OK
    assert refused.kind is Kind.STATUS
    assert refused.error == "answers 404, which health.status does not name"


async def test_a_redirect_is_fine_and_is_not_followed():
    async with serving(answers()) as goal:
        away = f"Location: http://127.0.0.1:{goal.port}/\r\n"
        async with serving(answers(302, headers=away)) as server:
            result = await ask(server.port)

    assert (result.kind, len(server.heard), goal.heard) == (Kind.REDIRECT, 1, [])


async def test_interim_answers_are_passed_over():
    early = b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n"
    async with serving(says(early + b"HTTP/1.1 500 No\r\n\r\n")) as server:
        result = await ask(server.port)

    assert result.status == 500


async def test_nobody_listening_is_refused():
    with closed_port() as port:
        result = await ask(port)

    assert (result.kind, result.addr, result.ms) == (Kind.REFUSED, None, None)
    assert result.error == "connection refused"


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
async def test_localhost_finds_a_server_on_either_address_and_names_it(host):
    async with serving(answers(), host=host) as server:
        result = await ask(server.port)

    assert (result.kind, result.addr) == (Kind.OK, host)


async def test_the_address_that_won_is_tried_first(monkeypatch):
    monkeypatch.setattr(connect, "NEXT_ADDRESS_S", 10)
    async with (
        serving(answers(), host="::1") as six,
        serving(answers(500), host="127.0.0.1", port=six.port),
    ):
        usual = await probe(Target(port=six.port))
        remembered = await probe(Target(port=six.port), prefer="::1")

    assert (usual.addr, remembered.addr) == ("127.0.0.1", "::1")


def silence(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """Nobody ever takes or refuses a connection to these addresses."""
    begun, arrived = connect._begin, connect._finish
    lost: set[socket.socket] = set()

    def begin(where: str, port: int) -> tuple[socket.socket, bool]:
        if where not in addresses:
            return begun(where, port)
        lost.add(sock := socket.socket())
        return sock, False

    async def arrive(sock: socket.socket) -> socket.socket:
        if sock in lost:
            with sock:
                await asyncio.Event().wait()
        return await arrived(sock)

    monkeypatch.setattr(connect, "_begin", begin)
    monkeypatch.setattr(connect, "_finish", arrive)


async def test_a_silent_address_costs_a_quarter_second_before_the_next_is_tried(monkeypatch):
    silence(monkeypatch, "127.0.0.1")
    async with serving(answers(), host="::1") as server:
        result = await ask(server.port)

    assert (result.kind, result.addr) == (Kind.OK, "::1")
    assert result.ms is not None
    assert 250 <= result.ms < 1500


async def test_every_silent_address_gives_way_to_the_next(monkeypatch):
    there = [(0, 0, 0, "", (ip, 0)) for ip in ("127.0.0.2", "127.0.0.3", "127.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: there)
    silence(monkeypatch, "127.0.0.2", "127.0.0.3")
    async with serving(answers()) as server:
        result = await ask(server.port, host="app.example")

    assert (result.kind, result.addr) == (Kind.OK, "127.0.0.1")


async def test_addresses_that_are_all_silent_are_given_up_in_time(monkeypatch):
    silence(monkeypatch, "127.0.0.1", "::1")
    result = await ask(80, timeout=0.4)

    assert (result.kind, result.error) == (Kind.TIMEOUT, "no connection within 0.4 s")


async def test_a_connection_to_itself_is_refused(monkeypatch):
    monkeypatch.setattr(connect, "met_itself", lambda sock: True)
    async with serving(answers()) as server:
        result = await ask(server.port)

    assert (result.kind, result.error) == (Kind.REFUSED, "connection refused")


def test_a_socket_that_met_itself_is_recognised():
    with socket.socket() as alone:
        alone.bind(("127.0.0.1", 0))
        alone.connect(alone.getsockname())

        assert connect.met_itself(alone)


@pytest.mark.parametrize("port", sorted(SILENT_PORTS))
def test_an_unknown_listener_on_a_port_of_the_list_is_only_connected_to(port):
    assert Target(scheme="auto", port=port).speaks == "tcp"
    assert Target(scheme="http", port=port).speaks == "http"


async def test_a_tcp_probe_sends_no_byte(monkeypatch):
    closed = asyncio.Event()

    async def listens(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        closed.set()

    async with serving(listens) as server:
        monkeypatch.setattr("dashboard.health.target.SILENT_PORTS", {server.port})
        result = await ask(server.port, scheme="auto")
        await asyncio.wait_for(closed.wait(), 5)

    assert (result.kind, result.scheme, server.heard) == (Kind.OK, "tcp", [b""])


async def test_a_target_that_never_answers_times_out_and_says_that_it_was_reached():
    async with serving(hangs) as server:
        result = await ask(server.port, timeout=0.2)

    assert (result.kind, result.addr) == (Kind.TIMEOUT, "127.0.0.1")
    assert result.error == "connected, but no answer within 0.2 s"


@pytest.mark.parametrize(
    ("handler", "kind"),
    [
        (drips(b"HTTP/1.1 200 OK\r\nX: ", b"y"), Kind.NOT_HTTP),
        (drips(b"HTTP/1.1 200 OK\r\n", b"X-Header: value\r\n"), Kind.NOT_HTTP),
        (drips(b"", b"HTTP/1.1 100 Continue\r\n\r\n"), Kind.NOT_HTTP),
        (drips(b"HTTP/1.1 200 OK\r\n\r\n", b"body" * 1000), Kind.OK),
        (drips(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", b"body" * 99), Kind.OK),
        (drips(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"), Kind.OK),
    ],
    ids=[
        "endless line",
        "endless headers",
        "endless interim",
        "endless body",
        "huge body",
        "endless chunks",
    ],
)
async def test_what_never_ends_is_cut_at_64_kib(handler, kind):
    started = time.process_time()
    async with serving(handler) as server:
        result = await probe(Target(port=server.port, timeout=10), page=True)

    assert result.kind is kind
    assert result.ok or result.error == "the head of the answer is longer than 64 KiB"
    assert time.process_time() - started < 5
    assert result.page is None or len(result.page.body) <= 64 * 1024


async def test_a_slow_loris_is_cut_at_the_timeout():
    async def loris(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nX: ")
        while True:
            writer.write(b"y")
            await writer.drain()
            await asyncio.sleep(0.02)

    async with serving(loris) as server:
        started = time.monotonic()
        result = await ask(server.port, timeout=0.3)

    assert result.kind is Kind.TIMEOUT
    assert 0.3 <= time.monotonic() - started < 2


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (b"SSH-2.0-OpenSSH_9.6\r\n", "it answers, but not in HTTP"),
        (b"HTTP/2 200\r\n\r\n", "its status line is not one of HTTP/1.1"),
        (b"HTTP/1.1 2000 OK\r\n\r\n", "its status line is not one of HTTP/1.1"),
        (b"HTTP/1.1 200 OK\r\nX: y", "it closed the connection within the head"),
        (b"", "it closed the connection without an answer"),
    ],
)
async def test_what_is_no_http_is_told_apart(data, error):
    async with serving(says(data)) as server:
        result = await ask(server.port)

    assert (result.kind, result.error, result.addr) == (Kind.NOT_HTTP, error, "127.0.0.1")


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"all systems go", "Content-Length: 14\r\n"),
        (b"3\r\nall\r\n8\r\n systems\r\n3\r\n go\r\n0\r\n\r\n", "Transfer-Encoding: chunked\r\n"),
        (b"all systems go", ""),
    ],
    ids=["length", "chunked", "until the end"],
)
async def test_health_body_is_looked_for_in_the_body(body, headers):
    async with serving(answers(200, body, headers=headers, length=False)) as server:
        found = await ask(server.port, body="systems go")
        missed = await ask(server.port, body="systems down")

    assert found.kind is Kind.OK
    assert missed.kind is Kind.BODY
    assert missed.error == "the first 64 KiB of the answer do not hold health.body"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nready\r\n0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nready",
    ],
    ids=["chunked", "length"],
)
async def test_the_end_of_a_body_is_known_without_the_end_of_the_connection(answer):
    async with serving(drips(answer, b"")) as server:
        result = await asyncio.wait_for(ask(server.port, body="ready", timeout=60), 10)

    assert result.kind is Kind.OK


async def test_a_body_that_never_comes_is_a_mismatch_after_the_timeout_and_not_a_hang():
    late = drips(b"HTTP/1.1 200 OK\r\n\r\n", b"")
    async with serving(late) as server:
        result = await ask(server.port, body="ready", timeout=0.3)

    assert (result.kind, result.status) == (Kind.BODY, 200)


async def test_the_page_has_title_headers_and_body_when_it_is_asked_for():
    body = "<html><title>\n My &amp; <b>Äpp\x07 </title>".encode("latin-1")
    kind = "Content-Type: text/html; charset=latin-1\r\n"
    async with serving(answers(404, body, headers=kind)) as server:
        result = await probe(Target(port=server.port), page=True)
        plain = await probe(Target(port=server.port))

    assert result.page is not None
    assert result.page.title == "My & <b>Äpp"
    assert result.page.headers["content-type"] == "text/html; charset=latin-1"
    assert result.page.body == body
    assert plain.page is None


def test_a_page_made_of_titles_costs_no_time():
    started = time.process_time()

    assert http.title({}, b"<title " * 9000) is None
    assert http.title({}, b"<title>" * 9000) is None
    assert (
        http.title({"content-type": "text/html; charset=nonsense"}, b"<TITLE lang=en>x</TITLE>")
        == "x"
    )
    assert time.process_time() - started < 0.2


@pytest.mark.parametrize("charset", ["undefined", "idna", "base64", "utf_8_sig", "null"])
def test_a_charset_of_no_page_leaves_its_title_readable(charset: str):
    page = b"<title>Shop</title>" + b"." * 100
    assert http.title({"content-type": f"text/html; charset={charset}"}, page) == "Shop"


def test_a_title_without_an_end_goes_on_to_the_next_sign():
    assert http.title({}, b"<title>Orders\n<body>Welcome") == "Orders"
    assert http.title({}, b"<title>" + b"long " * 20_000) == ("long " * 40).strip() + " "
    assert http.title({}, b"<title><b>Orders") is None


def test_a_page_may_name_its_own_charset_which_a_header_outdoes():
    page = "<meta charset=iso-8859-1><title>Café</title>".encode("latin-1")

    assert http.title({}, page) == "Café"
    assert http.title({"content-type": "text/html; charset=utf-8"}, page) == "Caf\ufffd"


async def test_a_short_body_is_let_out_before_the_connection_ends():
    left: list[bool] = []

    async def two_steps(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
        for _ in range(50):
            await asyncio.sleep(0)
        left.append(reader.at_eof())
        writer.write(b"hello")
        await writer.drain()

    async with serving(two_steps) as server:
        await ask(server.port)
        await eventually(lambda: left)

    assert left == [False]


async def test_head_asks_for_no_body_and_waits_for_none():
    async with serving(drips(b"HTTP/1.1 200 OK\r\nContent-Length: 90\r\n\r\n", b"")) as server:
        target = Target(port=server.port, method="HEAD", timeout=60)
        result = await asyncio.wait_for(probe(target, page=True), 10)
        await eventually(lambda: server.heard[0])

    assert result.kind is Kind.OK
    assert server.heard[0].startswith(b"HEAD / HTTP/1.1\r\n")


async def test_a_self_made_certificate_is_fine_on_loopback(tmp_path):
    tls = server_context(*make_certificate(tmp_path))
    async with serving(answers(), tls=tls) as server:
        result = await ask(server.port, scheme="https")

    assert (result.kind, result.scheme) == (Kind.OK, "https")


async def test_a_self_made_certificate_of_another_name_is_refused_unless_insecure(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", ("127.0.0.1", 0))])
    tls = server_context(*make_certificate(tmp_path))
    async with serving(answers(), tls=tls) as server:
        strict = await ask(server.port, scheme="https", host="app.example")
        loose = await ask(server.port, scheme="https", host="app.example", insecure=True)

    assert strict.kind is Kind.TLS
    assert "certificate" in (strict.error or "")
    assert loose.kind is Kind.OK


async def test_an_unknown_listener_that_speaks_tls_is_asked_once_more_in_tls(tmp_path):
    tls = server_context(*make_certificate(tmp_path))
    async with serving(answers(), tls=tls) as server:
        result = await ask(server.port, scheme="auto")

    assert (result.kind, result.scheme) == (Kind.OK, "https")


@contextmanager
def served_by_python(context: ssl.SSLContext) -> Iterator[int]:
    """http.server behind wrap_socket, which hangs up on what does not speak TLS."""
    with http_server.ThreadingHTTPServer(
        ("127.0.0.1", 0), http_server.SimpleHTTPRequestHandler
    ) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


async def test_a_server_that_hangs_up_on_a_plain_request_is_asked_in_tls(tmp_path):
    with served_by_python(server_context(*make_certificate(tmp_path))) as port:
        result = await ask(port, scheme="auto")

    assert (result.kind, result.scheme) == (Kind.OK, "https")


async def test_a_plain_400_is_followed_by_one_try_in_tls():
    async def either(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if (await reader.read(1))[:1] != b"\x16":
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            return
        writer.write(b"\x15\x03\x03\x00\x02\x02\x50")  # as caddy: no certificate of that name

    async with serving(answers(400)) as plain, serving(either) as refuses:
        result = await ask(plain.port, scheme="auto", timeout=1)
        alert = await ask(refuses.port, scheme="auto")

    assert (result.status, result.scheme, len(plain.heard)) == (400, "http", 2)
    assert (alert.kind, alert.scheme, alert.status) == (Kind.TLS, "https", None)


async def test_a_tls_alert_to_a_declared_http_probe_is_told_as_tls():
    async with serving(says(b"\x15\x03\x01\x00\x02\x02\x0a")) as server:
        result = await ask(server.port, scheme="http")

    assert (result.kind, result.error, len(server.heard)) == (Kind.TLS, "it speaks TLS", 1)


async def test_a_plain_server_asked_in_tls_is_a_tls_failure():
    async with serving(says(b"HTTP/1.1 400 Bad Request\r\n\r\n")) as server:
        result = await ask(server.port, scheme="https", timeout=1)

    assert result.kind in {Kind.TLS, Kind.TIMEOUT}
    assert result.addr == "127.0.0.1"


@pytest.mark.parametrize(
    "host",
    ["169.254.169.254", "fe80::1", "224.0.0.1", "255.255.255.255", "::ffff:169.254.169.254",
     "2002:a9fe:a9fe::1", "168.63.129.16", "192.0.0.192", "2002:a83f:8110::1"],
)  # fmt: skip
async def test_addresses_that_are_no_apps_are_never_connected_to(host, monkeypatch):
    monkeypatch.setattr(connect, "_begin", None)

    result = await ask(80, host=host)

    assert result.kind is Kind.REFUSED
    assert "never probed" in (result.error or "")


async def test_a_name_that_turns_to_a_metadata_address_is_refused(monkeypatch):
    turned = [[(0, 0, 0, "", (ip, 0))] for ip in ("169.254.169.254", "127.0.0.1")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: turned.pop())
    async with serving(answers()) as server:
        first = await ask(server.port, host="app.example")
        second = await ask(server.port, host="app.example")

    assert (first.kind, second.kind, len(server.heard)) == (Kind.OK, Kind.REFUSED, 1)


@pytest.mark.parametrize("host", ["localhost", "shop.localhost", "LOCALHOST.", "0.0.0.0", "::"])
async def test_names_of_this_machine_never_reach_a_resolver(host, monkeypatch):
    monkeypatch.setattr(socket, "getaddrinfo", None)
    async with serving(answers()) as server:
        result = await ask(server.port, host=host)

    assert result.kind is Kind.OK
    named = b"shop.localhost" if host.startswith("shop") else b"localhost"
    assert b"Host: %s:%d\r\n" % (named, server.port) in server.heard[0]


async def test_a_slow_resolver_delays_its_own_name_only_and_takes_one_thread(monkeypatch):
    answered, asked = threading.Event(), []

    def slow(host, *_, **__):
        asked.append(host)
        answered.wait(10)
        return [(0, 0, 0, "", ("127.0.0.1", 0))]

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    async with serving(answers()) as server:
        target = Target(host="slow.example", port=server.port, timeout=0.3)
        hung = [asyncio.create_task(probe(target)) for _ in range(20)]
        local = await ask(server.port, timeout=5)
        results = await asyncio.gather(*hung)
        answered.set()

    assert local.kind is Kind.OK
    assert {result.kind for result in results} == {Kind.DNS}
    assert results[0].error == "slow.example was not resolved in 0.3 s"
    assert asked == ["slow.example"]


async def test_no_more_names_than_the_limit_are_looked_up_at_once(monkeypatch):
    answered = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answered.wait(10) and [])
    monkeypatch.setattr(address, "LOOKUPS", 3)
    before = threading.active_count()
    tasks = [
        asyncio.create_task(probe(Target(host=f"n{n}.example", timeout=0.3))) for n in range(20)
    ]
    await asyncio.sleep(0)
    threads = threading.active_count() - before
    results = await asyncio.gather(*tasks)
    answered.set()

    assert {result.kind for result in results} == {Kind.DNS}
    assert threads <= 3


async def test_a_name_without_an_address_is_told_as_that(monkeypatch):
    def unknown(*_, **__):
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)

    result = await ask(80, host="nowhere.example")

    assert result.kind is Kind.DNS
    assert "nowhere.example does not resolve" in (result.error or "")


async def test_running_out_of_descriptors_is_told_and_not_taken_for_a_dead_app(monkeypatch):
    def full(where: str, port: int) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(connect, "_begin", full)

    with pytest.raises(OSError, match="Too many"):
        await ask(80)


def test_a_process_is_known_by_pid_and_start_time():
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    known = table.find(child.pid)
    assert known is not None
    started = known.started

    async def alive(pid: int, at: int) -> Kind:
        return (await probe(Target(scheme="process", process=(pid, at)))).kind

    running = asyncio.run(alive(child.pid, started))
    reused = asyncio.run(alive(child.pid, started - 60))
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    zombie = asyncio.run(alive(child.pid, started))
    child.communicate()
    gone = asyncio.run(alive(child.pid, started))

    assert (running, reused, zombie, gone) == (Kind.OK, Kind.EXITED, Kind.EXITED, Kind.EXITED)


def test_how_long_a_process_has_lived_is_no_matter_of_the_clock_on_the_wall(
    monkeypatch: pytest.MonkeyPatch,
):
    me = table.find(os.getpid())
    assert me is not None
    target = Target(scheme="process", process=(me.pid, me.started))
    before = asyncio.run(probe(target)).lived

    wall = time.time
    monkeypatch.setattr(time, "time", lambda: wall() + 3600)
    after = asyncio.run(probe(target)).lived

    assert before is not None
    assert after is not None
    assert before <= after < before + 60


@pytest.mark.parametrize(
    "wrong",
    [
        {"port": 0},
        {"port": 65536},
        {"path": "healthz"},
        {"path": "/ HTTP/1.1\r\nX: y"},
        {"host": "a\r\nb"},
        {"host": ".example"},
        {"host": "bücher.example"},
        {"host": "a" * 64},
        {"headers": {"X": "a\r\nY: b"}},
        {"headers": {"X Y": "a"}},
    ],
)
def test_a_target_that_would_break_the_wire_cannot_be_made(wrong):
    with pytest.raises(ValueError):
        Target(**wrong)


def test_a_url_becomes_what_is_sent():
    assert of_url("https://app.example/a b?q=ü") == ("https", "app.example", 443, "/a%20b?q=%C3%BC")
    assert of_url("http://bücher.example")[1] == "xn--bcher-kva.example"
    assert of_url("http://[::1]:3000") == ("http", "::1", 3000, "/")
    for wrong in ("ftp://x/", "http:///x", "http://me:secret@x/", "http://x:99999/"):
        with pytest.raises(ValueError):
            of_url(wrong)


def test_statuses_are_ranges_and_single_numbers():
    assert statuses("200-399, 401") == ((200, 399), (401, 401))
    for wrong in ("", "2xx", "600", "300-200", "200-"):
        with pytest.raises(ValueError, match="status"):
            statuses(wrong)


async def test_a_hundred_probes_leave_no_descriptor_and_no_thread(tmp_path: Path):
    tls = server_context(*make_certificate(tmp_path))
    async with serving(answers()) as plain, serving(answers(), tls=tls) as secure:
        with closed_port() as closed:
            targets = [
                Target(port=plain.port),
                Target(port=secure.port, scheme="https"),
                Target(port=closed),
            ]
            await asyncio.gather(*(probe(target) for target in targets))
            before = psutil.Process().num_fds()
            await asyncio.gather(*(probe(target) for target in targets * 33))

            await eventually(lambda: psutil.Process().num_fds() <= before)
