"""What was lost at the last reboot: show it, start it again, dismiss it."""

from __future__ import annotations

from functools import partial
from typing import Any

from config.errors import NotFound, printable
from dashboard.daemon import Views, current, read
from dashboard.operations.common import text, waiting
from dashboard.reboot.render import LostNotice
from dashboard.reboot.restarting import Restarted


def known_lost(*, id: str) -> None:  # noqa: A002
    """NotFound if the id is not on the notice; called before a body is validated."""
    notice = read(Views.lost)["lost"]
    if notice is None or all(item["id"] != id for item in notice["items"]):
        raise NotFound(f'No lost app "{printable(id)}".')


def restart_lost(
    *,
    id: str,  # noqa: A002
    slug: Any = None,
    as_service: bool = False,
) -> Restarted:
    """Start a lost item again, once or as a service; wait until it is up, or say why it is not.

    When this returns, what came up is an app with that slug.
    """
    daemon = current()
    wanted = None if slug is None else text("slug", slug)
    with waiting():
        result = daemon.wait(partial(daemon.state.lost.restart, id, wanted, as_service=as_service))
        if as_service:
            daemon.sync()
        elif result["ok"]:
            daemon.wait(
                daemon.state.scanning.recognise,
                lambda: result["slug"] in daemon.state.census.apps,
            )
    return result


def dismiss_lost(*, id: str | None = None) -> LostNotice:  # noqa: A002
    """Remove one item from the notice, or all. Returns what is left of it."""
    daemon = current()
    return daemon.wait(daemon.state.lost.dismiss, id)
