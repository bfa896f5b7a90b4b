"""Icon fetches cannot be turned inward and cannot hang (promise G9)."""

from __future__ import annotations

import asyncio
import gzip
import socket
import time
import tracemalloc
import zlib

import pytest

from dashboard.rendering import fetch, reach
from dashboard.rendering.fetch import AddressRefused, NoAnswer, Permission, Rules
from tests.dashboard.health.servers import answers, closed_port, drips, hangs, says, serving

QUICK = Rules(seconds=0.4)
NEVER = [
    "169.254.169.254", "169.254.1.1", "[fe80::1]", "[fd00:ec2::254]", "100.100.100.200",
    "168.63.129.16", "192.0.0.192", "224.0.0.1", "[ff02::1]", "0.0.0.0", "[::]", "0", "0x0",
    "[::ffff:169.254.169.254]", "[2002:a9fe:a9fe::1]", "[64:ff9b::a9fe:a9fe]", "[::ffff:0.0.0.0]",
    "255.255.255.255", "240.0.0.1", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376",
]  # fmt: skip


@pytest.fixture
def public(monkeypatch):
    """127.0.0.2 stands for a server in the public net."""
    monkeypatch.setattr(reach, "is_public", lambda address: address == "127.0.0.2")


@pytest.mark.parametrize("host", NEVER)
async def test_no_setting_opens_metadata_link_local_multicast_or_unspecified_addresses(host):
    with pytest.raises(AddressRefused):
        await fetch.get(f"http://{host}/", Rules())


@pytest.mark.parametrize("host", NEVER)
async def test_a_redirect_to_such_an_address_is_refused_like_the_address_itself(host):
    away = answers(302, headers=f"Location: http://{host}/latest/meta-data\r\n")
    async with serving(away) as server:
        with pytest.raises(AddressRefused):
            await fetch.get(f"http://127.0.0.1:{server.port}/", Rules())


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "::1", "10.0.0.1", "192.168.1.1", "172.16.0.1", "100.64.0.1", "fd12::1",
     "::ffff:10.0.0.1", "2002:a00:1::1", "198.18.0.1"],
)  # fmt: skip
def test_private_and_loopback_addresses_are_not_public(address):
    assert not reach.is_public(address)


async def test_private_addresses_need_the_permission():
    async with serving(answers(body=b"icon")) as server:
        url = f"http://127.0.0.1:{server.port}/"

        allowed = await fetch.get(url, Rules())
        with pytest.raises(AddressRefused, match="private"):
            await fetch.get(url, Rules(Permission(private=False)))

        assert allowed.data == b"icon"
        assert len(server.heard) == 1


async def test_an_apps_page_reaches_no_other_server_of_the_machine():
    async with serving(answers()) as app, serving(answers()) as other:
        own = f"http://127.0.0.1:{app.port}"
        rules = Rules(Permission(origin=fetch.origin(own)))

        assert (await fetch.get(f"{own}/icon.png", rules)).data == b"hello"
        with pytest.raises(AddressRefused):
            await fetch.get(f"http://127.0.0.1:{other.port}/", rules)

        assert other.heard == []


async def test_the_public_net_cannot_redirect_into_the_private_one(public):
    async with serving(answers(body=b"secret")) as inside:
        away = answers(302, headers=f"Location: http://127.0.0.1:{inside.port}/\r\n")
        async with serving(away, host="127.0.0.2") as outside:
            with pytest.raises(AddressRefused, match="private"):
                await fetch.get(f"http://127.0.0.2:{outside.port}/", Rules())

        assert inside.heard == []


async def test_a_name_that_flips_after_the_check_is_connected_to_where_it_was_checked(monkeypatch):
    lookups = []

    def flip(host, port, *rest, **more):
        lookups.append(host)
        there = "127.0.0.1" if len(lookups) == 1 else "169.254.169.254"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (there, port or 0))]

    async with serving(answers(body=b"icon")) as server:
        monkeypatch.setattr(socket, "getaddrinfo", flip)

        got = await fetch.get(f"http://flip.example:{server.port}/", Rules())

    assert got.data == b"icon"
    assert lookups == ["flip.example"]


