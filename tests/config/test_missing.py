"""An address that leads nowhere: a page for who mistyped it, JSON for a program."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from django.urls import Resolver404

from config.web import surfaces

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
PARTS = {"main": "Workspace", "review": "Review", "dashboard": "Apps"}


def asked(part: str, path: str, accept: str, method: str = "GET") -> HttpResponse:
    request = RequestFactory().generic(method, path, headers={"Accept": accept})
    request.surface = surfaces.MAIN  # type: ignore[attr-defined]
    answer: HttpResponse = import_module(f"config.urls.{part}").handler404(request, Resolver404())
    assert answer.status_code == 404
    return answer


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("path", ["/nope", "/nope.html", "/apps/nope", "/api-docs"])
def test_a_browser_gets_a_page_that_leads_on(part: str, path: str) -> None:
    page = asked(part, path, BROWSER).content.decode()

    assert f"There is no page at {path}." in page
    assert f"Go to {PARTS[part]}" in page


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize(
    ("path", "accept", "method"),
    [
        ("/nope", "*/*", "GET"),
        ("/nope", "application/json", "GET"),
        ("/nope", BROWSER, "POST"),
        *((path, BROWSER, "GET") for path in ("/api", "/api/nope", "/mcp/x", "/static/x.js")),
    ],
)
def test_a_program_gets_json(part: str, path: str, accept: str, method: str) -> None:
    answer = asked(part, path, accept, method)

    assert answer["Content-Type"].startswith("application/json")
