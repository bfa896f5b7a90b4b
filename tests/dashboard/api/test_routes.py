"""Every route on both mounts: statuses, headers, names, methods."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from config import __version__
from config.storage.files import PREFIX
from tests.dashboard.api.raw import MOUNTS, PATHS, ROUTES, WRITES, send
from tests.dashboard.served import Served
from tests.described import Api, Description

POLICY = (
    "default-src 'self'; img-src 'self' data:; base-uri 'self'; form-action 'none'; "
    "frame-ancestors 'none'"
)
DOCUMENTS = [route for route in ROUTES if route[1] != "/api/events"]  # a stream has no end
BAD_SLUGS = [
    "A",
    "a.b",
    "..",
    "-a",
    "a-",
    "a" * 64,
    "%C3%A4",
    "a_b",
    "a%20b",
    "%00",
    "a%00",
    "%2e%2e",
]
ESCAPING = ["/api/apps/{}", "/api/bookmarks/{}/icon", "/api/observed/{}/claim"]
ESCAPED = ["a%2Fb", "a%2fhistory", "a%5Cb", "a%00", "..%2F..%2Fetc"]
FIXED = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-resource-policy": "same-origin",
    "content-security-policy": POLICY,
}


@pytest.mark.parametrize(("name", "mount"), MOUNTS)
@pytest.mark.parametrize(("method", "path"), DOCUMENTS)
def test_every_route_is_there_under_both_mounts(served, name, mount, method, path):
    head = f"{method} {mount}{path} HTTP/1.1\nContent-Type: application/json\nContent-Length: 2"

    status, headers, body = send(served, name, head, b"{}")

    assert status < 500
    assert status != 405
    assert headers.items() >= FIXED.items()
    if status == 404:
        assert body["code"] == "not_found"
        assert not body["error"].startswith("No route")


@pytest.mark.parametrize(("name", "mount"), MOUNTS)
@pytest.mark.parametrize("path", [path for path in PATHS if path != "/"])
def test_a_slash_at_the_end_is_another_address(served, name, mount, path):
    status, _, body = send(served, name, f"GET {mount}{path}/ HTTP/1.1")

    assert (status, body["code"]) == (404, "not_found")
    assert body["error"] == f"No route GET {mount}{path}/."


@pytest.mark.parametrize(
    ("path", "accept"),
    [
        ("/nope", "*/*"),
        *(("/api", accept) for accept in ("*/*", "text/html")),
        *(("/api/apps/x/nope", accept) for accept in ("*/*", "text/html")),
    ],
)
def test_an_unknown_address_is_a_404_in_json(served, path, accept):
    status, headers, body = send(served, "dashboard", f"GET {path} HTTP/1.1\nAccept: {accept}")

    assert (status, headers["content-type"]) == (404, "application/json; charset=utf-8")
    assert body == {"error": f"No route GET {path}.", "code": "not_found"}
    assert headers.items() >= {**FIXED, "cache-control": "no-store"}.items()


@pytest.mark.parametrize("path", PATHS)
def test_a_wrong_method_is_told_the_right_ones(served, path):
    right = {method for method, known in ROUTES if known == path}
    for method in sorted({"GET", "POST", "PUT", "PATCH", "DELETE"} - right):
        head = f"{method} {path} HTTP/1.1\nContent-Type: application/json\nContent-Length: 2"

        status, headers, body = send(served, "dashboard", head, b"{}")

        heads = {"HEAD"} if "GET" in right and path != "/api/events" else set()
        assert status == 405, method
        assert set(headers["allow"].split(", ")) == right | heads
        if path != "/mcp":
            told = f"{method} is not possible on {path}; use {headers['allow']}."
            assert body == {"error": told, "code": "method_not_allowed"}


@pytest.mark.parametrize(
    "path", [path for method, path in ROUTES if method == "GET" and path != "/api/events"]
)
def test_head_answers_as_get_does_without_the_body(served, path):
    with httpx.Client(base_url=served.dashboard_url, trust_env=False) as client:
        get, head = client.get(path), client.head(path)

    assert head.status_code == get.status_code
    assert head.content == b""
    assert head.headers["Content-Type"] == get.headers["Content-Type"]


@pytest.mark.parametrize("path", ["/mcp", "/api/events"])
def test_head_is_for_documents_not_for_machines(served, path):
    assert httpx.head(f"{served.dashboard_url}{path}", trust_env=False).status_code == 405


@pytest.mark.parametrize("name", BAD_SLUGS)
@pytest.mark.parametrize("kind", ["apps", "bookmarks"])
def test_a_name_that_is_no_slug_touches_nothing(served: Served, kind, name):
    before = tree(served)

    for method in ("GET", "PUT", "PATCH", "DELETE"):
        head = f"{method} /api/{kind}/{name} HTTP/1.1\nContent-Type: application/json"
        status, _, body = send(served, "dashboard", f"{head}\nContent-Length: 2", b"{}")
        assert (status, body["code"]) == (400, "bad_slug"), method
        assert re.fullmatch(
            r'".*" is not a valid name: use 1 to 63 of a-z, 0-9 and -, '
            r"with a letter or digit at both ends\.",
            body["error"],
        )
    assert tree(served) == before


@pytest.mark.parametrize("name", ESCAPED)
@pytest.mark.parametrize(("port", "mount"), MOUNTS)
@pytest.mark.parametrize(
    "path", ["/api/apps/{}", "/api/bookmarks/{}/icon", "/api/observed/{}/claim"]
)
def test_a_hidden_slash_ends_no_name(served, port, mount, path, name):
    method = "POST" if path.endswith("claim") else "GET"
    head = f"{method} {mount}{path.format(name)} HTTP/1.1\nContent-Type: application/json"

    status, _, body = send(served, port, f"{head}\nContent-Length: 2", b"{}")

    assert (status, body["code"]) == (400, "bad_slug")


def test_a_client_cannot_move_the_mount(served: Served, slug):
    served.data.joinpath("dashboard/apps").mkdir(exist_ok=True)
    head = (
        f"PUT /dashboard/api/apps/{slug} HTTP/1.1\nContent-Type: application/json\n"
        "Content-Length: 2\nDaphne-Root-Path: /evil"
    )

    status, headers, _ = send(served, "main", head, b"{}")

    assert (status, headers["location"]) == (201, f"/dashboard/api/apps/{slug}")
    guide = httpx.get(
        f"{served.dashboard_url}/agent-guide.md",
        headers={"Daphne-Root-Path": "/evil"},
        trust_env=False,
    )
    assert "/evil" not in guide.text


def test_health_says_no_more_than_it_must(api: Api):
    answer = api.get("/api/health")

    assert answer.json() == {"ok": True, "version": __version__}
    assert answer.headers["Cache-Control"] == "no-store"


def test_a_person_may_browse_what_a_program_reads(served: Served):
    for path in ("/api/apps", "/api/state", "/api/config", "/api/docs"):
        answer = httpx.get(
            f"{served.dashboard_url}{path}", headers={"Accept": "text/html"}, trust_env=False
        )
        assert answer.status_code == 200, path
        assert answer.headers["Content-Type"].startswith("text/html"), path


def test_the_description_tells_where_it_is_mounted(served: Served):
    own = httpx.get(f"{served.dashboard_url}/api/schema", trust_env=False).json()
    mounted = httpx.get(f"{served.url}/dashboard/api/schema", trust_env=False).json()

    described = {
        (method.upper(), re.sub(r"\{\w+\}", "x", path).replace("service/x", "service/start"))
        for path, item in own["paths"].items()
        for method in item
    }
    asgi = {("GET", "/"), ("GET", "/api/events"), ("POST", "/mcp")}
    assert described == set(ROUTES) - asgi
    assert mounted["servers"] == [{"url": "/dashboard"}]


def test_the_description_has_the_answers_without_a_body(description: Description):
    bare = {
        (path, int(status))
        for path, item in description.schema["paths"].items()
        for operation in item.values()
        for status, answer in operation["responses"].items()
        if "content" not in answer
    }

    assert bare == {
        ("/api/state", 304), ("/api/bookmarks", 304), ("/api/bookmarks/{group}", 304),
        ("/api/bookmarks/{group}/icon", 204), ("/api/bookmarks/{group}/icon", 304),
        ("/api/apps/{slug}/thumb", 304),
    }  # fmt: skip


def test_writes_that_are_refused_leave_every_file(served: Served):
    before = tree(served)

    for method, path in WRITES:
        if path in ("/mcp", "/api/scan", "/api/lost/dismiss", "/api/thumbs/refresh"):
            continue
        head = f"{method} {path} HTTP/1.1\nContent-Type: application/json\nContent-Length: 3"
        status, _, _ = send(served, "dashboard", head, b"[1]")
        assert status in (400, 404), path

    assert tree(served) == before


def tree(served: Served) -> dict[Path, bytes]:
    """What stands below home; what a writer displaced a moment ago is about to be looked at."""
    home = served.data / "dashboard"
    found = [path for path in home.rglob("*") if not path.name.startswith(PREFIX)]
    return {path: path.read_bytes() for path in found if path.is_file()}
