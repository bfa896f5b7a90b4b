"""Which surface answers, and where the others are seen from there."""

from __future__ import annotations

import pytest
from django.http import HttpResponse
from django.test import RequestFactory

from config.web import surfaces
from config.web.surfaces import DASHBOARD, MAIN, REVIEW, SurfaceMiddleware


@pytest.fixture(autouse=True)
def bound(monkeypatch):
    monkeypatch.setattr(surfaces, "_ports", {"main": 8000, "tls": 8443, "review": 5622})


def scope(port: int | None, path: str = "/") -> dict[str, object]:
    server = None if port is None else ["127.0.0.1", port]
    return {"server": server, "path": path, "headers": [(b"host", b"localhost:5622")]}


@pytest.mark.parametrize(
    ("port", "path", "found"),
    [
        (8000, "/", (MAIN, "")),
        (8443, "/review/x", (REVIEW, "/review")),
        (None, "/", (MAIN, "")),
        (9, "/api/health", (MAIN, "")),
        (8000, "/review", (REVIEW, "/review")),
        (8000, "/dashboard/api/health", (DASHBOARD, "/dashboard")),
        (8000, "/reviews", (MAIN, "")),
        (8000, "/api/review/", (MAIN, "")),
        (5622, "/", (REVIEW, "")),
        (5622, "/dashboard/", (REVIEW, "")),
    ],
)
def test_the_port_decides_and_on_the_main_port_the_prefix(port, path, found):
    assert surfaces.of(scope(port, path)) == found


@pytest.mark.parametrize(
    ("port", "part", "url"),
    [
        (8000, MAIN, "/x"),
        (8000, REVIEW, "/review/x"),
        (5622, REVIEW, "/x"),
        (5622, MAIN, "http://localhost:8000/x"),
        (5622, DASHBOARD, "http://localhost:8000/dashboard/x"),
    ],
)
def test_another_part_is_found_without_asking_the_host_header(port, part, url):
    assert surfaces.absolute_url(scope(port), part, "/x") == url


@pytest.mark.parametrize("path", ["/", "/projects/a"])
def test_a_page_may_load_and_run_only_what_this_server_sends(path):
    middleware = SurfaceMiddleware(lambda request: HttpResponse("<p>"))

    policy = middleware(RequestFactory().get(path))["Content-Security-Policy"]

    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


def test_inspection_pages_may_style_themselves_but_not_run_inline():
    middleware = SurfaceMiddleware(lambda request: HttpResponse("<p>"))

    policy = middleware(RequestFactory().get("/admin/"))["Content-Security-Policy"]

    assert "style-src 'self' 'unsafe-inline'" in policy
    assert "script-src 'self';" in policy


def test_json_carries_no_page_policy():
    middleware = SurfaceMiddleware(lambda request: HttpResponse(b"{}", "application/json"))

    assert "Content-Security-Policy" not in middleware(RequestFactory().get("/api/x"))


def test_a_caller_cannot_name_itself_by_a_header():
    seen = []

    def view(request):
        seen.append(request.principal)
        return HttpResponse()

    SurfaceMiddleware(view)(RequestFactory().get("/", headers={"svc.principal": "root"}))

    assert seen == [None]


def test_a_part_with_a_policy_of_its_own_has_it_on_its_pages():
    request = RequestFactory().get("/")
    request.scope = {"surface": DASHBOARD, "type": "http"}  # type: ignore[attr-defined]

    policy = SurfaceMiddleware(lambda request: HttpResponse("<p>"))(request)

    assert policy["Content-Security-Policy"] == DASHBOARD.policy
    assert "form-action 'none'" in DASHBOARD.policy
