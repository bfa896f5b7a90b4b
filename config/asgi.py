"""The ASGI application: routes and rules of each surface. It depends on no particular server and
names apps by string.

On the main port, machine paths with a gate of their own come first, then the guard, then Django.
Machine paths never answer HTML (docs/design/architecture.md#ports-and-surfaces).
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)

from channels.routing import URLRouter  # noqa: E402
from django.conf import settings  # noqa: E402
from django.urls import re_path as django_route  # noqa: E402
from django.utils.module_loading import import_string  # noqa: E402

from config.assets import Files  # noqa: E402
from config.web.answers import App, no_route, nothing_here  # noqa: E402
from config.web.connections import local  # noqa: E402
from config.web.connections.shared import SharedStream  # noqa: E402
from config.web.entrance import Entrance, authenticator, by_name, exactly, lazily  # noqa: E402
from config.web.events import EventStream  # noqa: E402
from config.web.guard import ANY, ENDLESS, Authenticate, Guard, Rules, Words  # noqa: E402
from config.web.hosts import origin_host  # noqa: E402
from config.web.http.bridge import DjangoApp  # noqa: E402

DISCOVERY = r"^(?:.+/)?\.well-known/oauth-protected-resource(?:/.*)?$"
STATIC = r"^static/(?P<name>(?s:.*))"
ATTACHMENTS = r"^api/projects/[^/]+/attachments$"
CHAT_EVENTS = r"^api/projects/(?P<slug>[^/]+)/chats/(?P<session_id>[^/]+)/events$"

SVC = settings.SVC
re_path: Any = django_route  # Channels routes ASGI apps by Django's patterns
REVIEW = Words(
    peer="This server only answers requests to localhost",
    host="This server only answers requests to localhost",
    origin="Requests from this origin are not allowed",
    cross_site="Requests from this origin are not allowed",
    size="Body is larger than 1 MB",
    peer_code="host_not_allowed",
    cross_site_code="cross_site",
)
DASHBOARD = Words(
    peer="This port answers only requests from this machine.",
    host='Host "{value}" is not allowed here. Use http://localhost:{port}, '
    "or set fronted.host in config.yaml.",
    origin='A page of "{value}" may not write here; '
    "only pages of localhost or the fronted host may.",
    media="Send Content-Type: application/json.",
    size="The body is larger than 256 KiB.",
    peer_code="host_not_allowed",
    cross_site_code="cross_site",
)
MIB = 1024 * 1024
SHARED = SharedStream(lazily(settings.ASGI_APPLICATION))  # requests each stream from the whole app
NO_LOGIN = SVC.auth_mode == "none"
USERS = local.users(SVC)
IMAGES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"))


def main_rules() -> Rules:
    """The rules of the main port. In mode none they admit this machine's user alone, unless the
    operator lifted that or runs a proxy here, which has a user of its own and checks its clients
    itself."""
    proxy = NO_LOGIN and import_string(settings.SVC_PROXIED)()
    public = SVC.management_api.get("publicUrl") if isinstance(SVC.management_api, dict) else None
    host = origin_host("/".join(str(public).split("/")[:3]))
    return Rules(
        limit=4 * MIB,
        local=NO_LOGIN and not SVC.allow_open,
        users=USERS if NO_LOGIN and not proxy else None,
        hosts=frozenset(name.lower() for name in SVC.allowed_hosts),
        origins=frozenset({host} if host else ()),
        proxied=True,
        json_always=False,
    )


django_app = DjangoApp()
files = Files(django_app)
authenticate = authenticator(settings.SVC_AUTHENTICATE, blocking=SVC.auth_mode == "jwt")
rules = main_rules()
uploads = replace(
    rules,
    limit=10 * MIB,
    media=ANY,  # the bytes decide the type of a file
    words=Words(
        size="The file is larger than 10 MiB",
        media="Send a file of another page as application/octet-stream, not as a form sends it.",
    ),
)

here_only = Rules(
    limit=0,
    words=Words(peer="Metrics are for this machine alone: collect them on it."),
)

inside = URLRouter(
    [
        re_path(r"^api/events$", EventStream("main")),
        re_path(r"^api/streams$", SHARED),
        re_path(CHAT_EVENTS, lazily("workspace.chats.streams.stream.ChatStream")),
        re_path(r"", django_app),
    ]
)
machine = re_path(r"^(?:mcp|\.well-known/)", nothing_here)
routes = URLRouter(
    [
        re_path(r"^mcp$", lazily("workspace.consumers.ManagementEndpoint")),
        re_path(r"^_svc/mcp$", lazily("workspace.consumers.TurnEndpoint")),
        re_path(r"^_svc/mcp/(?P<part>[a-z]+)$", lazily("workspace.consumers.PartEndpoint")),
        re_path(DISCOVERY, lazily("workspace.consumers.Discovery")),
        machine,
        re_path(r"^api/health$", django_app),
        re_path(r"^metrics$", Guard(lazily("config.metrics.endpoint"), here_only)),
        re_path(STATIC, Guard(files, rules)),
        re_path(ATTACHMENTS, Guard(django_app, uploads, authenticate)),
        re_path(r"", Guard(inside, rules, authenticate)),
    ]
)
unrouted = URLRouter([machine, re_path(r"", Guard(no_route, rules, authenticate))])
main = exactly(routes, unrouted)


def review(
    authenticate: Authenticate | None, users: frozenset[int] | None, *, proxied: bool
) -> App:
    """The review part, on its own port or under its mount."""
    rules = Rules(limit=MIB, users=users, proxied=proxied, words=REVIEW)
    words = replace(
        REVIEW, size="Image is larger than 5 MB", media="Unsupported image type: {value}"
    )
    images = replace(rules, limit=5 * MIB, media=IMAGES, words=words)
    calls = replace(rules, limit=ENDLESS, media=ANY)  # the endpoint limits its own bodies

    def inside(app: App, by: Rules = rules) -> Guard:
        return Guard(app, by, authenticate)

    routes = URLRouter(
        [
            re_path(r"^mcp$", inside(lazily("review.consumers.ReviewEndpoint"), calls)),
            re_path(r"^api/events$", inside(lazily("review.events.stream"))),
            re_path(r"^api/streams$", inside(SHARED)),
            re_path(r"^api/projects/(?P<slug>[^/]+)/assets$",
                    inside(lazily("review.api.uploads.upload"), images)),
            re_path(STATIC, Guard(files, rules)),
            re_path(r"", inside(django_app)),
        ]
    )  # fmt: skip
    return exactly(routes, inside(django_app))


def dashboard(
    authenticate: Authenticate | None, users: frozenset[int] | None, *, proxied: bool
) -> App:
    """The dashboard part, on its own port or under its mount."""
    fronted = by_name(settings.SVC_FRONTED)
    rules = Rules(limit=256 * 1024, users=users, also=fronted, proxied=proxied, words=DASHBOARD)
    calls = replace(rules, limit=ENDLESS, media=ANY)  # the endpoint limits its own bodies

    def inside(app: App, by: Rules = rules) -> Guard:
        return Guard(app, by, authenticate)

    routes = URLRouter(
        [
            re_path(r"^mcp$", inside(lazily("dashboard.consumers.DashboardEndpoint"), calls)),
            re_path(r"^api/events$", inside(lazily("dashboard.events.STREAM"))),
            re_path(r"^api/streams$", inside(SHARED)),
            re_path(STATIC, Guard(files, rules)),
            re_path(r"", inside(django_app)),
        ]
    )
    return exactly(routes, inside(django_app))


# Where no login is required, the peer's user is checked. The parts' own ports may need no login.
own = (None, USERS) if local.login_free(SVC) else (authenticate, None)
mounted = (authenticate, USERS if NO_LOGIN else None)
application = Entrance(
    {
        "main": main,
        "review": review(*own, proxied=True),
        "dashboard": dashboard(*own, proxied=True),
    },
    {
        "review": review(*mounted, proxied=False),
        "dashboard": dashboard(*mounted, proxied=False),
    },
)
