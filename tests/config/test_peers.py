"""Whose a connection is: what the kernel says of sockets of this process."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from config.web.connections import peers
from tests.service import free_port

FORMS = {
    "IPv4": (socket.AF_INET, "127.0.0.1", socket.AF_INET, "127.0.0.1"),
    "IPv6": (socket.AF_INET6, "::1", socket.AF_INET6, "::1"),
    "to both": (socket.AF_INET6, "::", socket.AF_INET, "127.0.0.1"),
    "from both": (socket.AF_INET, "127.0.0.1", socket.AF_INET6, "::ffff:127.0.0.1"),
    "another address": (socket.AF_INET, "0.0.0.0", socket.AF_INET, "127.1.2.3"),
}
WAYS = [peers.by_netlink, peers.by_table]
pytestmark = pytest.mark.skipif(not peers.ASKED, reason="only Linux tells")


class Transport:
    """What the server has of an accepted connection."""

    def __init__(self, link: socket.socket) -> None:
        self.link = link

    def getPeer(self) -> Any:
        return self._end(self.link.getpeername())

    def getHost(self) -> Any:
        return self._end(self.link.getsockname())

    def getHandle(self) -> socket.socket:
        return self.link

    def _end(self, name: Any) -> Any:
        unix = self.link.family == socket.AF_UNIX
        return SimpleNamespace(name=name) if unix else SimpleNamespace(host=name[0], port=name[1])


@contextmanager
def connection(form: str, port: int = 0) -> Iterator[tuple[socket.socket, Transport]]:
    """A client of this process, on this port if one is given, and the server's end of it."""
    family, address, other, target = FORMS[form]
    with ExitStack() as stack:
        server = stack.enter_context(socket.socket(family))
        if family == socket.AF_INET6:
            server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        server.bind((address, 0))
        server.listen()
        client = stack.enter_context(socket.socket(other))
        if port:
            client.bind((target, port))
        client.connect((target, server.getsockname()[1]))
        yield client, Transport(stack.enter_context(server.accept()[0]))


@pytest.fixture(params=WAYS, ids=["netlink", "table"])
def way(request, monkeypatch) -> None:
    monkeypatch.setattr(peers, "way", lambda: request.param)


@pytest.mark.parametrize("form", FORMS)
def test_the_user_at_the_other_end_is_known(way, form):
    with connection(form) as (_client, transport):
        assert peers.uid_of(transport) == os.geteuid()


@pytest.mark.parametrize("form", FORMS)
def test_a_client_that_has_closed_is_nobody_and_not_root(way, form):
    with connection(form) as (client, transport):
        client.shutdown(socket.SHUT_WR)
        assert peers.uid_of(transport) == os.geteuid()
        client.close()
        assert peers.uid_of(transport) in (None, os.geteuid() or None)  # as the kernel is


@pytest.mark.parametrize("form", ["IPv4", "IPv6"])
def test_who_listens_on_the_client_s_port_is_not_its_user(way, form):
    with connection(form, free_port()) as (client, transport):  # no other client gets it after it
        address, name = client.getsockname()[:2], transport.link.getsockname()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, (1).to_bytes(4, "little") + bytes(4))
        here, there = transport.getHost(), transport.getPeer()
        client.close()
        transport.link.close()
        with socket.create_server(address, family=client.family):
            gone = SimpleNamespace(getPeer=lambda: there, getHost=lambda: here)
            assert peers.uid_of(gone) is None, name


def test_a_way_is_found_that_tells_the_truth():
    assert peers.way() in WAYS


def test_a_kernel_without_netlink_is_asked_by_the_table(monkeypatch):
    def refused(*_ends: Any) -> int:
        raise PermissionError

    monkeypatch.setattr(peers, "by_netlink", refused)
    assert peers.way.__wrapped__() is peers.by_table
    monkeypatch.setattr(peers, "by_table", lambda *_ends: None)
    assert peers.way.__wrapped__() is None


def test_a_peer_elsewhere_is_not_asked_for():
    far = SimpleNamespace(getPeer=lambda: SimpleNamespace(host="10.0.0.1", port=9), getHost=None)
    far.getHost = far.getPeer

    assert peers.uid_of(far) is None


def test_a_unix_socket_tells_whose_it_is():
    here, there = socket.socketpair(socket.AF_UNIX)
    with here, there:
        assert peers.uid_of(Transport(here)) == os.geteuid()


def test_another_system_is_not_asked(monkeypatch):
    monkeypatch.setattr(peers, "ASKED", False)
    with connection("IPv4") as (_client, transport):
        assert peers.uid_of(transport) is None
