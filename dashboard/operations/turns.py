"""The apps that a running turn of the workspace can reach: those of the directory it works in,
and, if it has its own worktree, those of its project's directory.

Also the apps that its own event names, because its trigger was asked to look at them. For any
other app the turn gets the same answer as if it did not exist.
See docs/design/trust.md#what-a-turn-reaches-of-the-other-parts.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from config.web.http import threads
from dashboard.daemon import Views, current, read
from dashboard.files import errors, layout
from dashboard.operations import finding, services
from dashboard.operations.common import Record, app_record
from dashboard.operations.finding import FoundApps, Waited
from dashboard.operations.services import Action
from dashboard.registry.records import App
from dashboard.services import logs


@dataclass(frozen=True, slots=True)
class Reach:
    """The apps a turn may look at: in one of these directories, or with one of these slugs."""

    directories: Collection[Path]
    named: Collection[str] = ()

    def holds(self, app: App) -> bool:
        return app["slug"] in self.named or self.contains(app)

    def contains(self, one: Record) -> bool:
        """Whether its service is started in one of the directories; without a service, whether it
        runs there."""
        home = (one.get("config") or {}).get("service") or {}
        at = home.get("cwd") or (one["identity"] or {}).get("cwd")
        if not isinstance(at, str) or not at.startswith(("/", "~")):
            return False
        real = Path(os.path.realpath(Path(at).expanduser()))
        return any(real.is_relative_to(os.path.realpath(one)) for one in self.directories)


def find_app(reach: Reach, *, port: int | None = None) -> FoundApps:
    """The apps and listeners within reach; with `port`, only those at that port."""
    seen = read(Views.observed)
    listeners = [*seen["observed"], *seen["ignored"]]
    return {
        "apps": [
            one
            for one in read(Views.apps, "masked")
            if reach.holds(one) and port in (None, one["port"])
        ],
        "observed": [
            one for one in listeners if reach.contains(one) and port in (None, one["port"])
        ],
        "own": [],
    }


async def wait_for_app(
    reach: Reach, *, slug: str, state: str, timeout_seconds: float = 30
) -> Waited:
    """The same as finding.wait_for_app, for an app within reach."""
    await threads.brief(_check_reach, reach, slug)
    return await finding.wait_for_app(slug=slug, state=state, timeout_seconds=timeout_seconds)


def app_logs(reach: Reach, *, slug: str, lines: int, after: int | None = None) -> logs.Tail:
    """The end of a service's log."""
    _check_reach(reach, slug)
    return services.app_logs(slug=slug, lines=lines, after=after)


def act(reach: Reach, *, slug: str, action: str) -> Action:
    """Start, stop or restart a service. Its command runs as the user's own, outside the turn."""
    _check_reach(reach, slug)
    return services.service(slug=slug, action=action)


def _check_reach(reach: Reach, slug: str) -> None:
    """NotFound if the app is not within reach, as if it did not exist."""
    layout.place("apps", slug)
    if not reach.holds(app_record(current(), slug)):
        raise errors.not_found("apps", slug)
