"""The guard alone: which requests reach the application behind it, and in what order of refusal."""

from __future__ import annotations

import json
from typing import Any

import pytest

from config.web.answers import Refusal
from config.web.guard import ANY, Guard, Rules, Words

STRICT = Rules(limit=1000, words=Words(peer_code="host_not_allowed", cross_site_code="cross_site"))
OPEN = Rules(
    limit=1000,
    local=False,
    json_always=False,
    hosts=frozenset({"extra.example"}),
    origins=frozenset({"public.example"}),
    proxied=True,
)
LOCAL = {"host": "localhost:8000"}
JSON = {"content-type": "application/json"}


class Exchange:
    """One request through a guard: the answer, and what the application saw."""

    def __init__(self, rules: Rules, *, principal: Any = None) -> None:
        async def authenticate(scope: dict[str, Any]) -> Any:
            return principal

        self.guard = Guard(self.app, rules, authenticate if principal is not None else None)
        self.reached: dict[str, Any] | None = None
        self.read = 0

    async def app(self, scope, receive, send):
        self.reached = scope
        more = True
        while more:
            message = await receive()
            self.read += len(message["body"])
            more = message["more_body"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})

    async def send(
        self,
        method: str = "GET",
        headers: dict[str, str] | list[tuple[str, str]] = LOCAL,
        *,
        peer: str | None = "127.0.0.1",
        uid: int | None = None,
        body: list[bytes] | None = None,
    ) -> tuple[int, str]:
        """(status, code of the error body)."""
        pairs = headers.items() if isinstance(headers, dict) else headers
        scope = {
            "type": "http",
            "method": method,
            "path": "/api/x",
            "headers": [(name.encode(), value.encode("latin1")) for name, value in pairs],
            "client": [peer, 1] if peer else None,
            "peer_uid": uid,
        }
        pieces = list(body or [b""])
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            piece = pieces.pop(0)
            return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

        async def keep(message: Any) -> None:
            sent.append(message)

        await self.guard(scope, receive, keep)
        told = json.loads(sent[1]["body"])
        self.told = told.get("error", "")
        return sent[0]["status"], told.get("code", "")


async def judged(rules: Rules, *args: Any, **kwargs: Any) -> tuple[int, str]:
    return await Exchange(rules).send(*args, **kwargs)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "DELETE", "OPTIONS"])
@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("host", "")],
        [("host", "evil.example")],
        [("host", "localhost"), ("host", "localhost")],
    ],
    ids=["none", "empty", "foreign", "two"],
)
async def test_a_host_that_is_not_this_machine_is_refused_for_every_method(method, headers):
    assert await judged(STRICT, method, headers) == (403, "host_not_allowed")


@pytest.mark.parametrize("peer", [None, "10.0.0.1", "unknown"])
async def test_another_machine_is_refused_whatever_host_it_names(peer):
    assert await judged(STRICT, peer=peer) == (403, "host_not_allowed")
    assert await judged(Rules(limit=1), peer=peer) == (403, "peer_not_allowed")


@pytest.mark.parametrize("name", ["forwarded", "x-forwarded-for", "x-forwarded-proto"])
async def test_a_proxied_request_is_refused_where_no_proxy_may_be(name):
    headers = LOCAL | {name: "for=127.0.0.1"}

    assert (await judged(STRICT, "GET", headers))[0] == 403
    assert await judged(Rules(limit=1, proxied=True), "GET", headers) == (200, "")


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize(
    "origin", ["null", "https://evil.example", "http://localhost.evil.com", "file://", ""]
)
async def test_a_write_from_a_foreign_page_is_refused(method, origin):
    headers = LOCAL | JSON | {"origin": origin}

    assert await judged(STRICT, method, headers) == (403, "origin_not_allowed")


async def test_two_origins_are_none_we_know():
    headers = [*(LOCAL | JSON).items(), ("origin", "http://localhost"), ("origin", "null")]

    assert await judged(STRICT, "POST", headers) == (403, "origin_not_allowed")


