"""The page of the dashboard part. Its script is a client of the part's JSON API."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from config.web.pages import page
from dashboard.events import EVENTS

# As strict as the other pages, and <base> may name the mount.
POLICY = (
    "default-src 'self'; img-src 'self' data:; base-uri 'self'; form-action 'none'; "
    "frame-ancestors 'none'"
)
STALE_MS = 10_000  # how long a broken stream is mended silently before every state turns hollow


def start(request: HttpRequest) -> HttpResponse:
    """Every app with its state. Its addresses are relative to the mount of the request."""
    base = f"{request.path.rstrip('/')}/"
    data = {
        "base": base,
        "patience": str(STALE_MS),
        "events": f"{base}api/events",
        "at": str(EVENTS.last_id),  # what the page reads is no older
    }
    response = page(
        request,
        "dashboard/start.html",
        part="dashboard",
        title="Apps",
        data=data,
        preload=[f"{base}api/state"],
    )
    response["Content-Security-Policy"] = POLICY
    return response
