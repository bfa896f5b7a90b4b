"""Which users of this machine are served without a login, and the warnings about that."""

from __future__ import annotations

import os
from typing import Any

from config.web.connections import peers

LOGIN_FREE = (
    "The ports of review and dashboard ask for no login (SVC_LOCAL_PORTS is open): the programs "
    "of this machine's user can run code there without the credential of the main port."
)
EVERYBODY = (
    "Every user of this machine is served without a login (SVC_LOCAL_USERS is *): "
    "each of them can run code as the user of this service."
)


def users(options: Any) -> frozenset[int] | None:
    """Uids of the users that are served; None: all, or the system cannot identify users."""
    if options.local_users is None or not peers.ASKED:
        return None
    return frozenset({0, os.geteuid(), *options.local_users})


def login_free(options: Any) -> bool:
    """Whether the ports of review and dashboard need no login from users of this machine."""
    return bool(options.auth_mode == "none" or options.local_ports == "open")


def warnings(options: Any) -> list[str]:
    """The warnings on every page, in the log and in the doctor's report."""
    found = []
    if options.auth_mode != "none" and options.local_ports == "open":
        found.append(LOGIN_FREE)
    if login_free(options) and options.local_users is None:
        found.append(EVERYBODY)
    return found
