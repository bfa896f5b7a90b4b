"""The background part of the dashboard: its daemon, from the server's start to its end."""

from __future__ import annotations

from django.conf import settings

from config.web import surfaces
from config.web.http import serving
from dashboard import daemon
from dashboard.daemon import Daemon, ownport


class Background:
    """One of settings.SVC_BACKGROUND."""

    def __init__(self) -> None:
        ports = surfaces.ports()
        self._daemon = Daemon(
            own_ports=ports.values(),
            port=ownport.look(settings.SVC, ports),
            open_files=serving.open_files(),
        )

    def start(self) -> None:
        daemon.serve(self._daemon)
        self._daemon.start()

    def stop(self) -> None:
        self._daemon.stop()
        daemon.serve(None)
