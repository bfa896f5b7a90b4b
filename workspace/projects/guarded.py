"""The network of a clone that a client or a turn asks for: what commands of a turn reach.

git runs outside of the sandbox, so its host is judged by the rules of the turns' proxy before
anything is asked, and all of its connections, redirected ones too, go through that proxy. See
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
# The one sentence for whatever git says: what answers there, and how, is not for the caller to see.
FAILED = (
    "could not be cloned: nothing answers there, there is no such repository, "
    "or this service may not read it"
)


def refusal(host: str, port: int, network: Network) -> str:
    """Why nothing may be cloned from there; "" where it may, and for a name without an address,
    which the proxy looks up again as ssh may have another for it."""
    try:
        rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        Rules(network).judged(host, port, [str(row[4][0]) for row in rows])
    except ConnectionNotAllowed as refused:
        return str(refused)
    except (OSError, UnicodeError):
        pass
    return ""


@contextmanager
def way(network: Network) -> Iterator[int]:
    """The port of a proxy that judges by these rules, until the clone is over."""
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
        thread.join(1)  # what looks a name up for a git that was stopped may take longer


def settings(port: int) -> list[str]:
    """What sends git's HTTP through the proxy, whatever the user's configuration says of a host."""
    proxy = f"http://{HERE}:{port}"
    given = (
        f"http.proxy={proxy}",
        f"remote.origin.proxy={proxy}",
        "clone.defaultRemoteName=origin",
    )
    return [word for one in given for word in ("-c", one)]


def environment(port: int) -> dict[str, str]:
    """What sends ssh and git's own protocol through it. No connection that is open already is
    used, and no host is left out."""
    command = shlex.join([sys.executable, "-I", "-S", TUNNEL]).replace("%", "%%")
    ssh = ["ssh", "-o", "BatchMode=yes", "-o", "ControlPath=none"]
    return {
        "GIT_SSH_COMMAND": shlex.join([*ssh, "-o", f"ProxyCommand={command} %h %p"]),
        "GIT_PROXY_COMMAND": TUNNEL,
        "SVC_WAY": str(port),
        "no_proxy": "",
        "NO_PROXY": "",
    }