async def test_a_read_from_a_foreign_page_passes_because_it_gets_no_cors_header():
    assert await judged(STRICT, "GET", LOCAL | {"origin": "https://evil.example"}) == (200, "")


@pytest.mark.parametrize("origin", ["http://localhost:3000", "https://a.localhost", None])
async def test_a_write_from_this_machine_passes(origin):
    headers = LOCAL | JSON | ({"origin": origin} if origin else {})

    assert await judged(STRICT, "POST", headers) == (200, "")


@pytest.mark.parametrize(
    ("site", "status"),
    [("cross-site", 403), ("Cross-Site", 403), ("same-site", 200), ("none", 200)],
)
async def test_a_cross_site_write_is_refused(site, status):
    assert (await judged(STRICT, "POST", LOCAL | JSON | {"sec-fetch-site": site}))[0] == status


@pytest.mark.parametrize(
    "kind",
    ["", "text/plain", "application/jsonp", "multipart/form-data", "json", "a/b, application/json"],
)
async def test_a_write_that_is_not_json_is_refused(kind):
    headers = LOCAL | ({"content-type": kind} if kind else {})

    assert await judged(STRICT, "POST", headers) == (415, "unsupported_media_type")


@pytest.mark.parametrize("kind", ["application/json", "Application/JSON; charset=latin1;x=y"])
async def test_json_with_any_parameters_passes(kind):
    assert await judged(STRICT, "PUT", LOCAL | {"content-type": kind}) == (200, "")


async def test_delete_needs_no_content_type():
    assert await judged(STRICT, "DELETE", LOCAL) == (200, "")


FORMS = ["", "text/plain", "Text/Plain; a=b", "multipart/form-data", "x, text/plain"]
FORMS += ["application/x-www-form-urlencoded;charset=utf-8"]


@pytest.mark.parametrize("kind", FORMS)
@pytest.mark.parametrize(
    "page",
    [
        {"origin": "http://localhost:3000"},
        {"origin": "http://a.localhost:8000"},
        {"origin": "http://localhost"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "Same-Site"},
        {"sec-fetch-site": "x", "origin": "http://localhost:8000"},
    ],
    ids=str,
)
async def test_a_foreign_page_s_empty_write_names_json_as_any_other(page, kind):
    rules = Rules(limit=1000, json_always=False)
    headers = LOCAL | page | ({"content-type": kind} if kind else {})

    assert await judged(rules, "POST", headers) == (415, "unsupported_media_type")
    assert await judged(rules, "POST", headers | JSON) == (200, "")
    assert await judged(rules, "DELETE", headers) == (200, "")


@pytest.mark.parametrize("kind", FORMS[:4])
async def test_a_foreign_page_s_file_has_a_type_that_no_form_sends(kind):
    rules = Rules(limit=1000, media=ANY)
    headers = LOCAL | ({"content-type": kind} if kind else {})
    named = LOCAL | {"content-type": "application/octet-stream"}
    page = {"origin": "http://localhost:3000"}

    assert await judged(rules, "POST", headers | page) == (415, "unsupported_media_type")
    assert await judged(rules, "POST", named | page) == (200, "")
    assert await judged(rules, "POST", headers) == (200, "")


@pytest.mark.parametrize(
    "page",
    [
        {},
        {"sec-fetch-site": "none"},
        {"origin": "http://localhost:8000"},
        {"origin": "HTTP://LOCALHOST:8000", "sec-fetch-site": "same-origin"},
    ],
    ids=str,
)
async def test_the_port_s_own_page_and_a_program_may_leave_the_type_of_nothing_away(page):
    rules = Rules(limit=1000, json_always=False)

    assert await judged(rules, "POST", LOCAL | page) == (200, "")
    assert (await judged(rules, "POST", LOCAL | page | {"content-length": "2"}))[0] == 415


@pytest.mark.parametrize(
    ("uid", "code", "told"),
    [
        (0, "", ""),
        (1000, "", ""),
        (1001, "user_not_allowed", "uid 1001"),
        (None, "user_not_allowed", "cannot be determined"),
    ],
)
async def test_only_these_users_of_this_machine_are_served(uid, code, told):
    rules = Rules(limit=1000, users=frozenset({0, 1000}))
    exchange = Exchange(rules)

    assert await exchange.send(uid=uid) == (403 if code else 200, code)
    assert told in exchange.told
    assert await judged(Rules(limit=1000), uid=uid) == (200, "")


