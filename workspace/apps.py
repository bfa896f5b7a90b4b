"""The workspace part as a Django app."""

from django.apps import AppConfig


class WorkspaceConfig(AppConfig):
    name = "workspace"
    surface = "main"
    places = "workspace.places"  # config.web.places
