"""Which of the three parts a request is for: decided by the port, never by the Host header.

The main port also carries the other two under a prefix. No URL is built here from anything that a
client sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import get_callable
from django.utils.module_loading import import_string
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from config.web import answers, hosts

Scope = Mapping[str, Any]
Refuse = Callable[[HttpRequest, str], HttpResponse]

POLICY = (
    "default-src 'self'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
)
# Django's admin and DRF's browsable pages style themselves inline.
INSPECTION_POLICY = POLICY.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")


# on every answer of the dashboard, not only on pages
APPS_POLICY = (
    "default-src 'self'; img-src 'self' data:; base-uri 'self'; form-action 'none'; "
    "frame-ancestors 'none'"
)


@dataclass(frozen=True, slots=True)
class Surface:
    """One part: its routes, and its prefix on the main port ("" for the main part itself).

    `headers` are added to every answer that lacks a header of that name.
    """

    name: str
    urlconf: str
    prefix: str
    policy: str = POLICY  # of its pages
    headers: Mapping[bytes, bytes] = field(default_factory=dict, hash=False)


MAIN = Surface("main", "config.urls.main", "")
REVIEW = Surface("review", "config.urls.review", "/review")
DASHBOARD = Surface(
    "dashboard",
    "config.urls.dashboard",
    "/dashboard",
    policy=APPS_POLICY,
    headers={
        b"content-security-policy": APPS_POLICY.encode(),
        b"cache-control": b"no-store",
    },
)
MOUNTED = (REVIEW, DASHBOARD)
SURFACES = {surface.name: surface for surface in (MAIN, *MOUNTED)}

_ports: dict[str, int] = {}


def bind(ports: Mapping[str, int]) -> None:
    """Remember the port that each surface really listens on; called once, by the server."""
    _ports.clear()
    _ports.update(ports)


def ports() -> dict[str, int]:
    """The port that each surface really listens on; known only in the server process."""
    return dict(_ports)


def of_port(scope: Scope) -> Surface:
    """The surface whose port accepted the connection; the main one on any unknown port."""
    port = (scope.get("server") or ("", None))[1]
    for one in MOUNTED:  # runs for every request: a generator would cost more than the two look-ups
        if port and _ports.get(one.name) == port:
            return one
    return MAIN


def of(scope: Scope) -> tuple[Surface, str]:
    """The surface that answers, and the prefix of the request ("" on the surface's own port)."""
    surface, path = of_port(scope), scope["path"]
    if surface is MAIN:
        for one in MOUNTED:
            if path == one.prefix or path.startswith(f"{one.prefix}/"):
                return one, one.prefix
    return surface, ""


def absolute_url(scope: Scope, surface: Surface, path: str = "/") -> str:
    """The address of `path` of a surface for the sender of this request.

    On the main port it is a path under the mount; on another port it is an address at the
    surface's own port of this machine, or under its mount on the main port if it has none.
    """
    here = of_port(scope)
    if here is MAIN:
        return f"{surface.prefix}{path}"
    if here is surface:
        return path
    if (port := _ports.get(surface.name)) is not None:
        return f"http://localhost:{port}{path}"
    return f"http://localhost:{_ports.get(MAIN.name, '')}{surface.prefix}{path}"


def page_url(request: HttpRequest, name: str) -> str:
    """The address of the start page of the part `name` for this request."""
    return absolute_url(getattr(request, "scope", {}), SURFACES[name])


def reachable(request: HttpRequest) -> list[str]:
    """Names of the parts that a page or an answer may lead the sender of this request to.

    Under the main port the other parts answer this machine alone, and no proxy (guard.py); on the
    port of a part, the addresses of the others begin with `http://localhost`."""
    scope: Scope = getattr(request, "scope", {})
    asked: Surface = getattr(request, "surface", MAIN)
    host = hosts.host_of(request.META.get("HTTP_HOST", ""))
    direct = hosts.loopback(request.META.get("REMOTE_ADDR", "127.0.0.1"))  # a unix socket has none
    direct = direct and not any(map(hosts.is_forwarding, request.headers))
    found = {asked.name, of_port(scope).name}
    if direct and hosts.is_allowed(host):
        found |= SURFACES.keys()
    elif (
        direct
        and of_port(scope) is MAIN
        and hosts.is_allowed(host, import_string(settings.SVC_FRONTED)())
    ):
        found.add(DASHBOARD.name)
    return [name for name in SURFACES if name in found]


class SurfaceMiddleware:
    """Sets a request's surface, routes, caller and id, and a page's content security policy."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        scope: Scope = getattr(request, "scope", {})
        surface: Surface = scope.get("surface", MAIN)
        request.surface = surface  # type: ignore[attr-defined]
        request.urlconf = surface.urlconf
        # META keys with a dot never come from a header: this is how a test names its caller.
        request.principal = scope.get("principal") or request.META.get("svc.principal")  # type: ignore[attr-defined]
        request.request_id = scope.get("request_id", "")  # type: ignore[attr-defined]
        response = self.get_response(request)
        if response.get("Content-Type", "").startswith("text/html"):
            response.setdefault("Content-Security-Policy", _policy(surface, request.path_info))
        return response

    def process_view(
        self, request: HttpRequest, view: Any, args: list[Any], kwargs: dict[str, Any]
    ) -> HttpResponse | None:
        """Answer 405 to other methods than GET and HEAD, except for the viewsets of the API."""
        if request.method in ("GET", "HEAD") or hasattr(view, "cls"):
            return None
        urlconf = import_module(request.urlconf or MAIN.urlconf)
        refuse: Refuse = get_callable(getattr(urlconf, "handler405", answers.method_not_allowed))
        return refuse(request, "GET, HEAD")


def _policy(surface: Surface, path: str) -> str:
    return INSPECTION_POLICY if path.startswith(("/admin/", "/api/")) else surface.policy


class PrincipalAuthentication(BaseAuthentication):
    """Gives DRF the principal that the guard admitted."""

    def authenticate(self, request: Request) -> tuple[Any, None] | None:
        principal = getattr(request._request, "principal", None)
        return None if principal is None else (principal, None)
