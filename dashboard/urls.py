"""Every HTTP route of the dashboard that Django serves, on both mounts.

`/mcp` and event streams are ASGI, routed in config/asgi.py.
"""

from __future__ import annotations

from typing import Any

from django.urls import path

from dashboard import pages
from dashboard.api.apps import AppViewSet
from dashboard.api.base import Description, Docs
from dashboard.api.bookmarks import BookmarkViewSet
from dashboard.api.guide import GuideViewSet
from dashboard.api.instance import InstanceViewSet
from dashboard.api.lost import LostViewSet
from dashboard.api.observed import ObservedViewSet
from dashboard.api.removed import RemovedViewSet
from dashboard.api.services import ServiceViewSet
from dashboard.api.thumbs import ThumbViewSet

APP = "api/apps/<str:slug>"
GROUP = "api/bookmarks/<str:group>"
FILE: dict[str, Any] = {
    "get": "retrieve",
    "put": "update",
    "patch": "partial_update",
    "delete": "destroy",
}

instance = InstanceViewSet.as_view
app = AppViewSet.as_view
service = ServiceViewSet.as_view
thumb = ThumbViewSet.as_view
bookmark = BookmarkViewSet.as_view
observed = ObservedViewSet.as_view
lost = LostViewSet.as_view
removed = RemovedViewSet.as_view
guide = GuideViewSet.as_view

urlpatterns = [
    path("", pages.start, name="dashboard-start"),
    path("api/health", instance({"get": "health"}), name="dashboard-health"),
    path("api/state", instance({"get": "state"})),
    path("api/places", instance({"get": "places"})),
    path("api/badges", instance({"get": "badges"})),
    path("api/config", instance({"get": "config"})),
    path("api/apps", app({"get": "list"})),
    path(APP, app(FILE)),
    path(f"{APP}/history", app({"get": "history"})),
    path(f"{APP}/thumb", thumb({"get": "retrieve"})),
    path(f"{APP}/service/<str:action>", service({"post": "act"})),
    path(f"{APP}/logs", service({"get": "logs"})),
    path("api/thumbs/refresh", thumb({"post": "refresh"})),
    path("api/bookmarks", bookmark({"get": "list"})),
    path(GROUP, bookmark(FILE)),
    path(f"{GROUP}/icon", bookmark({"get": "icon"})),
    path("api/observed", observed({"get": "list"})),
    path("api/observed/<str:id>/claim", observed({"post": "claim"})),
    path("api/observed/<str:id>/ignore", observed({"post": "ignore"})),
    path("api/ignore", observed({"get": "rules", "put": "rewrite"})),
    path("api/scan", observed({"post": "scan"})),
    path("api/lost", lost({"get": "retrieve"})),
    path("api/lost/dismiss", lost({"post": "dismiss_all"})),
    path("api/lost/<str:id>/restart", lost({"post": "restart"})),
    path("api/lost/<str:id>/service", lost({"post": "keep"})),
    path("api/lost/<str:id>/dismiss", lost({"post": "dismiss"})),
    path("api/nodes", instance({"get": "nodes"})),
    path("api/removed", removed({"get": "list"})),
    path("api/removed/restore", removed({"post": "restore"})),
    path("llms.txt", guide({"get": "llms"})),
    path("llms-full.txt", guide({"get": "llms_full"})),
    path("agent-guide.md", guide({"get": "agent_guide"})),
    path("api/schema", Description.as_view(), name="dashboard-schema"),
    path("api/docs", Docs.as_view()),
]
