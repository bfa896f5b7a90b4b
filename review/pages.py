"""The start page of the review surface. It says honestly what this version does not do."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse

from config.kernel.web.pages import page


def start(request: HttpRequest) -> HttpResponse:
    health = f"{request.path.rstrip('/')}/api/health"
    return page(
        request, "review/start.html", part="review", title="Review", data={"health": health}
    )
