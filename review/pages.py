"""The pages of the review part. Their scripts are clients of its JSON API."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from config.kernel.web.pages import page


def start(request: HttpRequest) -> HttpResponse:
    """Every project under review."""
    base = request.path.rstrip("/")
    return page(request, "review/start.html", part="review", title="Review", data={"base": base})
