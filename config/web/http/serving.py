"""One server process from start to stop: the lock, the ports, the background work.

A refused start prints one line and exits with code 2 (OptionError). After `ready` no request
waits for what is still starting in the background.
"""

from __future__ import annotations

import logging
import os
import resource
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any

from django.conf import settings
from django.urls import get_resolver
from django.utils.module_loading import import_string

from config import __version__
from config.process import heap, singleton
from config.process.singleton import Instance
from config.storage import database
from config.web import surfaces
from config.web.connections import local
from config.web.hosts import loopback
from config.web.http.listeners import Listener, open_ports
from config.web.late import load, without

log = logging.getLogger(__name__)

MOST_FILES = (65536, 10240)  # some systems (macOS) allow only the second
LOCAL = ("127.0.0.1", "::1")
PATIENCE_S = 10  # for a database that does not answer
STARTING_S = 2.0  # how long a stop waits for a background part that is starting
SWITCH_S = 0.0005  # a busy thread delays the event loop by at most this, per system call


def listeners(options: Any) -> list[Listener]:
    """The ports to open by the settings."""
    wanted = [Listener("main", (options.host,), options.port)]
    if options.tls_port is not None:
        pair = (options.tls_cert, options.tls_key)
        wanted.append(Listener("tls", (options.tls_host,), options.tls_port, tls=pair))
    for name in ("review", "dashboard"):
        port = port_of(name, options)
        if port is not None:
            wanted.append(Listener(name, LOCAL, port, required=False))
    return wanted


def port_of(name: str, options: Any) -> int | None:
    """The port of a part, from the settings or from the part's own function (SVC_PORTS)."""
    said = settings.SVC_PORTS.get(name)
    port: int | None = import_string(said)(options) if said else getattr(options, f"{name}_port")
    return port


def serve(ready: Callable[[dict[str, int]], None], *, signal_handlers: bool = True) -> None:
    """Run the server until stopped. OptionError if it cannot start."""
    database.give_up_after(PATIENCE_S)
    Serving(ready=ready).run(signal_handlers=signal_handlers)
    exit_soon()


def load_all() -> None:
    """Import what the server needs at its start and soon after, in the process that forks it.

    Except the reactor, which opens descriptors and so belongs to the process that runs it."""
    with without(*unneeded_libraries(settings.SVC)):
        for name in ("rest_framework.compat", "daphne.http_protocol", "twisted.web.http"):
            import_module(name)
        for name in settings.SVC_BACKGROUND:
            import_string(name)
        _ = get_resolver().url_patterns


class Serving:
    """The server process. `ready` is called with the ports once they are open and published."""

    def __init__(self, *, ready: Callable[[dict[str, int]], None] = lambda _ports: None) -> None:
        self.options = settings.SVC
        self.instance = Instance(settings.DATA_DIR, "server")
        self.ready = ready
        self.ports: dict[str, int] = {}
        self._background: list[Any] = []
        self._starting: threading.Thread | None = None
        self._stopped = threading.Event()

    def run(self, *, signal_handlers: bool = True) -> None:
        """Serve until stopped. OptionError if another server runs, or a port is not available."""
        self.instance.acquire()
        projects = None
        try:
            if Instance(settings.DATA_DIR, "up").holder() is None:  # else `up` holds them
                projects = singleton.hold_projects()
            heap.give_back()
            _raise_file_limit()
            sys.setswitchinterval(SWITCH_S)
            with without(*unneeded_libraries(self.options)):
                from config.web.http.server import Server

                application = import_string(settings.ASGI_APPLICATION)
                import_module("rest_framework.compat")
            server = Server(
                application,
                listen=self._listen,
                started=self._on_started,
                stopping=self._stop,
            )
            server.run(signal_handlers=signal_handlers)
        finally:
            self.instance.release()
            if projects is not None:
                os.close(projects)

    def _listen(self, factory: Any) -> None:
        self.ports = open_ports(listeners(self.options), factory)
        surfaces.bind(self.ports)

    def _on_started(self) -> None:
        self.instance.publish({"version": __version__, "ports": self.ports})
        self._log_start()
        self.ready(self.ports)
        self._starting = threading.Thread(
            target=self._start_background, name="svc-start", daemon=True
        )
        self._starting.start()

    def _start_background(self) -> None:
        for name in settings.SVC_BACKGROUND:
            if self._stopped.is_set():
                return
            try:
                part = load(name)()
                part.start()
                self._background.append(part)
            except Exception:
                log.exception("background part %s did not start", name)
        heap.freeze()  # else a full garbage collection would delay a request by 100 ms

    def _stop(self) -> None:
        self._stopped.set()
        if self._starting is not None:  # a part that is starting must be stopped, too
            self._starting.join(STARTING_S)
        for part in reversed(self._background):
            try:
                part.stop()
            except Exception:
                log.exception("background part %s did not stop", type(part).__name__)

    def _log_start(self) -> None:
        """Log what is served, where, and what is unsafe about it."""
        options, host = self.options, self.options.host
        shown = f"[{host}]" if ":" in host else host
        log.info(
            f"svc {__version__} on http://{shown}:{self.ports['main']}, "
            f"auth mode {options.auth_mode}, data {settings.DATA_DIR}"
        )
        for line in options.warnings:
            log.warning(line)
        for line in (*exposure_warnings(options), *local.warnings(options)):
            log.warning(line)


def exposure_warnings(options: Any) -> list[str]:
    """A warning for each address of the main part that other machines can reach in mode none."""
    if options.auth_mode != "none":
        return []
    hosts = [options.host, *([options.tls_host] if options.tls_port is not None else [])]
    text = (
        "SECURITY: open instance: {} is bound with auth mode none; "
        "whoever reaches this port can run code as this user"
        if options.allow_open
        else "{} is bound with auth mode none: other machines reach only /mcp, discovery "
        "and health; set SVC_AUTH_MODE to admit browsers"
    )
    return [text.format(host) for host in dict.fromkeys(hosts) if not loopback(host)]


def unneeded_libraries(options: Any) -> Iterator[str]:
    """Libraries that Twisted and Django REST framework import if installed, but we do not need."""
    yield "requests"
    if options.tls_port is None:
        yield "OpenSSL"
    if not options.database_url:
        yield "psycopg"


_former_limit: int | None = None


def open_files() -> int | None:
    """The soft limit of open files this process was started with; children get it back."""
    return _former_limit


def _raise_file_limit() -> None:
    global _former_limit  # noqa: PLW0603 - one per process
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    _former_limit = soft
    for most in MOST_FILES:
        wanted = min(hard, most) if hard > 0 else most
        with suppress(ValueError, OSError):
            if soft < wanted:
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            return


def exit_soon(seconds: float = 2) -> None:
    """End the process even if a thread does not end: a stop must not hang (promise R2)."""
    timer = threading.Timer(seconds, os._exit, (0,))
    timer.daemon = True
    timer.start()
