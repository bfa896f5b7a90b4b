"""What the gallery knows about an app, and what it needs from the rest of the daemon."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from dashboard.files.schema.app import Thumb
from dashboard.files.schema.config import Config
from dashboard.health.record import State
from dashboard.rendering.thumbs import Subject


@dataclass(frozen=True, slots=True, kw_only=True)
class PicturedApp:
    """The facts about an app on which its pictures depend.

    `html`: whether `url` answers with HTML, None while that is unknown. `repository`: the
    directory that holds its `.git`. `icon`: the icon of its file, an address or `file:` and a path
    below the dashboard's home, used instead of the icon of its page. `declared`: the pictures of a
    declared app are deleted when it is removed; those of a discovered one are kept for some days,
    because it comes back with its listener.
    """

    name: str
    framework: str | None = None
    color: str | None = None
    icon: str | None = None
    thumb: Thumb = field(default_factory=Thumb)
    url: str | None = None
    state: State = State.UNKNOWN
    html: bool | None = None
    repository: Path | None = None
    declared: bool = True

    @property
    def address(self) -> str | None:
        """The page that a screenshot shows."""
        return self.thumb.url or self.url

    @property
    def photographed(self) -> bool:
        """Whether it has a page for a screenshot, and its file permits one as its picture."""
        kind = self.thumb.kind in {"auto", "screenshot"}
        page = self.thumb.url is not None or (self.url is not None and self.html is not False)
        return kind and page

    def subject(self, slug: str) -> Subject:
        return Subject(slug, self.name, self.framework, self.color)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """What the gallery needs from the rest of the daemon; everything is called on the daemon's
    thread.

    `thumb_changed(slug)` and `icon_changed(group)`: a different image is shown. `clients()`:
    whether a client has the event stream open. `battery()`: whether the machine runs on battery.
    """

    config: Callable[[], Config]
    thumb_changed: Callable[[str], object]
    icon_changed: Callable[[str], object]
    clients: Callable[[], bool]
    battery: Callable[[], bool]
