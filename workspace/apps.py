"""The workspace part as a Django app."""

from django.apps import AppConfig


class WorkspaceConfig(AppConfig):
    name = "workspace"
    surface = "main"
    palette = "workspace.palette"  # config.web.palette

    def ready(self) -> None:
        from workspace.notify import receivers  # needs the models

        receivers.connect()
