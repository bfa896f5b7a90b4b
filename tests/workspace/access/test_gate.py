"""The gate of /mcp: transport, credential, in that order, whatever the method."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.workspace.access.world import OTHER, TOKEN, URL, block, client, load, scope_of
from workspace.access.gate import Gate, GateRefusal
from workspace.access.principals import Client

HTTPS = (("x-forwarded-proto", "https"),)


def gate(environ: dict[str, str] | None = None, **changes: Any) -> Gate:
    return Gate(load(block(**changes), environ))


def reason(found: Client | GateRefusal) -> str:
    return found.reason if isinstance(found, GateRefusal) else "admitted"


def test_a_disabled_surface_is_404_whoever_asks():
    found = Gate(load({})).admit(scope_of(token=TOKEN, peer="203.0.113.9"))

    assert isinstance(found, GateRefusal)
    assert (found.answer.status, found.answer.body) == (404, {"error": "not found"})


def test_the_token_names_its_client():
    both = {"ci": client(), "ops": client("env:OPS", allow=["*"])}
    found = gate(clients=both).admit(scope_of(token=OTHER))

    assert isinstance(found, Client)
    assert (found.client, found.scope.allow) == ("ops", ("*",))


@pytest.mark.parametrize("method", ["GET", "PUT", "HEAD", "DELETE", "OPTIONS"])
def test_the_method_makes_no_difference(method: str):
    assert reason(gate().admit(scope_of(method=method))) == "missing"
    assert reason(gate().admit(scope_of(method=method, token=TOKEN))) == "admitted"


@pytest.mark.parametrize(
    ("origins", "expected"),
    [
        ([], "admitted"),
        ([URL], "admitted"),
        ([f"{URL}:443"], "admitted"),
        (["http://localhost:3000"], "admitted"),
        (["https://a.localhost"], "admitted"),
        (["http://[::1]:9"], "admitted"),
        (["https://app.example:8443"], "admitted"),
        (["https://app.example"], "foreign_origin"),
        (["http://app.example:8443"], "foreign_origin"),
        (["https://evil.example"], "foreign_origin"),
        ([f"{URL}.evil.example"], "foreign_origin"),
        (["http://localhost.evil.example"], "foreign_origin"),
        (["null"], "foreign_origin"),
        ([""], "foreign_origin"),
        (["file://"], "foreign_origin"),
        ([URL, URL], "foreign_origin"),
        ([URL, "https://evil.example"], "foreign_origin"),
    ],
)
@pytest.mark.parametrize("method", ["POST", "GET", "OPTIONS"])
def test_a_page_is_known_or_refused_before_its_credential(method, origins, expected):
    headers = tuple(("origin", origin) for origin in origins)
    asked = gate(allowedOrigins=["HTTPS://app.example:8443/"])

    assert reason(asked.admit(scope_of(method=method, token=TOKEN, headers=headers))) == expected
    found = asked.admit(scope_of(method=method, headers=headers))
    assert reason(found) == (expected if expected == "foreign_origin" else "missing")
    if expected == "foreign_origin":
        assert isinstance(found, GateRefusal)
        assert (found.answer.status, found.answer.body["code"]) == (403, "origin_not_allowed")


def test_plain_http_from_elsewhere_is_refused_with_the_peer():
    found = gate().admit(scope_of(token=TOKEN, peer="203.0.113.9"))

    assert isinstance(found, GateRefusal)
    assert found.answer.status == 403
    assert found.answer.body == {
        "error": "https required",
        "code": "insecure_transport",
        "message": "Plain HTTP from 203.0.113.9 was refused: the credential would be readable on"
        " the wire. Terminate TLS in front of this service, or use loopback.",
    }


def test_forwarded_https_from_a_stranger_is_refused_with_the_setting():
    found = gate().admit(scope_of(token=TOKEN, peer="203.0.113.9", headers=HTTPS))

    assert isinstance(found, GateRefusal)
    assert found.answer.body["message"] == (
        "X-Forwarded-Proto: https from 203.0.113.9 was ignored: that peer is not a trusted proxy."
        " If it is your TLS proxy, add it to managementApi.trustedProxies (or"
        " SVC_MANAGEMENT_TRUSTED_PROXIES); otherwise terminate TLS, or use loopback."
    )


@pytest.mark.parametrize(
    ("peer", "proto", "proxies", "expected"),
    [
        ("127.0.0.1", None, "none", "admitted"),
        ("127.9.9.9", "http", None, "admitted"),
        ("::1", None, None, "admitted"),
        ("::ffff:127.0.0.1", None, None, "admitted"),
        ("172.17.0.1", None, None, "insecure_transport"),
        ("172.17.0.1", "https", None, "admitted"),
        ("fe80::1%eth0", "https", None, "admitted"),
        ("fd00::1", "HTTPS ", None, "admitted"),
        ("10.0.0.1", "https", "none", "untrusted_proxy"),
        ("10.0.0.1", "https", "nonsense", "untrusted_proxy"),
        ("10.0.0.1", "https", [], "untrusted_proxy"),
        ("10.0.0.1", "https", "10.0.0.0/8", "admitted"),
        ("11.0.0.1", "https", "10.0.0.0/8", "untrusted_proxy"),
        ("10.0.0.1", "https", "all, none", "untrusted_proxy"),
        ("203.0.113.9", "https", "all", "admitted"),
        ("203.0.113.9", "https", "*", "admitted"),
        ("203.0.113.9", "https", None, "untrusted_proxy"),
        ("10.0.0.1", "https, http", None, "insecure_transport"),
        ("10.0.0.1", "http, https", None, "admitted"),
        ("10.0.0.1", "https,", None, "admitted"),
        ("10.0.0.1", "", None, "insecure_transport"),
        (None, None, None, "insecure_transport"),
        (None, "https", None, "untrusted_proxy"),
        (None, "https", "all", "admitted"),
    ],
)  # fmt: skip
def test_secure_means_tls_loopback_or_a_trusted_proxy(
    peer: str | None, proto: str | None, proxies: Any, expected: str
):
    headers = () if proto is None else (("X-Forwarded-Proto", proto),)
    found = gate(trustedProxies=proxies).admit(scope_of(token=TOKEN, peer=peer, headers=headers))

    assert reason(found) == expected


def test_tls_at_the_process_is_secure_and_the_forwarded_header_is_ignored():
    assert reason(gate().admit(scope_of(token=TOKEN, peer="9.9.9.9", scheme="https"))) == "admitted"
    forwarded = (("forwarded", "proto=https"),)
    found = gate().admit(scope_of(token=TOKEN, peer="10.0.0.1", headers=forwarded))
    assert reason(found) == "insecure_transport"


def test_two_forwarded_headers_are_joined_and_the_last_decides():
    hops = (("x-forwarded-proto", "https"), ("x-forwarded-proto", "http"))
    found = gate().admit(scope_of(token=TOKEN, peer="10.0.0.1", headers=hops))

    assert reason(found) == "insecure_transport"


def test_a_missing_peer_prints_as_unknown():
    found = gate().admit(scope_of(token=TOKEN, peer=None))

    assert isinstance(found, GateRefusal)
    assert "Plain HTTP from unknown was refused" in found.answer.body["message"]


def test_the_default_list_warns_once_per_peer_for_32_peers(caplog: pytest.LogCaptureFixture):
    one = gate()
    for _ in range(2):
        for last in range(1, 36):
            assert reason(
                one.admit(scope_of(token=TOKEN, peer=f"10.0.0.{last}", headers=HTTPS))
            ) == "admitted"  # fmt: skip

    assert len(caplog.messages) == 32
    assert caplog.messages[0] == (
        "management API: believed forwarded https from 10.0.0.1 under the default trust list;"
        " name your proxy in managementApi.trustedProxies"
    )


def test_a_named_proxy_is_believed_silently(caplog: pytest.LogCaptureFixture):
    named = gate(trustedProxies="10.0.0.1")
    named.admit(scope_of(token=TOKEN, peer="10.0.0.1", headers=HTTPS))

    assert caplog.messages == []


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([], "missing"),
        ([""], "missing"),
        (["  "], "missing"),
        (["Basic abc"], "malformed"),
        (["Bearer"], "malformed"),
        (["Bearer "], "malformed"),
        ([f"Bearer {TOKEN} x"], "malformed"),
        ([TOKEN], "malformed"),
        ([f"Bearer {TOKEN}", f"Bearer {TOKEN}"], "malformed"),
        (["Bearer " + "x" * 100], "invalid"),
        (["Bearer x"], "invalid"),
        ([f"Bearer {TOKEN}\xe9"], "invalid"),
        (["Bearer " + "x" * 1_000_000], "invalid"),
        ([f"Bearer {TOKEN[:-1]}"], "invalid"),
        ([f"Bearer {TOKEN}0"], "invalid"),
        ([f"Bearer {TOKEN}"], "admitted"),
        ([f"bearer {TOKEN}"], "admitted"),
        ([f"BEARER   {TOKEN}  "], "admitted"),
    ],
)
def test_a_credential_is_one_bearer_token(headers: list[str], expected: str):
    pairs = tuple(("Authorization", value) for value in headers)

    assert reason(gate().admit(scope_of(headers=pairs))) == expected


def test_a_token_in_the_query_is_never_looked_at():
    scope = scope_of() | {"query_string": f"token={TOKEN}&access_token={TOKEN}".encode()}

    assert reason(gate().admit(scope)) == "missing"


@pytest.mark.parametrize(
    ("token", "instance", "expected"),
    [
        ("svc_a_b_" + "0" * 30, "a_b", "admitted"),
        ("svc_other_" + "0" * 30, "home", "invalid"),
        ("svc_other_" + "0" * 30, None, "admitted"),
        ("svc_" + "0" * 30, "home", "admitted"),
        ("svc__" + "0" * 30, "home", "admitted"),
        ("x" * 30, "home", "admitted"),
    ],
)
def test_a_prefixed_token_belongs_to_its_instance(token: str, instance: str, expected: str):
    found = gate({"CI": token}, instanceId=instance).admit(scope_of(token=token))

    assert reason(found) == expected


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ((), 'Bearer realm="svc"'),
        (
            (("authorization", "Basic x"),),
            'Bearer realm="svc", error="invalid_token",'
            ' error_description="the Authorization header is not a Bearer credential"',
        ),
        (
            (("authorization", "Bearer x"),),
            'Bearer realm="svc", error="invalid_token",'
            ' error_description="the access token was not accepted"',
        ),
    ],
)
def test_the_challenge_names_the_document_only_while_it_is_served(
    sent: tuple[tuple[str, str], ...], shown: str
):
    more = (
        f', resource_metadata="{URL}/.well-known/oauth-protected-resource/mcp"'
        ', scope="svc:read svc:write"'
    )
    for issuers, expected in (([], shown), (["https://a.example"], shown + more)):
        found = gate(authorizationServers=issuers).admit(scope_of(headers=sent))

        assert isinstance(found, GateRefusal)
        assert found.answer.status == 401
        assert found.answer.body == {"error": "unauthorized", "code": "auth_required"}
        assert dict(found.answer.headers)[b"www-authenticate"].decode() == expected


ONE = gate()


@given(st.lists(st.binary(max_size=40), max_size=3))
def test_no_header_whatever_gets_in(values: list[bytes]):
    scope = scope_of() | {"headers": [(b"authorization", value) for value in values]}

    assert isinstance(ONE.admit(scope), GateRefusal)
