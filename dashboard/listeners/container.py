"""The container behind a published port, requested from the container engine's socket.

Only a list is requested, within one second in all; an engine that is silent or sends too much is
given up.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

PROXIES = {"docker-proxy", "rootlessport", "rootlesskit", "com.docker.backend", "gvproxy"}
TIMEOUT_S = 1.0
FRESH_S = 5.0
LIMIT = 4 * 1024 * 1024
_REQUEST = b"GET /containers/json HTTP/1.0\r\nHost: localhost\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Container:
    runtime: str
    name: str | None
    image: str | None
    project: str | None
    service: str | None


class Engines:
    """The container engines of this machine, each queried at most once in five seconds."""

    def __init__(self, paths: Iterable[Path] | None = None) -> None:
        self._paths = None if paths is None else [*paths]
        self._ports: dict[int, Container] = {}
        self._asked = float("-inf")

    def publishing(self, port: int) -> Container | None:
        """The container that publishes this port; None if no engine reports one."""
        now = time.monotonic()
        if now - self._asked > FRESH_S:
            paths = usual_sockets() if self._paths is None else self._paths
            self._ports = {port: one for path in paths for port, one in _iter_published(path)}
            self._asked = time.monotonic()
        return self._ports.get(port)


def usual_sockets() -> list[Path]:
    """The sockets at which Docker and Podman listen, as root and for this user."""
    host = os.environ.get("DOCKER_HOST", "")
    run = Path(os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")
    named = [Path(host.removeprefix("unix://"))] if host.startswith("unix://") else []
    usual = ("/run/podman/podman.sock", "/var/run/docker.sock")
    return [*map(Path, usual), run / "podman/podman.sock", run / "docker.sock", *named]


def _iter_published(path: Path) -> Iterator[tuple[int, Container]]:
    runtime = "podman" if "podman" in path.name else "docker"
    try:
        told = orjson.loads(_ask(path))
    except (OSError, ValueError):
        return
    for item in told if isinstance(told, list) else []:
        try:
            one = _container(runtime, item)
            ports = [int(port["PublicPort"]) for port in item["Ports"] if _is_published(port)]
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
        yield from ((port, one) for port in ports)


def _is_published(port: Any) -> bool:
    return "PublicPort" in port and port.get("Type", "tcp") == "tcp"


def _container(runtime: str, item: Any) -> Container:
    labels = item.get("Labels") or {}
    names = item.get("Names") or [""]
    return Container(
        runtime=runtime,
        name=str(names[0]).lstrip("/") or None,
        image=str(item.get("Image") or "") or None,
        project=str(labels.get("com.docker.compose.project") or "") or None,
        service=str(labels.get("com.docker.compose.service") or "") or None,
    )


def _ask(path: Path) -> bytes:
    """The body of the engine's answer; OSError if there is no good answer within a second."""
    deadline = time.monotonic() + TIMEOUT_S
    answer = bytearray()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as link:
        link.settimeout(TIMEOUT_S)
        link.connect(str(path))
        link.sendall(_REQUEST)
        while part := link.recv(1 << 16):
            answer += part
            left = deadline - time.monotonic()
            if left <= 0 or len(answer) > LIMIT:
                raise TimeoutError("the container engine sends too much or too slowly")
            link.settimeout(left)
    head, _, body = bytes(answer).partition(b"\r\n\r\n")
    if b" 200 " not in head.partition(b"\r\n")[0]:
        raise ConnectionError("the container engine refused")
    return body


ENGINES = Engines()
