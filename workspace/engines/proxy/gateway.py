"""Where the listening sockets of a sandbox arrive, and who answers them.

A program in the sandbox opens them in its own network and passes them out (inside.py); this process
then accepts connections on them. The event loop of the proxy is loaded when the first connection
comes, because most turns never make one.
"""

from __future__ import annotations

import os
import select

from config.process.light_typing import TYPE_CHECKING, Any, NamedTuple
from workspace.engines.network import Network

if TYPE_CHECKING:
    import _socket
    from collections.abc import Callable, Mapping

    from workspace.engines.base import Job

PORT = 42128  # of the proxy, in a network that is the sandbox's own
PROXY = f"http://127.0.0.1:{PORT}"
MOUNTED = "/run/svc-door"  # the path of the unix socket inside the sandbox
PLAIN = "localhost,127.0.0.1,::1"  # hosts that programs reach without the proxy: the sandbox itself
ENVIRONMENT = {
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), PROXY),
    **dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), PROXY),
    **dict.fromkeys(("NO_PROXY", "no_proxy"), PLAIN),
    "NODE_USE_ENV_PROXY": "1",  # Node's own fetch respects the others only with this
}
_BYTES, _SOCKETS = 8192, 250


def endpoint(url: object) -> list[tuple[str, int]]:
    """The host and port of an http(s) URL, as an endpoint; [] for anything else."""
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(str(url))
        port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    except (ValueError, KeyError):
        return []
    return [(parts.hostname, port)] if parts.hostname else []


def tools_url(job: Job, part: str) -> str:
    """The URL at which a program of this turn reaches the turn's own tools of a part."""
    from workspace.engines.mcp import own_tools

    apart = job.sandbox.mode == "bwrap" and job.network.mode != "host"
    base = {**(job.svc or {}), **({"url": f"{PROXY}/_svc/mcp"} if apart else {})}
    return own_tools.url(base, part)


class Needs(NamedTuple):
    """What an engine's program reaches by itself: `endpoints` are (host pattern, port)."""

    endpoints: tuple[tuple[str, int], ...] = ()

    def addresses(self, network: Network) -> list[str]:
        """The addresses on which the sandbox listens: the proxy, and open ports of this machine."""
        found = [f"127.0.0.1:{PORT}"]
        for host, port in [*self.endpoints, *(("localhost", port) for port in network.ports)]:
            if host == "localhost":
                found += [f"127.0.0.1:{port}", f"::1:{port}"]
            elif host == "::1" or host.startswith("127."):
                found.append(f"{host}:{port}")
        return list(dict.fromkeys(found))


class Door:
    """The unix socket of one sandbox, and the thread that waits on it."""

    def __init__(self, folder: str, name: str) -> None:
        import _socket

        self.path = os.path.join(folder, name)
        self._socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:  # a unix socket's name must be short, a data directory's may be long
            self._socket.bind(f"/proc/self/fd/{handle}/{name}")
        finally:
            os.close(handle)
        self._socket.listen(1)

    def open(
        self,
        network: Network,
        needs: Needs,
        svc: Mapping[str, Any] | None,
        count: Callable[[str, int, bool], None],
    ) -> None:
        """Answer connections to the sockets the sandbox passes out, until the process ends."""
        import _thread

        _thread.start_new_thread(self._serve, (network, needs, svc, count))

    def _serve(
        self,
        network: Network,
        needs: Needs,
        svc: Mapping[str, Any] | None,
        count: Callable[[str, int, bool], None],
    ) -> None:
        listeners = self._receive_sockets()
        poller = select.poll()
        for listener in listeners.values():
            poller.register(listener, select.POLLIN)
        if not listeners or not poller.poll():
            return
        from workspace.engines.proxy import server
        from workspace.engines.proxy.rules import Rules

        server.Proxy(Rules(network, needs.endpoints), svc, count).serve(listeners)

    def _receive_sockets(self) -> dict[str, _socket.socket]:
        """address -> the listening socket the sandbox opened there."""
        import _socket
        from array import array

        handle, _ = self._socket._accept()  # type: ignore[attr-defined] # of socket.accept()
        self._socket.close()
        os.unlink(self.path)
        link = _socket.socket(fileno=handle)
        room = _socket.CMSG_SPACE(_SOCKETS * 4)
        text, rights, _, _ = link.recvmsg(_BYTES, room)
        handles = array("i")
        for level, kind, data in rights:
            if (level, kind) == (_socket.SOL_SOCKET, _socket.SCM_RIGHTS):
                handles.frombytes(data[: len(data) - len(data) % handles.itemsize])
        names = text.decode().strip().split(",")
        found = {name: _socket.socket(fileno=fd) for name, fd in zip(names, handles, strict=False)}
        link.send(b"\n")
        link.close()
        return found
