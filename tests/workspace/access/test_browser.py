"""Browser auth: modes none, trusted-header and jwt."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from config.web.answers import Refusal
from tests.workspace.access.world import scope_of
from workspace.access import browser, tokens
from workspace.access.principals import User

DEFAULTS: dict[str, Any] = {
    "auth_mode": "none",
    "local_users": frozenset(),
    "auth_user_header": "X-Forwarded-User",
    "auth_email_header": "",
    "auth_groups_header": "",
    "auth_trusted_peers": ["loopback"],
    "auth_jwt_header": "Authorization",
    "auth_jwks_url": "https://login.example/keys",
    "auth_jwt_issuer": "",
    "auth_jwt_audience": "",
    "auth_username_claim": "",
    "auth_groups_claim": "",
}


@functools.cache
def rsa_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@functools.cache
def ec_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def key_set(*, rsa_id: str = "r") -> dict[str, Any]:
    first = json.loads(RSAAlgorithm.to_jwk(rsa_key().public_key())) | {"kid": rsa_id}
    second = json.loads(ECAlgorithm.to_jwk(ec_key().public_key())) | {"kid": "e"}
    symmetric = {"kty": "oct", "k": "c2VjcmV0", "kid": "o"}
    return {"keys": [symmetric, {"kty": "strange"}, "text", first, second]}


def signed(*, kid: str | None = "r", key: Any = None, alg: str = "RS256", **claims: Any) -> str:
    body = {"exp": time.time() + 60, "sub": "u-1", **claims}
    body = {name: value for name, value in body.items() if value is not None}
    headers = {"kid": kid} if kid else {}
    return jwt.encode(body, key or rsa_key(), algorithm=alg, headers=headers)


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(tokens.Keys.__init__, "__kwdefaults__", {
        "fetch": lambda url: json.dumps(key_set()).encode(), "clock": time.monotonic,
    })  # fmt: skip
    browser._verifier.cache_clear()
    yield
    browser._verifier.cache_clear()


def who(
    settings: Any,
    *,
    peer: str = "127.0.0.1",
    uid: Any = 0,
    headers: Any = (),
    **options: Any,
) -> Any:
    settings.SVC = SimpleNamespace(**(DEFAULTS | options))
    return browser.authenticate(scope_of(peer=peer, headers=headers) | {"peer_uid": uid})


def refused(found: Any) -> tuple[int, str]:
    assert isinstance(found, Refusal), found
    return found.status, found.body["code"]


def test_mode_none_knows_nobody_by_name(settings: Any):
    assert who(settings) == User()


def test_a_trusted_peer_names_the_user(settings: Any):
    found = who(
        settings,
        auth_mode="trusted-header",
        auth_email_header="X-Email",
        auth_groups_header="X-Groups",
        headers=(("x-forwarded-user", "änn"), ("x-email", "a@b.c"), ("x-groups", "dev, ,ops")),
    )

    assert (found.email, found.groups, found.anonymous) == ("a@b.c", ("dev", "ops"), False)


@pytest.mark.parametrize(
    ("peer", "headers"),
    [
        ("10.0.0.1", (("x-forwarded-user", "ann"),)),
        ("127.0.0.1", ()),
        ("127.0.0.1", (("x-forwarded-user", " "),)),
        ("127.0.0.1", (("x-forwarded-user", "ann"), ("x-forwarded-user", "bob"))),
    ],
)
def test_nobody_else_does(settings: Any, peer: str, headers: Any):
    found = who(settings, auth_mode="trusted-header", peer=peer, headers=headers)

    assert refused(found) == (401, "auth_required")
    assert found.body["error"] == "unauthorized"


def test_a_configured_proxy_may_name_the_user(settings: Any):
    found = who(
        settings,
        auth_mode="trusted-header",
        auth_trusted_peers=["10.0.0.0/8"],
        peer="10.1.1.1",
        uid=None,
        headers=(("x-forwarded-user", "ann"),),
    )

    assert found == User(username="ann", anonymous=False)


@pytest.mark.parametrize(("uid", "named"), [(12345, "uid 12345"), (None, "cannot be determined")])
def test_a_local_program_of_another_user_names_nobody(settings: Any, uid: int | None, named: str):
    headers = (("x-forwarded-user", "ann"),)

    found = who(settings, auth_mode="trusted-header", uid=uid, headers=headers)

    assert refused(found) == (403, "user_not_allowed")
    assert named in found.body["error"]
    listed = frozenset({12345})
    known = who(
        settings, auth_mode="trusted-header", uid=12345, local_users=listed, headers=headers
    )
    assert known.username == "ann"


def token_user(settings: Any, token: str, **options: Any) -> Any:
    headers = (("authorization", f"Bearer {token}"),)
    return who(settings, auth_mode="jwt", headers=headers, **options)


@pytest.mark.parametrize(
    ("claims", "options", "username"),
    [
        ({"preferred_username": "ann", "email": "a@b.c"}, {}, "ann"),
        ({"email": "a@b.c"}, {}, "a@b.c"),
        ({}, {}, "u-1"),
        ({"nick": "n"}, {"auth_username_claim": "nick"}, "n"),
    ],
)
def test_a_valid_token_names_the_user(
    settings: Any, claims: dict[str, str], options: dict[str, str], username: str
):
    found = token_user(settings, signed(**claims), **options)

    assert (found.username, found.anonymous) == (username, False)


def test_groups_come_from_the_configured_claim(settings: Any):
    found = token_user(settings, signed(roles=["a", 5, "b"]), auth_groups_claim="roles")

    assert found.groups == ("a", "b")


def test_another_header_may_carry_the_bare_token(settings: Any):
    options = {"auth_mode": "jwt", "auth_jwt_header": "X-Token"}

    assert who(settings, headers=(("x-token", signed()),), **options).username == "u-1"
    bearer = (("x-token", f"Bearer {signed()}"),)
    assert who(settings, headers=bearer, **options).username == "u-1"


def test_an_elliptic_key_works_too(settings: Any):
    found = token_user(settings, signed(kid="e", key=ec_key(), alg="ES256"))

    assert found.username == "u-1"


@pytest.mark.parametrize(
    "make",
    [
        lambda: signed(exp=time.time() - 5),
        lambda: signed(exp=None),
        lambda: signed(kid="unknown"),
        lambda: signed(kid=None),
        lambda: signed(kid="o", key="secret", alg="HS256"),
        lambda: signed(kid="r", key="x" * 40, alg="HS256"),
        lambda: signed(kid="e"),
        lambda: jwt.encode({"sub": "x", "exp": time.time() + 9}, "", algorithm="none"),
        lambda: signed()[:-4] + "AAAA",
        lambda: "a.b.c",
        lambda: "é",
        lambda: signed(nbf=time.time() + 60),
    ],
)
@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
def test_a_bad_token_is_401_invalid(settings: Any, make: Any):
    found = token_user(settings, make())

    assert refused(found) == (401, "auth_invalid")
    assert found.body["error"] == "invalid token"


def test_issuer_and_audience_are_checked_when_set(settings: Any):
    checked = {"auth_jwt_issuer": "https://i", "auth_jwt_audience": "svc"}

    assert token_user(settings, signed(aud="other")).username == "u-1"
    good = signed(iss="https://i", aud=["x", "svc"])
    assert token_user(settings, good, **checked).username == "u-1"
    for claims in ({"iss": "https://i"}, {"aud": "svc"}, {"iss": "https://j", "aud": "svc"}):
        browser._verifier.cache_clear()
        assert refused(token_user(settings, signed(**claims), **checked))[1] == "auth_invalid"


def test_no_token_and_no_name_are_their_own_refusals(settings: Any):
    assert refused(who(settings, auth_mode="jwt")) == (401, "auth_required")
    basic = (("authorization", "Basic abc"),)
    assert refused(who(settings, auth_mode="jwt", headers=basic)) == (401, "auth_required")
    assert refused(token_user(settings, signed(sub=None))) == (401, "auth_no_subject")


def test_keys_are_fetched_once_and_again_for_an_unknown_id_once_a_minute():
    now, fetched, current = [0.0], [], ["r"]

    def fetch(url: str) -> bytes:
        fetched.append(url)
        return json.dumps(key_set(rsa_id=current[0])).encode()

    keys = tokens.Keys("https://k", fetch=fetch, clock=lambda: now[0])
    for _ in range(3):
        keys.get("r")
    assert len(fetched) == 1
    current[0] = "r2"
    for _ in range(3):
        with pytest.raises(tokens.BadToken):
            keys.get("r2")
    assert len(fetched) == 1
    now[0] = 61.0
    assert keys.get("r2")
    assert len(fetched) == 2


def test_an_unreachable_key_set_is_no_invalid_token(settings: Any):
    now = [0.0]
    answers = [None, b"[]", b"not json", json.dumps(key_set()).encode()]

    def fetch(url: str) -> bytes:
        if (answer := answers.pop(0)) is None:
            raise OSError("down")
        return answer

    keys = tokens.Keys("https://k", fetch=fetch, clock=lambda: now[0])
    for _ in range(3):
        for _ in range(2):  # the second within seconds asks nobody
            with pytest.raises(tokens.NoKeys):
                keys.get("r")
        now[0] += 6
    assert keys.get("r")
    assert answers == []


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://h/x", "data:,x"])
def test_keys_come_over_http_only(url: str):
    with pytest.raises(ValueError, match="not an http"):
        tokens.fetch(url)
