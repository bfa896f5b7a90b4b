"""The workspace part as a Django app."""

from django.apps import AppConfig


class WorkspaceConfig(AppConfig):
    name = "workspace"
    surface = "main"
    palette = "workspace.palette"  # config.web.palette
    hidden = "workspace.engines.select.hidden"  # config.mcp.turn_tools
    behind = "workspace.worktrees.confined.behind"  # config.mcp.turn_tools

    def ready(self) -> None:
        from workspace.notify import receivers  # they need the models
        from workspace.triggers import hearing

        hearing.connect()
        receivers.connect()
