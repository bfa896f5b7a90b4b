"""Variables of the service's environment that a turn or a server of tools may be given."""

from __future__ import annotations

import os
from collections.abc import Iterable

from config import servers
from workspace.access.clients import management


def without_secrets(names: Iterable[str]) -> dict[str, str]:
    """Name -> value of those variables that are set here, without any that hold our secrets."""
    secret = secrets()
    return {
        name: os.environ[name]
        for name in names
        if name in os.environ and not servers.is_refused(name) and name not in secret
    }


def secrets() -> set[str]:
    """The names of the variables that hold tokens of management clients."""
    api = management()
    refs = [client.ref for client in api.clients] + [client.ref for client in api.dropped]
    return {ref.removeprefix("env:") for ref in refs}
