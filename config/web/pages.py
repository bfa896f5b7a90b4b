"""The shell around every HTML page: parts, theme, standing warnings. No page logic here.

A page is a template plus `data-*` attributes of its body; its script gets the rest from the JSON
API, so a page can never show or do what the API does not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.module_loading import import_string

from config import __version__
from config.errors import NotFound
from config.jsonio import visible
from config.web import events, surfaces
from config.web.connections import local

THEMES = ("light", "dark")
MACHINES = re.compile(r"/(?:api|mcp|static|\.well-known)(?:/|$)")
View = Callable[..., HttpResponse]
Refuse = Callable[[HttpRequest, Exception], HttpResponse]
Crumb = tuple[str, str]  # (words, address); the last one is the current page


@dataclass(frozen=True, slots=True)
class Part:
    """One of the three parts as the rail of a page shows it."""

    name: str
    label: str
    icon: str
    url: str


@dataclass(frozen=True, slots=True)
class Shell:
    """What the shell around a page shows, the same for all pages."""

    part: str
    part_name: str
    parts: tuple[Part, ...]
    theme: str
    warnings: tuple[str, ...]
    editor: str = ""  # the template of an address that opens a line in the editor
    version: str = __version__
    events: str = "/api/events"  # the stream of the part
    at: int = 0  # id of its last event when the page was made; what the page reads is no older


LABELS = (
    ("main", "Workspace", "chat"),
    ("review", "Review", "review"),
    ("dashboard", "Apps", "apps"),
)


def page(
    request: HttpRequest,
    template: str,
    *,
    part: str,
    title: str,
    crumbs: Sequence[Crumb] = (),
    data: Mapping[str, str] | None = None,
    warnings: Sequence[str] = (),
    preload: Sequence[str] = (),
    status: int = 200,
) -> HttpResponse:
    """Render `template` inside the shell of `part`; `warnings` are added to those of every page.

    `preload`: addresses that its script requests first, fetched while the script still loads
    (docs/design/pages.md#how-files-are-served).
    """
    context: dict[str, Any] = {
        "title": visible(title),
        "crumbs": [(visible(words), to) for words, to in crumbs or [(title, request.path)]],
        "data": dict(data or {}),
        "preload": preload,
        "shell": shell(request, part, warnings),
    }
    response = render(request, template, context, status=status)
    response["Cache-Control"] = (
        "no-store"  # a page names what exists now; Back must not show old state
    )
    return response


def or_missing(missing: Callable[[HttpRequest, str], HttpResponse]) -> Callable[[View], View]:
    """Decorate a view: a `NotFound` becomes the page that `missing` makes of its text."""

    def decorate(view: View) -> View:
        @wraps(view)
        def answer(request: HttpRequest, **where: str) -> HttpResponse:
            try:
                return view(request, **where)
            except NotFound as error:
                return missing(request, error.text)

        return answer

    return decorate


def or_page(missing: View, answer: Refuse) -> Refuse:
    """A handler404: the page `missing` for a person in a browser, `answer` for a program."""

    def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
        visited = request.method in ("GET", "HEAD") and not MACHINES.match(request.path_info)
        if visited and "text/html" in request.headers.get("Accept", ""):
            return missing(request)
        return answer(request, exception)

    return not_found


def shell(request: HttpRequest, part: str, warnings: Sequence[str]) -> Shell:
    theme = request.COOKIES.get("svc_theme", "")
    names = {name: label for name, label, _icon in LABELS}
    reachable = surfaces.reachable(request)
    return Shell(
        part=part,
        part_name=names[part],
        parts=tuple(
            Part(name, label, icon, part_url(request, name))
            for name, label, icon in LABELS
            if name in reachable
        ),
        theme=theme if theme in THEMES else "",
        warnings=(
            *local.warnings(settings.SVC),
            *import_string(settings.SVC_WARNINGS)(),
            *warnings,
        ),
        editor=settings.SVC.editor_url,
        events=f"{request.META.get('SCRIPT_NAME', '')}/api/events",
        at=events.broadcaster(part).last_id,
    )


def part_url(request: HttpRequest, name: str) -> str:
    """The address of a part for this request: a path on the main port, else another port."""
    return surfaces.page_url(request, name)
