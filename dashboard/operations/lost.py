"""What was lost at the last reboot: shown, brought back, dismissed (section 10)."""

from __future__ import annotations

from functools import partial
from typing import Any

from config.kernel.errors import NotFound, printable
from dashboard.daemon import current
from dashboard.operations.caller import Local, Record, text
from dashboard.operations.waiting import waiting


def get_lost(caller: Local) -> Record:
    """`lost` is null when there is nothing."""
    daemon = current()
    return {"lost": daemon.ask(daemon.lost.wire)}


def known_lost(caller: Local, *, id: str) -> None:  # noqa: A002
    """NotFound for what is not on the notice: said before anything is said about a body (11)."""
    notice = get_lost(caller)["lost"] or {"items": []}
    if all(item["id"] != id for item in notice["items"]):
        raise NotFound(f'No lost app "{printable(id)}".')


def restart_lost(
    caller: Local,
    *,
    id: str,  # noqa: A002
    slug: Any = None,
    as_service: bool = False,
) -> Record:
    """Start it again, once or as a service; waits until it is there, or says why it is not.

    What came up is an app by its slug when this returns.
    """
    daemon = current()
    wanted = None if slug is None else text("slug", slug)
    with waiting():
        result: Record = daemon.wait(
            partial(daemon.lost.restart, id, wanted, as_service=as_service)
        )
        if as_service:
            daemon.sync()
        elif result["ok"]:
            daemon.wait(daemon.recognise, result["slug"])
    return result


def dismiss_lost(caller: Local, *, id: str | None = None) -> Record:  # noqa: A002
    """Take one off the notice, or all; what is left of it."""
    daemon = current()
    return daemon.wait(daemon.lost.dismiss, id)
