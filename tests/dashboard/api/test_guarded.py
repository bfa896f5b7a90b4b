"""The localhost rule on every route of both mounts (cases D1 to D7)."""

from __future__ import annotations

import pytest
import yaml

from tests.dashboard.api.raw import BODIES, MOUNTS, PATHS, ROUTES, WRITES, send
from tests.dashboard.served import Served
from tests.service import until

JSON = "Content-Type: application/json\nContent-Length: 2"
EVERY = [(name, mount, *route) for name, mount in MOUNTS for route in ROUTES]
HOSTS = {
    "localhost:9999": True,
    "shop.localhost": True,
    "127.8.9.10": True,
    "[::1]:4255": True,
    "LOCALHOST.": True,
    "localhost:{port}": True,
    "localhost.evil.com": False,
    "evil-localhost": False,
    "127.1": False,
    "0x7f.0.0.1": False,
    "[::ffff:127.0.0.1]": False,
    "a@localhost": False,
    "": False,
    "0.0.0.0": False,
    "localhost..": False,
}
ORIGINS = {
    "http://localhost:3000": 404,
    "https://127.0.0.1": 404,
    "http://a.localhost": 404,
    "https://evil.example": 403,
    "http://localhost.evil.example": 403,
    "null": 403,
    "file://": 403,
    "": 403,
}


def ids(one: object) -> str:
    return str(one)


@pytest.mark.parametrize(("name", "mount", "method", "path"), EVERY, ids=ids)
def test_no_route_answers_a_host_that_is_not_this_machine(served, name, mount, method, path):
    status, headers, body = send(
        served, name, f"{method} {mount}{path} HTTP/1.1\n{JSON}", b"{}", host="evil.example"
    )

    assert (status, body["code"]) == (403, "host_not_allowed")
    assert body["error"].startswith('Host "evil.example" is not allowed here. Use http://localhost')
    assert not [header for header in headers if header.startswith("access-control")]


@pytest.mark.parametrize(("host", "allowed"), HOSTS.items())
@pytest.mark.parametrize(("name", "mount"), MOUNTS)
def test_a_host_is_this_machine_or_refused(served, name, mount, host, allowed):
    status, _, body = send(served, name, f"GET {mount}/api/health HTTP/1.1", host=host)

    assert status == (200 if allowed else 403), body


@pytest.mark.parametrize(("host", "more"), [(None, ""), ("localhost", "Host: localhost")])
def test_a_request_without_exactly_one_host_is_refused(served, host, more):
    status, _, body = send(served, "dashboard", f"GET /api/health HTTP/1.1\n{more}", host=host)

    assert (status, body["code"]) == (403, "host_not_allowed")


@pytest.mark.parametrize(("method", "path"), WRITES, ids=ids)
@pytest.mark.parametrize(("name", "mount"), MOUNTS)
def test_a_foreign_page_writes_nowhere(served, name, mount, method, path):
    top = f"{method} {mount}{path} HTTP/1.1\n{JSON}"

    for attack, code in {
        "Origin: https://evil.example": "origin_not_allowed",
        "Origin: null": "origin_not_allowed",
        "Sec-Fetch-Site: cross-site": "cross_site",
    }.items():
        status, _, body = send(served, name, f"{top}\n{attack}", b"{}")
        assert (status, body["code"]) == (403, code)


@pytest.mark.parametrize(("origin", "status"), ORIGINS.items())
def test_an_origin_is_held_against_the_same_names(served, origin, status):
    head = f"PATCH /api/apps/nobody HTTP/1.1\n{JSON}\nOrigin: {origin}"

    answer, headers, body = send(served, "dashboard", head, b"{}")

    assert answer == status, body
    assert not [header for header in headers if header.startswith("access-control")]


@pytest.mark.parametrize(
    ("site", "status"), [("same-site", 404), ("none", 404), ("cross-site", 403)]
)
def test_a_page_of_this_machine_may_write(served, site, status):
    head = f"PATCH /api/apps/nobody HTTP/1.1\n{JSON}\nSec-Fetch-Site: {site}"

    assert send(served, "dashboard", head, b"{}")[0] == status


