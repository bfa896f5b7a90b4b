"""The review part as a Django app."""

from django.apps import AppConfig


class ReviewConfig(AppConfig):
    name = "review"
    surface = "review"
    palette = "review.palette"  # config.web.palette
    turn_tools = "review.mcp.turn_tools"  # config.mcp.turn_tools
