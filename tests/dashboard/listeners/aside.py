"""Scans beside a listener that cannot be seen into; prints walks and what was told, as JSON.

Run in a process namespace of its own: sockets are shared with the outside, /proc is not.
"""

from __future__ import annotations

import json
import sys

from dashboard.listeners import netlink
from dashboard.listeners.owners import RETRY_S, Owners
from dashboard.listeners.scan import Scanner


def main(port: int) -> None:
    now = 0.0
    owners = Owners(clock=lambda: now)
    walks = []

    def look() -> None:
        owners.of(one for one in netlink.listening() if one.port == port)

    for _ in range(200):
        look()
    walks.append(owners.walks)
    now = RETRY_S - 0.1
    look()
    walks.append(owners.walks)
    now = RETRY_S
    look()
    look()
    walks.append(owners.walks)
    found = Scanner().scan()
    pids = [one.pid for one in found.listeners if one.port == port]
    print(json.dumps({"walks": walks, "pids": pids, "partial": found.partial}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