def test_a_read_with_a_foreign_origin_gets_no_word_of_permission(served):
    head = "GET /api/state HTTP/1.1\nOrigin: https://evil.example"

    status, headers, _ = send(served, "dashboard", head)

    assert status == 200
    assert not [header for header in headers if header.startswith("access-control")]


@pytest.mark.parametrize(("method", "path"), BODIES, ids=ids)
@pytest.mark.parametrize("kind", ["text/plain", "application/jsonp", "", "multipart/form-data"])
def test_a_write_names_its_type_even_when_it_is_empty(served, method, path, kind):
    kinds = f"\nContent-Type: {kind}" if kind else ""
    for length, body in ((2, b"{}"), (0, b"")):
        head = f"{method} {path} HTTP/1.1\nContent-Length: {length}{kinds}"

        status, _, told = send(served, "dashboard", head, body)

        assert (status, told["code"]) == (415, "unsupported_media_type")
        assert told["error"] == "Send Content-Type: application/json."


@pytest.mark.parametrize("more", ["", "\nContent-Type: text/plain\nContent-Length: 2"])
def test_delete_needs_no_type_and_its_body_is_ignored(served, more):
    head = f"DELETE /api/apps/nobody HTTP/1.1{more}"

    status, _, body = send(served, "dashboard", head, b"{}" if more else b"")

    assert (status, body["code"]) == (404, "not_found")


@pytest.mark.parametrize(("method", "path"), BODIES, ids=ids)
def test_a_body_over_256_kib_is_refused_unread(served, method, path):
    size = 256 * 1024 + 1
    head = f"{method} {path} HTTP/1.1\nContent-Type: application/json\nContent-Length: {size}"

    status, _, body = send(served, "dashboard", head, b"")

    assert (status, body["code"]) == (413, "too_large")
    assert body["error"] == "The body is larger than 256 KiB."


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(("name", "mount"), MOUNTS)
def test_a_preflight_is_a_wrong_method_everywhere(served, name, mount, path):
    head = (
        f"OPTIONS {mount}{path} HTTP/1.1\nOrigin: https://evil.example\n"
        "Access-Control-Request-Method: PUT"
    )

    status, headers, body = send(served, name, head)

    assert status == 405
    assert "OPTIONS" not in headers["allow"]
    assert not [header for header in headers if header.startswith("access-control")]
    if path != "/mcp":
        assert body["error"] == f"OPTIONS is not possible on {mount}{path}; use {headers['allow']}."


@pytest.mark.parametrize("header", ["Forwarded: for=1.2.3.4", "X-Forwarded-Host: localhost"])
def test_the_mount_refuses_what_came_through_a_proxy_and_the_own_port_does_not(served, header):
    status, _, body = send(served, "main", f"GET /dashboard/api/health HTTP/1.1\n{header}")

    assert (status, body["code"]) == (403, "host_not_allowed")
    assert send(served, "dashboard", f"GET /api/health HTTP/1.1\n{header}")[0] == 200


def test_the_fronted_host_counts_from_the_moment_the_file_names_it(served: Served):
    config = served.data / "dashboard" / "config.yaml"
    before = config.read_text()
    own, write = "GET /api/health HTTP/1.1", f"PATCH /api/apps/nobody HTTP/1.1\n{JSON}\nOrigin: "

    assert send(served, "dashboard", own, host="apps.example")[0] == 403
    config.write_text(before + yaml.safe_dump({"fronted": {"host": "Apps.Example"}}))
    try:
        until(lambda: send(served, "dashboard", own, host="apps.example")[0] == 200, what="known")
        origin = f"{write}https://apps.example"
        assert send(served, "dashboard", origin, b"{}", host="apps.example")[0] == 404
        assert send(served, "dashboard", own, host="evil.apps.example")[0] == 403
        assert send(served, "review", own, host="apps.example")[0] == 403
        pages = "GET /api/projects HTTP/1.1"
        assert send(served, "main", pages, host="apps.example")[0] == 403
    finally:
        config.write_text(before)
    until(lambda: send(served, "dashboard", own, host="apps.example")[0] == 403, what="forgotten")
