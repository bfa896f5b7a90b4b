"""Open the ports: which are required, and which process holds a port that is taken.

If the main port (or its TLS twin) is taken, the start fails. If the review or dashboard port is
taken, only that port is given up: the part stays reachable under its prefix of the main port.
"""

from __future__ import annotations

import errno
import logging
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from twisted.internet.interfaces import IOpenSSLContextFactory
from zope.interface import implementer

from config.options import OptionError
from config.process.listening import listening

log = logging.getLogger(__name__)

BACKLOG = 2048  # 1,000 clients that connect at once must not wait for SYN retries


@dataclass(frozen=True, slots=True)
class Listener:
    """One port to open. Of `hosts` the first must work, the others are optional."""

    name: str
    hosts: tuple[str, ...]
    port: int
    tls: tuple[Path, Path] | None = None  # certificate chain, key
    required: bool = True


def open_ports(listeners: list[Listener], factory: Any) -> dict[str, int]:
    """Open all ports; return the real port of each name. OptionError if a required one fails."""
    ports = {}
    for listener in listeners:
        try:
            ports[listener.name] = _open(listener, factory)
        except OSError as error:
            if listener.required:
                raise OptionError(_refusal(listener, error)) from None
            log.warning(_given_up(listener, error))
    return ports


def _open(listener: Listener, factory: Any) -> int:
    opened: list[Any] = []
    port = listener.port
    for host in listener.hosts:
        try:
            opened.append(_listen(listener, host, port, factory))
        except OSError as error:
            if opened and (error.errno != errno.EADDRINUSE or listener.port == 0):
                continue  # no IPv6 here, or the port is free only on IPv4
            for one in opened:
                one.stopListening()
            raise
        port = opened[0].getHost().port
    return int(port)


def _listen(listener: Listener, host: str, port: int, factory: Any) -> Any:
    from twisted.internet import reactor as installed
    from twisted.internet.error import CannotListenError

    reactor: Any = installed
    try:
        if listener.tls:
            return reactor.listenSSL(port, factory, tls_context(*listener.tls), BACKLOG, host)
        return reactor.listenTCP(port, factory, BACKLOG, host)
    except CannotListenError as error:
        raise error.socketError from None


def tls_context(certificate: Path, key: Path) -> Any:
    """The TLS context; OptionError if certificate and key cannot be read."""
    from OpenSSL import SSL

    try:
        context = SSL.Context(SSL.TLS_SERVER_METHOD)
        context.use_certificate_chain_file(str(certificate))
        context.use_privatekey_file(str(key))
        context.check_privatekey()
    except (SSL.Error, OSError):
        raise OptionError(
            f"SVC_TLS_CERT and SVC_TLS_KEY: {certificate} and {key} are no readable "
            "certificate chain and private key that belong together"
        ) from None
    context.set_min_proto_version(SSL.TLS1_2_VERSION)
    return _Fixed(context)


@implementer(IOpenSSLContextFactory)
class _Fixed:
    """A context factory for Twisted that always returns one context."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def getContext(self) -> Any:  # noqa: N802 - Twisted's name
        return self._context


def _refusal(listener: Listener, error: OSError) -> str:
    host = listener.hosts[0]
    if error.errno == errno.EADDRINUSE:
        return f"port {listener.port} on {host} is already in use"
    reason = (error.strerror or str(error)).lower()
    return f"cannot listen on {host} port {listener.port}: {reason}"


def _given_up(listener: Listener, error: OSError) -> str:
    held = f"is held by {holder(listener.port)}" if error.errno == errno.EADDRINUSE else str(error)
    return (
        f"{listener.name}: port {listener.port} {held}; "
        f"serving only /{listener.name} on the main port"
    )


def holder(port: int) -> str:
    """The process that listens on a port, if this user may see it, as words."""
    found, _ = listening()
    pid = next((one.pid for one in found if one.port == port and one.pid), None)
    try:
        return f"{psutil.Process(pid).name()} (pid {pid})" if pid else "another program"
    except psutil.Error:
        return "another program"


def obstacle(listener: Listener) -> str:
    """Why the port cannot be opened at this moment; "" if it can."""
    host, port = listener.hosts[0], listener.port
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            held = error.errno == errno.EADDRINUSE
            return f"{port} is held by {holder(port)}" if held else _refusal(listener, error)
    return ""
