"""The whole state at once, and the settings it stands on."""

from __future__ import annotations

from dashboard.daemon import current
from dashboard.operations.caller import Local, Record


def state(caller: Local) -> tuple[bytes, str]:
    """The State of section 7 as JSON, and its weak tag."""
    daemon = current()
    return daemon.ask(daemon.state)


def get_config(caller: Local) -> Record:
    """The Config of section 7."""
    daemon = current()
    return daemon.ask(daemon.config_record)
