"""WebFetch and WebSearch: bounded, readable, and never turned inward."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.workspace.chats.turns.world import Hands, World
from workspace.engines import tools
from workspace.engines.network import Network
from workspace.engines.tools import web

Page = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture
def hands(tmp_path: Path) -> Hands:
    found = Hands(World(tmp_path).job("x"))
    found.settings = tools.Settings(found.job.cwd, web={"allowPrivate": True})
    return found


@pytest.fixture
def serve() -> Iterator[Callable[..., str]]:
    servers = []

    def start(**pages: Page) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                pages[self.path.split("?")[0].strip("/") or "root"](self)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                """Silent."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


def answer(body: bytes, kind: str = "text/html", status: int = 200, **headers: str) -> Page:
    def send(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content-Type": kind, **headers}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(body)

    return send


def test_a_page_is_read_as_text_and_the_prompt_comes_back(hands, serve):
    html = "<title>T</title><script>evil()</script><p>Hé <b>there</b><p>two&amp;"
    url = serve(root=answer(html.encode("latin-1"), "text/html; charset=latin-1"))
    assert hands.ok("WebFetch", url=url, prompt="Sum up") == "Sum up\n\nT\n\nHé there\ntwo&"
    plain = serve(root=answer(b"a <b>", "text/plain"))
    assert hands.ok("WebFetch", url=plain) == "a <b>"


def test_pictures_and_errors_are_tool_errors(hands, serve):
    url = serve(root=answer(b"x", "image/png"), gone=answer(b"", status=404))
    assert hands.fails("WebFetch", url=url) == "not text: image/png"
    assert hands.fails("WebFetch", url=f"{url}/gone") == "the server answered 404"


@pytest.mark.parametrize("charset", ["idna", "undefined", "no-such", "hex"])
def test_a_charset_that_decodes_nothing_is_read_as_utf_8(hands, serve, charset):
    url = serve(root=answer("Hé".encode(), f"text/plain; charset={charset}"))
    assert hands.ok("WebFetch", url=url) == "Hé"


def test_what_no_page_may_say_is_a_tool_error_and_no_end_of_the_turn(hands, serve):
    url = serve(root=answer(b"<![x[ foo ]]>"), away=answer(b"", status=302, Location="http://["))
    assert hands.fails("WebFetch", url=url) == "the page is no HTML that can be read"
    told = hands.fails("WebFetch", url=f"{url}/away")
    assert told == "the server leads to what is not a URL"


def test_an_address_is_asked_for_as_it_goes_over_the_wire(hands, serve):
    asked = []

    def told(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        answer(b"there", "text/plain")(handler)

    url = serve(**{"K%C3%B6ln": told})
    assert hands.ok("WebFetch", url=f"{url}/Köln?q=ä b&x=%20") == "there"
    assert asked == ["/K%C3%B6ln?q=%C3%A4%20b&x=%20"]
    unknown = hands.fails("WebFetch", url="http://köln.invalid/")
    assert unknown.startswith("the page cannot be fetched: [Errno -")


def test_a_redirect_to_letters_beyond_ascii_is_followed(hands, serve):
    written = "/Köln".encode().decode("latin-1")  # what the bytes of UTF-8 are in a header
    there = {"K%C3%B6ln": answer(b"there", "text/plain")}
    url = serve(root=answer(b"", status=302, Location=written), **there)
    assert hands.ok("WebFetch", url=url) == "there"


def test_five_redirects_are_followed_and_six_are_not(hands, serve):
    pages = {f"r{n}": answer(b"", status=302, Location=f"/r{n - 1}") for n in range(1, 7)}
    url = serve(r0=answer(b"there", "text/plain"), **pages)
    assert hands.ok("WebFetch", url=f"{url}/r5") == "there"
    assert hands.fails("WebFetch", url=f"{url}/r6") == "more than 5 redirects"


def test_a_page_over_2_mb_is_refused(hands, serve):
    url = serve(root=answer(b"x" * (2 * 1024 * 1024 + 1), "text/plain"))
    assert hands.fails("WebFetch", url=url) == "the page is larger than 2097152 bytes"


def test_a_page_that_drips_is_cut_off_in_time(hands, serve, monkeypatch):
    monkeypatch.setattr(web, "SECONDS", 0.4)
    done = threading.Event()

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not done.wait(0.02):
            try:
                handler.wfile.write(b"x")
            except OSError:
                return

    url = serve(root=drip)
    began = time.monotonic()
    try:
        assert hands.fails("WebFetch", url=url) == "the page took too long"
    finally:
        done.set()
    assert time.monotonic() - began < 5


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "ftp://x/y", "gopher://x", "x", "http://", "http://[", "http://x:99999"],
)
def test_only_web_addresses_are_fetched(hands, url):
    assert hands.fails("WebFetch", url=url) in (
        "only http and https URLs can be fetched",
        "not a URL",
    )


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.1.2.3", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254",
        "0.0.0.0", "::1", "::", "fe80::1%eth0", "fc00::1", "::ffff:127.0.0.1", "2002:7f00:1::",
        "224.0.0.1", "255.255.255.255", "100.64.0.1", "64:ff9b::7f00:1", "::127.0.0.1",
    ],
)  # fmt: skip
def test_addresses_of_this_machine_and_its_network_are_refused(address):
    assert not web.public(address)


