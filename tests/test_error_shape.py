"""One error body everywhere: every route of every surface, refused in every way, over HTTP."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator

import httpx
import pytest
from django.urls import URLPattern, URLResolver, get_resolver

from tests.service import Service

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
FILLED = {"slug": "nope", "session_id": str(uuid.uuid4())}
ASGI = ("/api/events", "/api/projects/nope/chats/x/events", "/mcp", "/mcp/", "/mcpfoo", "/_svc/mcp",
        "/.well-known/oauth-protected-resource", "/.well-known/x")  # fmt: skip
BARE = ("/mcp", "/_svc/mcp", "/.well-known/")  # 404 of these has `error` alone


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with Service(tmp_path_factory.mktemp("shape"), scheduler=False) as running:
        yield running


def paths(urlconf: str) -> Iterator[str]:
    def walk(patterns, prefix: str) -> Iterator[str]:
        for pattern in patterns:
            route = str(pattern.pattern)
            if isinstance(pattern, URLResolver) and route != "admin/":
                yield from walk(pattern.url_patterns, prefix + route)
            elif isinstance(pattern, URLPattern) and "(?" not in route:
                yield prefix + re.sub(r"<str:(\w+)>", lambda m: FILLED.get(m[1], "x"), route)

    yield from (f"/{path}" for path in walk(get_resolver(urlconf).url_patterns, ""))


def check(answer: httpx.Response) -> None:
    """Whatever is refused on a machine path is the JSON body; nothing is a defect."""
    where = f"{answer.request.method} {answer.request.url} {answer.status_code}"
    assert answer.status_code < 500, where
    assert re.fullmatch(r"[0-9a-f]{16}", answer.headers["X-Request-Id"]), where
    if answer.status_code < 400 or answer.request.method == "HEAD":
        return
    page = answer.request.method == "GET" and not answer.request.url.path.startswith("/api")
    if page and answer.headers["Content-Type"].startswith("text/html"):
        return
    assert answer.headers["Content-Type"] == "application/json; charset=utf-8", where
    body = answer.json()
    assert isinstance(body["error"], str), where
    assert body["error"], where
    if not answer.request.url.path.startswith(BARE):
        assert isinstance(body["code"], str), where


def ask(client: httpx.Client, method: str, path: str) -> None:
    with client.stream(method, path, headers={"Accept": "text/html"}) as answer:
        streams = "event-stream" in answer.headers["Content-Type"]
        if not streams:
            answer.read()
        check(answer)
        if answer.status_code == 405:
            assert method not in answer.headers["Allow"].split(", ")


def test_every_route_of_the_main_port_refuses_alike(served):
    for path in sorted({*paths("config.urls.main"), *ASGI, "/admin/", "/api/nope", "/x.css"}):
        for method in METHODS:
            ask(served.http, method, path)


@pytest.mark.parametrize("part", ["review", "dashboard"])
def test_every_route_of_the_other_parts_refuses_alike_on_both_ports(served, part):
    own = {"review": served.review_url, "dashboard": served.dashboard_url}[part]
    for base in (own, f"{served.url}/{part}"):
        with httpx.Client(trust_env=False) as client:
            for path in sorted({*paths(f"config.urls.{part}"), "/api/nope"}):
                for method in METHODS:
                    ask(client, method, base + path)


@pytest.mark.parametrize(
    ("headers", "content", "status", "code"),
    [
        ({"Host": "evil.example"}, b"{}", 403, "host_not_allowed"),
        ({"Origin": "https://evil.example"}, b"{}", 403, "origin_not_allowed"),
        ({"Origin": "null"}, b"{}", 403, "origin_not_allowed"),
        ({"Sec-Fetch-Site": "cross-site"}, b"{}", 403, "origin_not_allowed"),
        ({"Content-Type": "text/plain"}, b"{}", 415, "unsupported_media_type"),
        ({}, b"[" * 200, 400, "invalid"),
        ({}, b'{"name":"' + b"x" * 4 * 1024 * 1024 + b'"}', 413, "too_large"),
    ],
)
def test_a_refusal_before_the_view_has_the_same_shape(served, headers, content, status, code):
    sent = {"Content-Type": "application/json"} | headers
    before = served.http.get("/api/projects").json()

    answer = served.http.post("/api/projects", content=content, headers=sent)

    check(answer)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert served.http.get("/api/projects").json() == before


@pytest.mark.parametrize(
    "path", ["//", "//x", "//api/health", "//api/events", "//mcp", "//static/"]
)
def test_a_doubled_slash_leads_nowhere_on_any_port_and_passes_no_guard(served, path):
    mounts = [f"{served.url}/review", f"{served.url}/dashboard"]
    for base in (served.url, served.review_url, served.dashboard_url, *mounts):
        answer = httpx.get(base + path, trust_env=False)
        assert answer.status_code == 404, base
        if base == served.url and path == "//mcp":
            continue  # a machine path there
        assert answer.json()["code"] == "not_found", base
        headers = {"Host": "evil.example"}
        foreign = httpx.get(base + path, headers=headers, trust_env=False)
        assert (foreign.status_code, foreign.json()["code"]) == (403, "host_not_allowed"), base
