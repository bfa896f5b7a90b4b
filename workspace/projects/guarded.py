"""The network of a clone for a client or a turn: the same hosts that commands of a turn reach.

git runs outside of the sandbox, so the host is checked by the rules of the turns' proxy before any
connection, and all of git's connections, redirected ones too, go through that proxy. See
docs/design/trust.md#tools-outside-the-sandbox.
"""

from __future__ import annotations

import asyncio
import shlex
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from workspace.engines import proxy as proxies
from workspace.engines.network import Network
from workspace.engines.proxy.gateway import PORT
from workspace.engines.proxy.rules import ConnectionNotAllowed, Rules

HERE = "127.0.0.1"
PORTS = {"http": 80, "https": 443, "git": 9418, "ssh": 22}
TUNNEL = str(Path(proxies.__file__).resolve().with_name("tunnel.py"))
# The same sentence for every failure: the caller must not learn what answers there, and how.
FAILED = (
    "could not be cloned: nothing answers there, there is no such repository, "
    "or this service may not read it"
)


def refusal(host: str, port: int, network: Network) -> str:
    """Why nothing may be cloned from there; "" if it may. Also "" for a name without an address:
    ssh may have another name for the host, and the proxy checks that one."""
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        Rules(network).permitted_addresses(host, port, [str(row[4][0]) for row in rows])
    except ConnectionNotAllowed as refused:
        return str(refused)
    except (OSError, UnicodeError):
        pass
    return ""


@contextmanager
def way(network: Network) -> Iterator[int]:
    """Run a proxy with the rules of this network inside the block; yields its port."""
    from workspace.engines.proxy.server import Proxy  # most processes never clone

    proxy = Proxy(Rules(network), None, lambda host, port, refused: None)
    runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
    loop, ended = runner.get_loop(), asyncio.Event()
    listener = socket.create_server((HERE, 0))
    port = int(listener.getsockname()[1])

    def serve() -> None:
        with runner:
            runner.run(proxy.until(ended, {f"{HERE}:{PORT}": listener}))

    thread = threading.Thread(target=serve, name="svc-clone", daemon=True)
    thread.start()
    try:
        yield port
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(1)  # a name lookup for a git that was stopped may take longer


def settings(port: int) -> list[str]:
    """Options that send git's HTTP through the proxy, whatever the user's configuration says."""
    proxy = f"http://{HERE}:{port}"
    given = (
        f"http.proxy={proxy}",
        f"remote.origin.proxy={proxy}",
        "clone.defaultRemoteName=origin",
    )
    return [word for one in given for word in ("-c", one)]


def environment(port: int) -> dict[str, str]:
    """Variables that send ssh and git's own protocol through the proxy. No connection that is open
    already is reused, and no host is exempt."""
    command = shlex.join([sys.executable, "-I", "-S", TUNNEL]).replace("%", "%%")
    ssh = ["ssh", "-o", "BatchMode=yes", "-o", "ControlPath=none"]
    return {
        "GIT_SSH_COMMAND": shlex.join([*ssh, "-o", f"ProxyCommand={command} %h %p"]),
        "GIT_PROXY_COMMAND": TUNNEL,
        "SVC_WAY": str(port),
        "no_proxy": "",
        "NO_PROXY": "",
    }