async def test_a_unix_socket_is_this_machine_when_its_user_is_known():
    rules = Rules(limit=1000, users=frozenset({1000}))

    assert await judged(rules, uid=1000, peer=None) == (200, "")
    assert await judged(rules, uid=1001, peer=None) == (403, "user_not_allowed")
    assert await judged(rules, peer=None) == (403, "peer_not_allowed")


async def test_an_encoded_body_is_refused():
    headers = LOCAL | JSON | {"content-encoding": "gzip"}

    assert await judged(STRICT, "POST", headers) == (415, "unsupported_media_type")


async def test_an_empty_body_needs_no_type_where_the_surface_says_so():
    assert await judged(OPEN, "POST", {"content-length": "0"}) == (200, "")
    assert await judged(OPEN, "POST", {}) == (200, "")
    assert (await judged(OPEN, "POST", {"content-length": "2"}))[0] == 415
    assert (await judged(OPEN, "POST", {"transfer-encoding": "chunked"}))[0] == 415


async def test_a_declared_size_over_the_limit_is_refused_unread():
    exchange = Exchange(STRICT)
    headers = LOCAL | JSON | {"content-length": "1001"}

    assert await exchange.send("POST", headers, body=[b"x" * 1001]) == (413, "too_large")
    assert exchange.reached is None


async def test_a_body_that_outgrows_the_limit_is_refused_while_it_is_read():
    exchange = Exchange(STRICT)
    body = [b"x" * 400] * 10

    assert await exchange.send("POST", LOCAL | JSON, body=body) == (413, "too_large")
    assert exchange.read == 800


async def test_the_order_is_host_then_login_then_origin_then_type_then_size():
    refused = Refusal(401, {"error": "unauthorized", "code": "auth_required"})
    wrong = {"host": "evil", "origin": "null", "content-type": "a/b", "content-length": "9999"}

    async def code(principal: Any) -> str:
        return (await Exchange(STRICT, principal=principal).send("POST", wrong))[1]

    assert await code(refused) == "host_not_allowed"
    wrong["host"] = "localhost"
    assert await code(refused) == "auth_required"
    assert await code("me") == "origin_not_allowed"
    del wrong["origin"]
    assert await code("me") == "unsupported_media_type"
    wrong["content-type"] = "application/json"
    assert await code("me") == "too_large"


async def test_who_was_let_in_stands_in_the_scope():
    exchange = Exchange(STRICT, principal="me")

    await exchange.send()

    assert exchange.reached is not None
    assert exchange.reached["principal"] == "me"


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("https://svc.example", 200),
        ("https://svc.example:8443", 200),
        ("https://extra.example", 200),
        ("https://public.example", 200),
        ("https://evil.example", 403),
        ("null", 403),
    ],
)
async def test_behind_a_login_an_origin_is_held_against_the_host_it_names(origin, status):
    headers = JSON | {"host": "svc.example", "origin": origin}

    assert (await judged(OPEN, "POST", headers, peer="9.9.9.9"))[0] == status


async def test_a_name_given_while_the_service_runs_counts_from_then_on():
    names: set[str] = set()

    async def given() -> set[str]:
        return names

    rules = Rules(limit=1000, also=given)
    named = JSON | {"host": "apps.example", "origin": "https://apps.example"}

    assert await judged(rules, "POST", named) == (403, "host_not_allowed")
    names.add("apps.example")
    assert await judged(rules, "POST", named) == (200, "")
    names.clear()
    assert await judged(rules, "POST", named) == (403, "host_not_allowed")


async def test_such_names_are_asked_for_only_when_no_other_rule_knows_the_host():
    async def asked() -> set[str]:
        raise AssertionError("asked")

    rules = Rules(limit=1000, also=asked)

    assert await judged(rules, "POST", LOCAL | JSON | {"origin": "http://localhost"}) == (200, "")