@pytest.mark.parametrize(
    "address", ["93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_addresses_of_the_internet_pass(address):
    assert web.public(address)


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "0x7f.1", "2130706433", "[::1]"])
def test_no_spelling_of_loopback_gets_through(hands, serve, host):
    port = serve(root=answer(b"inside", "text/plain")).rsplit(":", 1)[1]
    hands.settings = tools.Settings(hands.job.cwd)
    text = hands.fails("WebFetch", url=f"http://{host}:{port}/")
    assert "is an address of this machine or its network" in text


def test_a_redirect_inward_is_refused(hands, serve, monkeypatch):
    """The first hop is taken for a public one; the second is judged like any other."""
    url = serve(root=answer(b"", status=302, Location="http://localhost:1/"))
    judged = iter([True, False, False])
    monkeypatch.setattr(web, "public", lambda address: next(judged))
    hands.settings = tools.Settings(hands.job.cwd)
    assert "localhost is an address of this machine" in hands.fails("WebFetch", url=url)


def test_the_connection_goes_to_the_address_that_was_judged(hands, monkeypatch):
    """A name that answers differently the second time (rebinding) is asked only once."""
    asked, connected = [], []

    def resolve(host: str, port: int, **kwargs: Any) -> list[Any]:
        asked.append(host)
        return [(socket.AF_INET, 1, 6, "", ("93.184.216.34", port))]

    def connect(address: tuple[str, int], timeout: float) -> socket.socket:
        connected.append(address)
        raise ConnectionRefusedError("refused")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket, "create_connection", connect)
    hands.settings = tools.Settings(hands.job.cwd)
    assert (
        hands.fails("WebFetch", url="http://rebind.test/") == "the page cannot be fetched: refused"
    )
    assert (asked, connected) == (["rebind.test"], [("93.184.216.34", 80)])


def test_search_asks_the_operators_service(hands, serve):
    hits = [
        {"title": "A", "url": "https://a.example/x", "content": "about a"},
        {"title": "B", "url": "https://sub.b.example/", "content": "about b"},
        "odd",
    ]
    seen = []

    def results(handler: BaseHTTPRequestHandler) -> None:
        seen.append(handler.path)
        answer(json.dumps({"results": hits}).encode(), "application/json")(handler)

    url = serve(search=results)
    hands.settings = tools.Settings(hands.job.cwd, web={"searchUrl": f"{url}/search"})
    assert hands.ok("WebSearch", query="ä b") == (
        "A\nhttps://a.example/x\nabout a\n\nB\nhttps://sub.b.example/\nabout b"
    )
    assert seen == ["/search?q=%C3%A4+b&format=json"]
    assert hands.ok("WebSearch", query="x", allowed_domains=["b.example"]).startswith("B\n")
    assert hands.ok("WebSearch", query="x", blocked_domains=["b.example"]).startswith("A\n")
    assert hands.ok("WebSearch", query="x", allowed_domains=["c"]) == "No results found"


def test_search_without_a_service_says_what_to_set(hands):
    assert hands.fails("WebSearch", query="x") == (
        "WebSearch is not configured: set tools.web.searchUrl in svc.config.yaml"
    )


def test_without_a_network_nothing_is_fetched(hands):
    hands.settings = tools.Settings(hands.job.cwd, network=Network("off"))
    for tool, args in (("WebFetch", {"url": "http://x/"}), ("WebSearch", {"query": "x"})):
        assert hands.fails(tool, **args) == "the network is off for this turn"


def test_this_service_is_never_fetched_not_even_by_a_redirect_or_a_search(hands, serve):
    url = serve(page=answer(b"MARK"))
    port = int(url.rpartition(":")[2].split("/")[0])
    own = Network("host", own=(port,))
    web_settings = {"allowPrivate": True, "searchUrl": f"http://localhost:{port}/search"}
    hands.settings = tools.Settings(hands.job.cwd, web_settings, own)

    assert "is this service" in hands.fails("WebFetch", url=f"http://localhost:{port}/page")
    assert "is this service" in hands.fails("WebSearch", query="x")
    away = serve(root=answer(b"", status=302, Location=f"http://127.0.0.1:{port}/page"))
    assert "is this service" in hands.fails("WebFetch", url=away)


def test_the_lists_of_hosts_hold_for_a_page(hands, serve):
    url = serve(page=answer(b"MARK"))
    web_settings = {"allowPrivate": True}
    for network, said in (
        (Network(deny=("localhost", "127.0.0.1")), "is denied by network.deny"),
        (Network(allow=(("*.example.com",),)), "is not in network.allow"),
    ):
        hands.settings = tools.Settings(hands.job.cwd, web_settings, network)
        assert said in hands.fails("WebFetch", url=url)
