"""Asking a listener once what it is: one probe that also reads the page (6.3, 6.4, 6.7)."""

from __future__ import annotations

from dashboard.health.probe import probe
from dashboard.health.result import Kind, Page, Result
from dashboard.health.target import Target
from dashboard.listeners.identity import Answer
from dashboard.listeners.observed import Sighting
from dashboard.looks import favicon

MARKUP = 8 << 10  # bytes kept of a page: frameworks show near its beginning
REFUSED = 400  # from this status on a title tells what went wrong, not what it is


async def ask(one: Sighting) -> Result:
    """What it says to a plain GET, or by TLS when that is what it speaks."""
    host, port = one.listener.reach[0]
    return await probe(Target(scheme="auto", host=host, port=port), page=True)


def answer(result: Result, port: int) -> Answer | None:
    """What is learnt from that; None when it did not answer, which is no news of what it is."""
    if result.failed:
        return None
    if result.status is None:
        return Answer("https" if result.kind is Kind.TLS else "tcp")
    scheme = "https" if result.scheme == "https" else "http"
    page = result.page or Page()
    named = favicon.read(page.body, f"{scheme}://localhost:{port}/")
    icons = (*named.icons, *named.touch)
    return Answer(
        protocol="https" if scheme == "https" else "http",
        title=page.title if result.status < REFUSED else None,
        favicon=icons[0] if icons else None,
        headers=page.headers,
        markup=page.body[:MARKUP].decode("utf-8", errors="replace"),
    )
