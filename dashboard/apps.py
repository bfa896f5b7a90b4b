"""The dashboard part as a Django app."""

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "dashboard"
    surface = "dashboard"
    palette = "dashboard.palette"  # config.web.palette
