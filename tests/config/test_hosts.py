"""Which names and addresses are this machine: the tables of the localhost rule."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.web.hosts import host_of, is_allowed, loopback, origin_host

LOCAL = ["localhost", "localhost:9999", "shop.localhost", "a.b.localhost:80", "127.0.0.1"]
LOCAL += ["127.8.9.10:4255", "[::1]", "[::1]:4255", "LOCALHOST.", "LocalHost:1"]
FOREIGN = ["", "evil.example", "localhost.evil.com", "evil-localhost", "127.1", "0.0.0.0"]
FOREIGN += ["127.0.0.1.nip.io", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.256"]
FOREIGN += ["127.0.0.01", "[::ffff:127.0.0.1]", "[::1", "a@localhost", "localhost:99999"]
FOREIGN += ["localhost:", "localhost:x", "localhost:80:80", "localhost/", "localhost evil"]
FOREIGN += [
    ".localhost",
    "-.localhost",
    "localhost..",
    "[0:0:0:0:0:0:0:1]",
    "l\u043ecalhost",
    "::1",
]
FOREIGN += ["localhost,localhost", "localhost\t", "localhost\x00", "128.0.0.1", "10.0.0.1"]


@pytest.mark.parametrize("sent", LOCAL)
def test_names_of_this_machine_are_allowed(sent):
    assert is_allowed(host_of(sent))


@pytest.mark.parametrize("sent", FOREIGN)
def test_every_other_name_is_refused(sent):
    assert not is_allowed(host_of(sent))


def test_a_named_host_is_allowed_with_any_port_and_nothing_that_resembles_it():
    extra = {"apps.example"}

    assert is_allowed(host_of("APPS.example:8443"), extra)
    assert not is_allowed(host_of("x.apps.example"), extra)
    assert not is_allowed(host_of("apps.example.evil.com"), extra)


@pytest.mark.parametrize("sent", LOCAL)
@pytest.mark.parametrize("scheme", ["http", "https", "HTTP"])
def test_a_page_of_this_machine_is_a_known_origin(scheme, sent):
    assert is_allowed(origin_host(f"{scheme}://{sent}"))


@pytest.mark.parametrize(
    "sent",
    [
        *(
            "null",
            "",
            "file://",
            "file:///localhost",
            "localhost",
            "//localhost",
            "ftp://localhost",
        ),
        *("http://", "http://localhost/", "http://localhost/x", "http://localhost?x"),
        *("http:localhost", "http://a@localhost", "http://evil.example", "about:blank"),
        *("http://localhost.evil.com", "http://localhost#x", "chrome-extension://abc"),
        "http://localhost http://evil.example",
    ],
)
def test_every_other_origin_is_unknown(sent):
    assert not is_allowed(origin_host(sent))


@pytest.mark.parametrize(
    "peer", ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "::1%lo", "::ffff:127.0.0.1%1"]
)
def test_loopback_peers(peer):
    assert loopback(peer)


@pytest.mark.parametrize(
    "peer", ["", None, "unknown", "10.0.0.1", "172.17.0.1", "::ffff:10.0.0.1", "fe80::1%eth0", "::"]
)
def test_other_peers_are_not_loopback(peer):
    assert not loopback(peer)


@given(st.text(max_size=60))
def test_any_text_is_judged_without_an_error(text):
    for host in (host_of(text), origin_host(text), origin_host(f"http://{text}")):
        if is_allowed(host):
            assert host is not None
            assert host.endswith("localhost") or host.startswith(("127.", "[::1]"))
