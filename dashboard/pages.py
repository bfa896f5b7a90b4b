"""The page of the dashboard part. Its script is a client of the part's JSON API."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse

from config.web.pages import page

# As strict as for the other pages, except that <base> may name the mount.
POLICY = (
    "default-src 'self'; img-src 'self' data:; base-uri 'self'; form-action 'none'; "
    "frame-ancestors 'none'"
)
STALE_MS = 10_000  # how long a broken stream is retried before every state is shown as hollow


def start(request: HttpRequest) -> HttpResponse:
    """All apps with their states. The page's addresses are relative to the request's mount."""
    base = f"{request.path.rstrip('/')}/"
    data = {"patience": str(STALE_MS)}
    return _page(
        request, "dashboard/start.html", base, title="Apps", data=data, preload=[f"{base}api/state"]
    )


def missing(request: HttpRequest, **_where: str) -> HttpResponse:
    """The page for any other address that a browser navigates to."""
    base = f"{request.META.get('SCRIPT_NAME', '')}/"
    return _page(
        request,
        "errors/missing.html",
        base,
        title="Nothing here",
        crumbs=[("Apps", base)],
        data={"why": f"There is no page at {request.path}."},
        status=404,
    )


def _page(
    request: HttpRequest, template: str, base: str, *, data: dict[str, str], **more: Any
) -> HttpResponse:
    response = page(request, template, part="dashboard", data={"base": base, **data}, **more)
    response["Content-Security-Policy"] = POLICY
    return response
