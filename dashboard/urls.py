"""Routes of the dashboard part, the same on its own port and under its mount."""

from django.urls import path

from dashboard import api, pages

urlpatterns = [
    path("", pages.start, name="dashboard-start"),
    path("api/health", api.Health.as_view({"get": "list"}), name="dashboard-health"),
]