async def test_a_name_with_good_and_bad_addresses_is_asked_at_the_good_one_only(monkeypatch):
    mixed = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (there, 0))
             for there in ("169.254.169.254", "127.0.0.1")]  # fmt: skip
    async with serving(answers(body=b"icon")) as server:
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: mixed)

        got = await fetch.get(f"http://mixed.example:{server.port}/", Rules())

    assert got.data == b"icon"


async def test_three_redirects_are_followed_and_a_fourth_is_not():
    hops: list[str] = []

    async def handle(reader, writer):
        left = int((await reader.readuntil(b"\r\n\r\n")).split()[1].decode().strip("/"))
        hops.append(str(left))
        head = f"302 Found\r\nLocation: /{left - 1}" if left else "200 OK"
        writer.write(f"HTTP/1.1 {head}\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()

    async with serving(handle) as server:
        base = f"http://127.0.0.1:{server.port}"

        assert (await fetch.get(f"{base}/3", Rules())).url == f"{base}/0"
        with pytest.raises(AddressRefused, match="3 times"):
            await fetch.get(f"{base}/9", Rules())

    assert len(hops) == 8


@pytest.mark.parametrize(
    "location",
    ["file:///etc/passwd", "ftp://127.0.0.1/", "javascript:1", "http://a:b@127.0.0.1/",
     "http://127.0.0.1:6379/", "http://[", "http://127.0.0.1:99999/", "gopher://x"],
)  # fmt: skip
async def test_a_redirect_to_anything_but_plain_http_is_refused(location):
    async with serving(answers(302, headers=f"Location: {location}\r\n")) as server:
        with pytest.raises(AddressRefused):
            await fetch.get(f"http://127.0.0.1:{server.port}/", Rules())


@pytest.mark.parametrize(
    "handler",
    [
        hangs,
        drips(b"", b"H"),
        drips(b"HTTP/1.1 200 OK\r\n", b"x"),
        drips(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", b""),
        drips(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
        drips(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"0"),
        drips(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"x" * 900),
        drips(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 4096),
        drips(b"HTTP/1.1 100 Continue\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"),
    ],
)
async def test_slow_and_endless_answers_end_within_the_deadline(handler):
    async with serving(handler) as server:
        began = time.monotonic()

        with pytest.raises(NoAnswer):
            await fetch.get(f"http://127.0.0.1:{server.port}/", QUICK)

    assert time.monotonic() - began < 2


async def test_the_deadline_is_over_all_redirects_together():
    async def handle(reader, writer):
        request = await reader.readuntil(b"\r\n\r\n")
        if b"GET /slow" in request:
            await hangs(reader, writer)
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: /slow\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()

    async with serving(handle) as server:
        with pytest.raises(NoAnswer, match="within"):
            await fetch.get(f"http://127.0.0.1:{server.port}/", QUICK)


@pytest.mark.parametrize("framing", ["length", "close", "chunked"])
async def test_a_body_over_the_bound_is_refused_and_one_at_the_bound_is_taken(framing):
    def told(size: int) -> bytes:
        body = b"x" * size
        if framing == "length":
            return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (size, body)
        if framing == "close":
            return b"HTTP/1.1 200 OK\r\n\r\n" + body
        chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        return chunked + b"%x\r\n%s\r\n0\r\n\r\n" % (size, body)

    for size, fits in ((5000, True), (5001, False)):
        async with serving(says(told(size))) as server:
            url = f"http://127.0.0.1:{server.port}/"
            if fits:
                assert (await fetch.get(url, Rules(most=5000))).data == b"x" * size
            else:
                with pytest.raises(NoAnswer, match="larger"):
                    await fetch.get(url, Rules(most=5000))
            assert len((await fetch.get(url, Rules(most=5000, cut=True))).data) == 5000


@pytest.mark.parametrize(
    ("coding", "packed"), [("gzip", gzip.compress), ("deflate", zlib.compress)]
)
async def test_a_compressed_body_is_unpacked_and_a_bomb_is_not(coding, packed):
    headers = f"Content-Encoding: {coding}\r\n"
    async with serving(answers(body=packed(b"icon" * 9), headers=headers)) as server:
        got = await fetch.get(f"http://127.0.0.1:{server.port}/", Rules())
    assert got.data == b"icon" * 9

    bomb = packed(b"\0" * (64 << 20))
    assert len(bomb) < 80_000
    async with serving(answers(body=bomb, headers=headers)) as server:
        tracemalloc.start()
        with pytest.raises(NoAnswer, match="larger than 256 KiB"):
            await fetch.get(f"http://127.0.0.1:{server.port}/", Rules())
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 8 << 20


async def test_an_endless_body_is_read_no_further_than_its_bound():
    async with serving(drips(b"HTTP/1.1 200 OK\r\n\r\n", b"x" * 4096)) as server:
        with pytest.raises(NoAnswer, match="larger than 256 KiB"):
            await fetch.get(f"http://127.0.0.1:{server.port}/", Rules())


async def test_chunks_are_joined_wherever_the_wire_cuts_them():
    body = bytes(range(256)) * 40
    framed = b"".join(b"%x;a=b\r\n%s\r\n" % (37, body[at : at + 37])
                      for at in range(0, len(body) - 37, 37))  # fmt: skip
    whole = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + framed + b"0\r\n\r\n"

    async def handle(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        for at in range(0, len(whole), 97):
            writer.write(whole[at : at + 97])
            await writer.drain()
            await asyncio.sleep(0)

    async with serving(handle) as server:
        got = await fetch.get(f"http://127.0.0.1:{server.port}/", Rules())

    assert got.data == body[: len(got.data)]
    assert len(got.data) == (len(body) - 1) // 37 * 37


async def test_a_body_that_is_mostly_framing_is_given_up():
    chunk = b"1;" + b"x" * 900 + b"\r\ny\r\n"
    start = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    async with serving(drips(start, chunk * 64)) as server:
        with pytest.raises(NoAnswer, match="framing"):
            await fetch.get(f"http://127.0.0.1:{server.port}/", Rules(seconds=20))


@pytest.mark.parametrize(
    "data",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\nxx",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nno gzip",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3",
        b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 304 Same\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n",
        b"",
    ],
)
async def test_a_broken_answer_is_no_answer(data):
    async with serving(says(data)) as server:
        with pytest.raises(NoAnswer):
            await fetch.get(f"http://127.0.0.1:{server.port}/", Rules())


async def test_a_closed_port_is_no_answer():
    with closed_port() as port, pytest.raises(NoAnswer):
        await fetch.get(f"http://127.0.0.1:{port}/", Rules())


async def test_no_cookie_no_referrer_no_proxy_and_no_keep_alive_is_sent(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    async with serving(answers(headers="Set-Cookie: a=b\r\n")) as server:
        for _ in range(2):
            await fetch.get(f"http://127.0.0.1:{server.port}/x?y#z", Rules())

    heard = server.heard[1].decode().lower()
    assert heard.startswith("get /x?y http/1.1\r\n")
    assert "connection: close" in heard
    assert not {"cookie", "referer", "authorization"} & {
        line.partition(":")[0] for line in heard.splitlines()
    }


@pytest.mark.parametrize(
    "url", ["mailto:a@b", "ssh://h", "file:///etc/hosts", "http://", "", "//x"]
)
async def test_only_http_addresses_are_fetched(url):
    with pytest.raises(AddressRefused):
        await fetch.get(url, Rules())
