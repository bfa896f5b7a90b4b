"""The dashboard part as a Django app."""

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "dashboard"
    surface = "dashboard"
    palette = "dashboard.palette"  # config.web.palette
    turn_tools = "dashboard.mcp.turn_tools"  # config.mcp.turn_tools
