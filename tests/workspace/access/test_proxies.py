"""Peers and trust lists."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workspace.access.world import scope_of
from workspace.access import proxies


@pytest.mark.parametrize(
    ("socket", "shown"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("fe80::1%eth0", "fe80::1"),
        (None, "unknown"),
        ("", "unknown"),
        ("/run/svc.sock", "unknown"),
    ],
)
def test_the_peer_is_the_sockets_address(socket: str | None, shown: str):
    assert proxies.peer(scope_of(peer=socket)) == shown


@pytest.mark.parametrize(
    ("entry", "inside", "outside"),
    [
        ("loopback", "127.1.2.3", "128.0.0.1"),
        ("LinkLocal", "169.254.1.1", "169.253.1.1"),
        ("uniquelocal", "172.31.0.1", "172.32.0.1"),
        ("uniquelocal", "fd12::1", "fe80::1"),
        ("10.0.0.7/8", "10.9.9.9", "11.0.0.1"),
        ("::ffff:10.0.0.0/104", "10.9.9.9", "11.0.0.1"),
        ("2001:db8::/32", "2001:db8::1", "2001:db9::1"),
        ("203.0.113.9", "203.0.113.9", "203.0.113.8"),
    ],
)
def test_an_entry_believes_its_network_alone(entry: str, inside: str, outside: str):
    trust, dropped = proxies.read([f" {entry} "])

    assert (trust.believes(inside), trust.believes(outside), dropped) == (True, False, [])


def test_none_wins_over_all_and_nothing_believes_nobody():
    for entries in (["none", "all"], ["*", "none"], [], ["nonsense"]):
        assert not proxies.read(entries)[0].believes("127.0.0.1")


def test_nobody_named_unknown_is_believed_by_a_list():
    assert not proxies.read(proxies.DEFAULT)[0].believes("unknown")
    assert proxies.read(["all"])[0].believes("unknown")


@given(st.lists(st.text(max_size=20), max_size=4), st.text(max_size=20))
def test_no_entry_and_no_peer_whatever_is_an_error(entries: list[str], peer: str):
    proxies.read(entries)[0].believes(peer)
